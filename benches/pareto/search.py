"""Choose the peers' settings by cross-validation on the training part under a byte budget.

1. Fit every candidate on the first fold. A fit is a ladder, so it serves all budgets.
2. Fit the best candidates on the whole training part too, to learn the actual size of each step: with more samples a
   model is a little larger and may no longer fit.
3. Try the neighbors of each budget's best candidate. Do this twice.
4. Run each budget's FINALISTS on the other folds. A budget gets the finalist and step with the best mean accuracy over
   the folds among those that fit. That model is scored on the test part, once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pareto.ladder import Ladder
from pareto.problem import BUDGETS, Codes, Problem
from pareto.store import Point

REFINEMENTS = 2
FINALISTS = 4
MAX_CHECKED = 16
"""Maximum number of candidates per budget that are fitted on the whole training part."""

Settings = dict[str, Any]


class Family(Protocol):
    """A peer: its search space and how to fit it."""

    def candidates(self, problem: Problem) -> list[Settings]:
        """Return the settings to start from."""

    def neighbors(self, settings: Settings) -> list[Settings]:
        """Return settings close to the given ones."""

    def fit(self, settings: Settings, X: NDArray[Any], y: Codes, classes: int) -> Ladder:
        """Fit once."""


class Rung(NamedTuple):
    """Size and accuracy of one step of a ladder."""

    bytes: int
    accuracy: float


Curve = dict[int, Rung]


@dataclass
class Trial:
    """Settings, their curve on each fold so far, and the fit on the whole training part once it is needed."""

    settings: Settings
    curves: list[Curve]
    whole: Ladder | None = None

    def estimate(self, budget: int) -> float:
        """Return the best first-fold accuracy within a budget by first-fold sizes; −1 if nothing fits."""
        return max((rung.accuracy for rung in self.curves[0].values() if rung.bytes <= budget), default=-1.0)

    def best(self, budget: int) -> float:
        """Return the best first-fold accuracy within a budget by the actual sizes; −1 if nothing fits."""
        return max((self.curves[0][step].accuracy for step in self._fitting(budget)), default=-1.0)

    def choices(self, budget: int) -> list[tuple[float, int, int]]:
        """Return (mean accuracy over the folds, bytes, step) of all cuts within a budget."""
        return [(self._mean(step), self._sizes[step], step) for step in self._fitting(budget)]

    @property
    def _sizes(self) -> dict[int, int]:
        return self.whole.sizes if self.whole else {}

    def _fitting(self, budget: int) -> list[int]:
        """Return the steps within a budget that every fold has."""
        fitting = [step for step, size in self._sizes.items() if size <= budget]
        return [step for step in fitting if all(step in curve for curve in self.curves)]

    def _mean(self, step: int) -> float:
        return float(np.mean([curve[step].accuracy for curve in self.curves]))


class Search:
    """All trials of one family on one problem."""

    def __init__(self, family: Family, problem: Problem) -> None:
        self.family, self.problem = family, problem
        self.folds = problem.folds()
        self.trials: dict[str, Trial] = {}

    def points(self) -> dict[int, Point | None]:
        """Return the test accuracy of the chosen model at each budget, None if nothing fits."""
        self._try(self.family.candidates(self.problem))
        for _ in range(REFINEMENTS):
            self._try([near for trial in self._leaders(1) for near in self.family.neighbors(trial.settings)])
        finalists = self._leaders(FINALISTS)
        for trial in finalists:
            trial.curves += [self._curve(trial.settings, fold) for fold in range(1, len(self.folds))]
        return {budget: self._choose(finalists, budget) for budget in BUDGETS}

    def _try(self, candidates: Iterable[Settings]) -> None:
        for settings in candidates:
            key = json.dumps(settings, sort_keys=True)
            if key not in self.trials:
                self.trials[key] = Trial(settings, [self._curve(settings, 0)])

    def _leaders(self, count: int) -> list[Trial]:
        """Return the `count` best trials of every budget, without duplicates."""
        leaders = {id(trial): trial for budget in BUDGETS for trial in self._best(budget, count)}
        return list(leaders.values())

    def _best(self, budget: int, count: int) -> list[Trial]:
        """Return the `count` best trials of a budget, fitting the whole training part as far as needed to rank them."""
        best: list[Trial] = []
        for trial in sorted(self.trials.values(), key=lambda trial: -trial.estimate(budget))[:MAX_CHECKED]:
            if trial.estimate(budget) < 0 or (len(best) == count and best[-1].best(budget) >= trial.estimate(budget)):
                break
            trial.whole = trial.whole or self._fit(trial.settings, self.problem.X, self.problem.y)
            best = sorted([*best, trial], key=lambda trial: -trial.best(budget))[:count]
        return [trial for trial in best if trial.best(budget) >= 0]

    def _fit(self, settings: Settings, X: NDArray[Any], y: Codes) -> Ladder:
        return self.family.fit(settings, X, y, self.problem.classes)

    def _curve(self, settings: Settings, fold: int) -> Curve:
        fitted, validation = self.folds[fold]
        X, y = self.problem.X, self.problem.y
        ladder = self._fit(settings, X[fitted], y[fitted])
        predicted = zip(ladder.sizes.items(), ladder.predictions(X[validation]), strict=True)
        return {step: Rung(size, float(np.mean(codes == y[validation]))) for (step, size), codes in predicted}

    def _choose(self, finalists: list[Trial], budget: int) -> Point | None:
        """Return the best cut within a budget, the smaller one if two tie."""
        choices = [(choice, trial) for trial in finalists for choice in trial.choices(budget)]
        if not choices:
            return None
        (validated, size, step), trial = max(choices, key=lambda pair: (pair[0][0], -pair[0][1]))
        predicted = trial.whole.predict(step, self.problem.X_test)
        return Point(self.problem.test_accuracy(predicted), size, {**trial.settings, "step": step}, validated)
