"""Candidates trained on folds of the data, and how well each did.

What validates is never trained on, and the rows of a fold decide on its own bins.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from binfm._inputs import rows_of
from binfm._labels import REGRESSION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm import _core
    from binfm._crew import Crew
    from binfm._inputs import Settings
    from binfm._problem import Problem, Rows, Sizes

FOLDS = 5
"""Rows are dealt into so many hands; a fold validates on one and trains on the others."""
VARIED = ("m", "b", "tilings", "loss", "learning_rate", "epochs")
"""What candidates differ in."""


@dataclass(frozen=True)
class Rung:
    """How much is spent on each candidate."""

    rows: int
    """Rows to train on, and to validate on, at most."""
    folds: int
    epochs: float
    """Share of the candidate's epochs."""
    keep: int
    """Candidates that go on to the next rung."""
    deal: int = 0
    """Which deal of the rows."""


@dataclass(frozen=True)
class Fold:
    """Rows to train on and other rows to validate on."""

    train: Problem
    valid: Problem


@dataclass(frozen=True)
class Outcome:
    """How a trained model did on rows that it had not seen."""

    score: float
    """Accuracy, or the squared error of regression."""
    regret: float
    """What the search minimises."""


class Trials:
    """Trains candidates, each once a rung, and remembers how they did."""

    def __init__(self, problem: Problem, sizes: Sizes, crew: Crew, rungs: Sequence[Rung], seed: int) -> None:
        self._sizes = sizes
        self._crew = crew
        self._rungs = rungs
        self._folds = [folds_of(problem, rung, seed) for rung in rungs]
        self._known: dict[tuple[Any, ...], list[Outcome]] = {}
        self.log: list[dict[str, Any]] = []

    def rank(self, candidates: Sequence[Settings], number: int) -> list[Settings]:
        """Return the candidates, the best first, as the rung of that number finds them."""
        new = {_key(c, number): c for c in candidates if _key(c, number) not in self._known}
        jobs = [(candidate, fold) for candidate in new.values() for fold in self._folds[number]]
        outcomes = iter(self._crew.map(lambda job: self._try(*job, number), jobs))
        for key, candidate in new.items():
            self._known[key] = [next(outcomes) for _ in self._folds[number]]
            self._note(candidate, number)

        def regret(candidate: Settings) -> float:
            return float(np.mean([outcome.regret for outcome in self._known[_key(candidate, number)]]))

        return sorted(candidates, key=regret)

    def describe(self, candidate: Settings, number: int) -> dict[str, Any]:
        """Return the settings, size and score of a candidate that the rung has ranked."""
        scores = [outcome.score for outcome in self._known[_key(candidate, number)]]
        return {
            **{name: getattr(candidate, name) for name in VARIED},
            "epochs": self._epochs(candidate, number),
            "nbytes": self._sizes.nbytes(candidate),
            "score": float(np.mean(scores)),
            "spread": float(np.std(scores)),
        }

    def _try(self, candidate: Settings, fold: Fold, number: int) -> Outcome:
        short = replace(candidate, epochs=self._epochs(candidate, number), n_jobs=1)
        model, _, _ = fold.train.fit(short, self._crew.is_over)
        return judge(model, fold.valid)

    def _note(self, candidate: Settings, number: int) -> None:
        folds = self._folds[number]
        spent = {"rung": number + 1, "rows": rows_of(folds[0].train.table), "folds": len(folds)}
        self.log.append({**spent, **self.describe(candidate, number), "chosen": False})

    def _epochs(self, candidate: Settings, number: int) -> int:
        return max(1, round(candidate.epochs * self._rungs[number].epochs))


def _key(candidate: Settings, number: int) -> tuple[Any, ...]:
    return (number, *(getattr(candidate, name) for name in VARIED))


def deal(problem: Problem, hands: int, seed: int) -> list[Rows]:
    """Deal all rows into equal hands at random; each class is spread evenly."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(rows_of(problem.table))
    if problem.labels is not REGRESSION:
        order = order[np.argsort(problem.target[order], kind="stable")]
    return [rng.permutation(order[hand::hands]) for hand in range(hands)]


def folds_of(problem: Problem, rung: Rung, seed: int) -> list[Fold]:
    """Return the first folds of cross-validation, cut to the rows of a rung."""
    hands = deal(problem, min(FOLDS, rows_of(problem.table)), seed + rung.deal)
    if len(hands) < 2:
        return [Fold(problem, problem)]  # one row in all
    share = -(-rung.rows // (len(hands) - 1))
    folds = []
    for i in range(min(rung.folds, len(hands))):
        train = np.concatenate([hand[:share] for j, hand in enumerate(hands) if j != i])
        folds.append(Fold(problem.take(train), problem.take(hands[i][: rung.rows])))
    return folds


def judge(model: _core.Model, valid: Problem) -> Outcome:
    """Compare a model's scores with the truth.

    The regret is the log of the error rate plus the log of the calibrated log loss: what counts is the error rate, but
    on a few hundred rows it is a coarse measure, and the loss is a finer one of nearly the same thing.
    """
    scores = model.decision(valid.table, 1)
    weight = np.ones(len(valid.target)) if valid.weight is None else valid.weight
    weight = weight / weight.sum()
    if valid.labels is REGRESSION:
        error = float(weight @ (scores - valid.target) ** 2)
        return Outcome(error, error)
    truth = valid.target.astype(np.intp)
    if scores.ndim == 1:
        scores = np.stack([np.zeros_like(scores), scores], axis=1)
    wrong = float(weight @ (scores.argmax(axis=1) != truth))
    loss = calibrated_loss(scores, truth, weight)
    return Outcome(1.0 - wrong, math.log(wrong + 0.5 / len(truth)) + math.log(loss))


LEAST_LOSS = 1e-6
"""Below this a log loss says nothing more."""


def calibrated_loss(scores: NDArray[np.float64], truth: Rows, weight: NDArray[np.float64]) -> float:
    """Return the log loss at the best temperature: scores of all losses compare, and loud ones are not punished."""
    behind = scores - scores[np.arange(len(truth)), truth][:, None]
    unit = float(np.std(scores)) or 1.0
    temperatures = unit * 2.0 ** np.arange(-4.0, 2.5, 0.5)
    losses = [weight @ np.log(np.exp(np.minimum(behind / t, 700.0)).sum(axis=1)) for t in temperatures]
    return max(float(min(losses)), LEAST_LOSS)
