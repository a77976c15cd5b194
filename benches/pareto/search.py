"""The peers' settings, by cross-validation on the training part under a limit of bytes.

1. Every candidate is fitted on the first fold. A fit is a ladder: it serves all budgets.
2. Twice: the neighbours of each budget's best candidate are tried there too.
3. Each budget's FINALISTS go on to the other folds, and are fitted on the whole training part, which says how many
   bytes each step really takes.
4. A budget gets the finalist and the step of the best mean accuracy over the folds among those that fit. That model is
   scored on the test part, once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pareto.ladder import Ladder
from pareto.problem import BUDGETS, Codes, Problem
from pareto.store import Point

REFINEMENTS = 2
FINALISTS = 4

Settings = dict[str, Any]


class Family(Protocol):
    """A peer: where to look, and how to fit."""

    def candidates(self, problem: Problem) -> list[Settings]:
        """Return the settings to start from."""

    def neighbours(self, settings: Settings) -> list[Settings]:
        """Return settings close to good ones."""

    def fit(self, settings: Settings, X: NDArray[Any], y: Codes, classes: int) -> Ladder:
        """Fit once."""


class Rung(NamedTuple):
    """What a step of a ladder takes and is worth."""

    bytes: int
    accuracy: float


Curve = dict[int, Rung]


@dataclass
class Trial:
    """Settings, and their curve on each fold so far."""

    settings: Settings
    curves: list[Curve] = field(default_factory=list)

    def best(self, budget: int) -> float:
        """Return the best accuracy on the first fold within a budget, −1 where nothing fits."""
        return max((rung.accuracy for rung in self.curves[0].values() if rung.bytes <= budget), default=-1.0)

    def mean(self, step: int) -> float:
        """Return the mean accuracy over the folds at a step, −1 where a fold does not reach it."""
        if not all(step in curve for curve in self.curves):
            return -1.0
        return float(np.mean([curve[step].accuracy for curve in self.curves]))


class Search:
    """The trials of one family on one problem."""

    def __init__(self, family: Family, problem: Problem) -> None:
        self.family, self.problem = family, problem
        self.folds = problem.folds()
        self.trials: dict[str, Trial] = {}

    def points(self) -> dict[int, Point | None]:
        """Return the chosen model's test accuracy at each budget, None where nothing fits."""
        self._try(self.family.candidates(self.problem))
        for _ in range(REFINEMENTS):
            self._try([near for trial in self._leaders(1) for near in self.family.neighbours(trial.settings)])
        finalists = self._leaders(FINALISTS)
        for trial in finalists:
            trial.curves += [self._curve(trial.settings, fold) for fold in range(1, len(self.folds))]
        whole = [(trial, self._fit(trial.settings, self.problem.X, self.problem.y)) for trial in finalists]
        return {budget: self._choose(whole, budget) for budget in BUDGETS}

    def _try(self, candidates: Iterable[Settings]) -> None:
        for settings in candidates:
            key = json.dumps(settings, sort_keys=True)
            if key not in self.trials:
                self.trials[key] = Trial(settings, [self._curve(settings, 0)])

    def _leaders(self, count: int) -> list[Trial]:
        """Return the `count` best trials of every budget, each once."""
        leaders: dict[int, Trial] = {}
        for budget in BUDGETS:
            ranked = sorted(self.trials.values(), key=lambda trial: -trial.best(budget))
            leaders |= {id(trial): trial for trial in ranked[:count] if trial.best(budget) >= 0}
        return list(leaders.values())

    def _fit(self, settings: Settings, X: NDArray[Any], y: Codes) -> Ladder:
        return self.family.fit(settings, X, y, self.problem.classes)

    def _curve(self, settings: Settings, fold: int) -> Curve:
        fitted, held = self.folds[fold]
        X, y = self.problem.X, self.problem.y
        ladder = self._fit(settings, X[fitted], y[fitted])
        predicted = zip(ladder.sizes.items(), ladder.predictions(X[held]), strict=True)
        return {step: Rung(size, float(np.mean(codes == y[held]))) for (step, size), codes in predicted}

    def _choose(self, whole: list[tuple[Trial, Ladder]], budget: int) -> Point | None:
        fitting = [
            (trial.mean(step), -size, index, step)
            for index, (trial, ladder) in enumerate(whole)
            for step, size in ladder.sizes.items()
            if size <= budget and trial.mean(step) >= 0
        ]
        if not fitting:
            return None
        validated, size, index, step = max(fitting)
        trial, ladder = whole[index]
        accuracy = self.problem.test_accuracy(ladder.predict(step, self.problem.X_test))
        return Point(accuracy, -size, {**trial.settings, "step": step}, validated)
