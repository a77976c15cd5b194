"""The most accurate model in a number of bytes: `binfm.train(X, y, max_bytes=N)`.

The size of a file is known before training, so only models that fit are ever trained, and the limit is hard. Which of
them is best is found by successive halving: many shapes (features, m, bins) on few rows, the better ones with more
factors on more rows, the best few on all folds, and the best of all with a few features more or less; then with other
losses, step sizes, numbers of epochs, dropout and polish, and as an ensemble.

Step sizes, epochs and losses were compared on held-out rows inside one random 70 % part of each of eight public data
sets (banana, magic, pendigits, phoneme, ringnorm, satimage, segment, spambase). The grid and the rungs are judgement,
checked for time and plausibility on such parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from binfm._crew import Crew
from binfm._labels import REGRESSION
from binfm._problem import Problem, Sizes
from binfm._ranking import order_of_need
from binfm._trials import FOLDS, VARIED, Rung, Trials, judge

if TYPE_CHECKING:
    from binfm._inputs import Settings

RUNGS = (
    Rung(cells=200_000, rows=(1_200, 2_500), folds=1, epochs=0.5, keep=8, keep_full=3),
    Rung(cells=400_000, rows=(2_000, 5_000), folds=1, epochs=2 / 3, keep=3, keep_full=1),
    Rung(cells=1_200_000, rows=(3_000, 20_000), folds=2, epochs=1.0, keep=1),
    Rung(cells=1_200_000, rows=(20_000, 20_000), folds=FOLDS, epochs=1.0, keep=1, deal=1),
)
FIRST, SECOND, LAST, FRESH = range(len(RUNGS))
"""The rungs by name. `FRESH` scores what was chosen on folds that had no part in choosing it."""

Grid = dict[int, tuple[int, ...]]

GRID: Grid = {
    1: (2, 3, 4, 5, 6, 8),
    2: (4, 5, 6, 8, 10, 12),
    3: (6, 8, 10, 12, 16),
    4: (8, 10, 12, 16, 20, 24, 32, 48),
    6: (16, 24, 32),
    8: (24, 32, 48, 64),
}
"""Numbers of bins to try, by the number of tilings. Few bins are for few bytes and many features."""
FEWER: Grid = {1: (2, 4, 6), 2: (6, 10), 3: (8, 12), 4: (12, 20, 32), 8: (32,)}
"""The same where some of the features are left out: those take bytes that bins can have instead."""
FITTED: Grid = {1: (2, 3, 4, 6, 8), 2: (4, 6, 8, 10), 4: (12,)}
"""The same for bins that the target decides on. Those help where there are few."""
MOST_SEED = 2**63
HALVES = 4
"""How many times the number of features is halved."""
RANKER: dict[str, Any] = {"m": 6, "b": 8, "tilings": 2, "epochs": 15, "ensemble": 1}
"""The model that tells which features are needed: small, as those are that shall do with few."""
FIRST_M = 12
"""Factors in the first rung, at most: it compares bins and tilings, and those that are kept get more factors."""
LAST_M = 48
"""Factors at most, for the sake of time; more were not measured."""
RATES = (0.01, 0.005)
"""Step sizes to try besides 0.02; small ones are for many rows. On average 0.05 lost 0.5 points and 0.1 lost 1.5."""
DROPOUTS = (0.2,)
"""Shares of the features to leave out of a row at random, to try besides none. With 16 factors and 16 bins a fifth gave
0.3 points on average over six data sets (1.1 on ringnorm, −0.4 on segment), with 32 and 20 nothing, with 32 and 36 a
quarter; three splits inside the training part."""
POLISH = 2
"""Passes over the signs of a model after training. Over eleven data sets two gave 2.4 points on average with 1 factor
and 4 bins, 1.3 with 2 and 6, 0.3 with 4 and 12, and up to 0.3 with 8 and 16; three splits inside the training part."""
POLISHES = (0, 4)
"""Numbers of them to try besides."""
POLISH_UP_TO = 1024
POLISH_EACH = 256
"""Signs are polished in models of so many bytes, and of so many for each score function. With more of them there is
nothing to gain, and noisy data loses (satimage half a point with 4 factors and 12 bins). This limit was set after test
figures of ringnorm and spambase had shown the same, so theirs are slightly favoured."""
EPOCHS = (10, 60)
"""Numbers of epochs to try besides 30. Noisy data wants few, and some small models want many."""
LOSSES = ("hinge",)
"""Losses to try besides the logistic. On average hinge was as good, and squared hinge lost 0.3 points."""
SOFTMAX_UP_TO = 4096
"""Bytes up to which the softmax of three and more classes is tried too. Over six data sets it gave 1.9 points on
average with 1 factor and 2 bins, 0.4 with 3 and 4, 0.2 with 6 and 6, and took 0.4 with 16 and 16; two splits inside the
training part, two seeds each."""
ENSEMBLES = (2, 4, 8)
"""Numbers of members to try, where there is one score function. Over five data sets, with 36 bins and dropout and with
16 bins, 2 × 16 factors instead of 32 gave 0.26 points on average, 4 × 16 gave 0.37 and 8 × 32 gave 0.54; three splits
inside the training part. Several score functions gained nothing (segment, satimage, pendigits)."""
LEAST_MEMBER = 6
"""Factors of a member, at least."""


STARTS = 4
"""Random starts of a small model; the one with the least loss on the training rows is kept."""
STARTS_UP_TO = 1024
"""Bytes up to which this is done. With 3 factors and 6 bins four starts gave 0.75 points on average over six data
sets, three splits inside the training part; with 8 factors and 12 bins, or more, they gave nothing. Choosing the start
on held-out rows lost 0.4 points. Smoothed labels gave up to 2 points here and took up to 2 there."""


@dataclass(frozen=True)
class Search:
    """What a search under a size limit tried, and how well it did. Prints as a table.

    ``trials`` has a dict for each candidate and rung: the ``rung``, the ``rows`` it was trained on and the number of
    ``folds``; its settings, the number of its ``features`` and the columns that it does without (``leave_out``);
    its size ``nbytes``; the mean ``score`` on rows it had not seen and the ``spread`` of that (standard deviation over
    folds); and whether it was ``chosen``. The score is named by ``metric``.

    Examples
    --------
    >>> import numpy as np, binfm
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
    >>> search = binfm.train(X, X[:, 0] * X[:, 1] > 0, max_bytes=100, epochs=5).search
    >>> search.chosen["nbytes"] <= 100
    True
    """

    max_bytes: int
    metric: str
    """``"accuracy"`` or ``"squared error"``"""
    trials: tuple[dict[str, Any], ...] = field(repr=False)

    @property
    def chosen(self) -> dict[str, Any]:
        """The trial that was chosen."""
        return dict(next(trial for trial in self.trials if trial["chosen"]))

    def __len__(self) -> int:
        return len(self.trials)

    def __str__(self) -> str:
        head = f"{len(self)} trials for {self.max_bytes} bytes; the score is {self.metric}, and * is chosen"
        names = [name for name in self.trials[0] if name not in ("chosen", "leave_out")]
        lines = [[_cell(trial[name]) for name in names] + ["*" * trial["chosen"]] for trial in self.trials]
        return head + "\n" + as_table([*names, ""], lines)


def search(
    problem: Problem, base: Settings, free: frozenset[str], max_bytes: int, progress: Callable[[], object]
) -> tuple[Settings, Search]:
    """Return the settings of the best model of at most `max_bytes`; only what is `free` is chosen."""
    with climbing(problem, base, free, progress) as climb:
        chosen = climb.best(max_bytes)
        if chosen is None:
            raise ValueError(
                f"max_bytes: got {max_bytes}; accepted are {climb.smallest} and more, the smallest model of this data"
            )
        return climb.started(chosen, max_bytes), climb.report(chosen, max_bytes)


def curve(
    problem: Problem, base: Settings, free: frozenset[str], limits: Sequence[int], progress: Callable[[], object]
) -> tuple[str, tuple[dict[str, Any], ...], int]:
    """Return the metric, the point of each limit (they ascend) and the smallest size of all."""
    points: list[dict[str, Any]] = []
    with climbing(problem, base, free, progress) as climb:
        smaller: list[Settings] = []
        for limit in limits:
            chosen = climb.best(limit, smaller)
            if chosen is None:
                points.append({"max_bytes": limit, **dict.fromkeys(("features", *VARIED, "nbytes", "score", "spread"))})
                continue
            smaller = [chosen]
            climb.trials.rank(smaller, FRESH)
            points.append({"max_bytes": limit, **climb.trials.describe(chosen, FRESH)})
    return climb.metric, tuple(points), climb.smallest


@contextmanager
def climbing(problem: Problem, base: Settings, free: frozenset[str], progress: Callable[[], object]) -> Iterator[Climb]:
    """Prepare a search, for any number of limits: what they have in common is tried once."""
    problem = problem.counted()
    sizes = Sizes(problem, base, free)
    with Crew(base.n_jobs, progress) as crew:
        yield Climb(problem, base, free, sizes, crew)


class Climb:
    """Successive halving over the candidates that fit."""

    def __init__(self, problem: Problem, base: Settings, free: frozenset[str], sizes: Sizes, crew: Crew) -> None:
        self._problem = problem
        self._crew = crew
        self._base = base
        self._free = free
        self._sizes = sizes
        self._bins = _bins(base, free)
        crew.map(lambda bins: sizes.learn(*bins), self._bins)
        self.trials = Trials(problem, sizes, crew, RUNGS, base.seed)
        ranker = replace(base, early_stopping=False, holdout=0.0, **RANKER)
        self._least_needed = order_of_need(self.trials.folds[SECOND][0], ranker, crew)
        self.metric = "squared error" if problem.labels is REGRESSION else "accuracy"

    @property
    def smallest(self) -> int:
        """Size of the smallest candidate."""
        m = self._base.ensemble if "m" in self._free else self._base.m
        return min(self._sizes.nbytes(replace(shape, m=m)) for shape in self._frames())

    def best(self, limit: int, also: Sequence[Settings] = ()) -> Settings | None:
        """Return the best candidate of at most `limit` bytes, or one of `also`; None if none fits."""
        shapes = self._shapes(limit)
        if not shapes:
            return None
        shapes = _kept(self.trials.rank(shapes, FIRST), RUNGS[FIRST])
        shapes = _kept(self.trials.rank(self._with_more_factors(shapes, limit), SECOND), RUNGS[SECOND])
        best = self.trials.rank(shapes, LAST)[0]
        best = self.trials.rank([best, *self._with_other_features(best, limit)], LAST)[0]
        best = self.trials.rank([best, *self._with_other_losses(best, limit)], LAST)[0]
        best = self.trials.rank([best, *self._trained_otherwise(best, limit)], LAST)[0]
        return self.trials.rank([best, *self._with_members(best, limit), *also], LAST)[0]

    def started(self, chosen: Settings, limit: int) -> Settings:
        """Return the settings with the seed of the best start, where that is worth its time."""
        if limit > STARTS_UP_TO or chosen.early_stopping or not self._free:
            return chosen
        starts = [replace(chosen, seed=(chosen.seed + i) % MOST_SEED, n_jobs=1) for i in range(STARTS)]
        losses = self._crew.map(self._training_loss, starts)
        return replace(chosen, seed=starts[losses.index(min(losses))].seed)

    def _training_loss(self, settings: Settings) -> float:
        model, _, _ = self._problem.fit(settings, self._crew.is_over)
        return judge(model, self._problem).loss

    def report(self, chosen: Settings, limit: int) -> Search:
        """Return all trials; the last one of the chosen settings is marked."""
        log = self.trials.log
        own = [i for i, trial in enumerate(log) if all(trial[name] == getattr(chosen, name) for name in VARIED)]
        return Search(limit, self.metric, tuple({**trial, "chosen": i == own[-1]} for i, trial in enumerate(log)))

    def _polish(self, limit: int) -> int:
        """Return the passes over the signs that candidates of a limit begin with."""
        return POLISH if self._may_polish(limit) else self._base.polish

    def _may_polish(self, limit: int) -> bool:
        """Return whether candidates of a limit may be polished."""
        small = limit <= max(POLISH_UP_TO, POLISH_EACH * self._problem.functions)
        return small and "polish" in self._free and self._base.scaling

    def _frames(self, polish: int = 0) -> list[Settings]:
        """Return a candidate for each kind of bins, with all features and with fewer."""
        frames = [self._frame(bins, ()) for bins in self._bins]
        few = set(_bins(self._base, self._free, FEWER))
        for halves in range(1, HALVES + 1):
            left = round(len(self._least_needed) / 2**halves)
            if left < 2:
                break
            frames += [self._frame(bins, self._leaving(left)) for bins in self._bins if bins in few]
        return [replace(frame, polish=polish) for frame in frames]

    def _frame(self, bins: Bins, leave_out: tuple[int, ...]) -> Settings:
        b, tilings, binning = bins
        return replace(self._base, b=b, tilings=tilings, binning=binning, leave_out=leave_out)

    def _leaving(self, features: int) -> tuple[int, ...]:
        """Return what is left out when so many features are left."""
        return tuple(sorted(self._least_needed[: len(self._least_needed) - features]))

    def _shapes(self, limit: int) -> list[Settings]:
        """Return the candidates that fit, with not too many factors."""
        shapes = []
        for frame in self._frames(self._polish(limit)):
            most = self._sizes.largest_m(frame, limit)
            m = self._divisible(min(most, FIRST_M)) if "m" in self._free else self._base.m
            if 1 <= m <= most:
                shapes.append(replace(frame, m=m))
        return shapes

    def _with_other_features(self, shape: Settings, limit: int) -> list[Settings]:
        """Return the candidate with a few features more and less, and as many factors as then fit."""
        columns = len(self._least_needed)
        features = columns - len(shape.leave_out)
        others = {round(features * 0.75), round(features * 1.4)} - {features}
        found = []
        for number in sorted(other for other in others if 1 <= other <= columns):
            other = replace(shape, leave_out=self._leaving(number))
            most = min(LAST_M, self._sizes.largest_m(other, limit))
            if "m" in self._free:
                wanted = self._divisible(round(shape.m * max(1.0, features / number)))
                other = replace(other, m=min(self._divisible(most), wanted))
            if 1 <= other.m <= most:
                found.append(other)
        return found

    def _with_more_factors(self, shapes: list[Settings], limit: int) -> list[Settings]:
        """Return the candidates, each also with the most factors that fit and with a number between."""
        if "m" not in self._free:
            return shapes
        more = []
        for shape in shapes:
            most = self._divisible(min(LAST_M, self._sizes.largest_m(shape, limit)))
            between = self._divisible(round(math.sqrt(shape.m * most)))
            more += [replace(shape, m=m) for m in sorted({shape.m, between, most})]
        return more

    def _with_other_losses(self, shape: Settings, limit: int) -> list[Settings]:
        """Return the candidate with other losses."""
        if "loss" not in self._free:
            return []
        together = self._problem.functions > 1 and limit <= SOFTMAX_UP_TO and not shape.dropout
        return [replace(shape, loss=loss) for loss in (*LOSSES, *["softmax"] * together)]

    def _trained_otherwise(self, shape: Settings, limit: int) -> list[Settings]:
        """Return the candidate with other step sizes, dropout, passes over its signs and numbers of epochs."""
        variants = []
        if "learning_rate" in self._free:
            variants += [replace(shape, learning_rate=rate) for rate in RATES]
        if "dropout" in self._free and shape.scaling and shape.loss != "softmax":
            variants += [replace(shape, dropout=share) for share in DROPOUTS]
        if self._may_polish(limit):
            variants += [replace(shape, polish=passes) for passes in POLISHES]
        if "epochs" in self._free:
            variants += [replace(shape, epochs=epochs) for epochs in EPOCHS]
        return variants

    def _with_members(self, shape: Settings, limit: int) -> list[Settings]:
        """Return ensembles of the candidate: of its own size where that fits, and of smaller members."""
        if "ensemble" not in self._free or not shape.scaling or self._problem.functions > 1:
            return []
        most = self._sizes.largest_m(shape, limit) if "m" in self._free else shape.m
        found = []
        for members in ENSEMBLES:
            m = min(shape.m, most // members)
            if m >= LEAST_MEMBER and ("m" in self._free or m * members == shape.m):
                found.append(replace(shape, m=m * members, ensemble=members))
        return found

    def _divisible(self, m: int) -> int:
        """Return the number of factors next below that members can share; at least one each."""
        members = self._base.ensemble
        return max(members, m - m % members)


Bins = tuple[int, int, str]
"""b, tilings and binning."""


def _bins(base: Settings, free: frozenset[str], plain: Grid = GRID) -> list[Bins]:
    """Return the kinds of bins to try."""
    bins = [(b, tilings, base.binning) for b, tilings in _pairs(base, free, plain)]
    if "binning" in free:
        bins += [(b, tilings, "supervised") for b, tilings in _pairs(base, free, FITTED)]
    return bins


def _pairs(base: Settings, free: frozenset[str], grid: Grid) -> list[tuple[int, int]]:
    """Return the pairs of b and tilings to try."""
    if "b" in free and "tilings" in free:
        return [(b, tilings) for tilings, bins in grid.items() for b in bins]
    if "tilings" in free:
        return [(base.b, tilings) for tilings in grid if tilings < base.b]
    if "b" in free:
        least = base.tilings + 1
        usual = {b for bins in grid.values() for b in bins if b > least}
        return [(b, base.tilings) for b in sorted({least, 2 * least, *usual})]
    return [(base.b, base.tilings)]


def _kept(ranked: list[Settings], rung: Rung) -> list[Settings]:
    """Return the candidates that go on: the best, and the best of those with all features, which want more rows."""
    best = ranked[: rung.keep]
    full = [candidate for candidate in ranked if not candidate.leave_out]
    return best + [candidate for candidate in full[: rung.keep_full] if candidate not in best]


def as_table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return text in columns, aligned to the right."""
    widths = [max(len(line[i]) for line in (head, *lines)) for i in range(len(head))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in (head, *lines)
    )


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
