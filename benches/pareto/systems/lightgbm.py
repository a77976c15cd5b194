"""LightGBM, in the packed format that `pareto.sizes` assumes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray

from pareto import sizes
from pareto.ladder import classes_of, classes_of_running_sums, steps, within_budgets
from pareto.problem import BUDGETS, Codes, Problem
from pareto.search import Search, Settings
from pareto.store import Point

LEAVES = (2, 3, 5, 8, 12, 20, 31, 48)
RATES = (0.2, 0.45, 0.9)
BASE = {"max_bin": 255, "min_data_in_leaf": 5, "lambda_l2": 1.0, "min_sum_hessian_in_leaf": 0.1}
"""Without regularization, boosting diverges at the high learning rates that small models need."""
FIXED = {"num_threads": 1, "seed": 0, "deterministic": True, "force_col_wise": True, "verbose": -1}

MAX_ROUNDS = 300
LEAF_BYTES = 2.5
"""Approximate minimum bytes per leaf and its split."""


def measure(problem: Problem) -> dict[int, Point | None]:
    return Search(Family(), problem).points()


class Family:
    """Rounds × leaves × learning rate; then bins and regularization around the best."""

    def candidates(self, problem: Problem) -> list[Settings]:
        return [{**BASE, "num_leaves": leaves, "learning_rate": rate} for leaves, rate in product(LEAVES, RATES)]

    def neighbors(self, settings: Settings) -> list[Settings]:
        leaves = settings["num_leaves"]
        changes: list[Settings] = [
            {"learning_rate": round(settings["learning_rate"] * 0.65, 4)},
            {"learning_rate": round(settings["learning_rate"] * 1.5, 4)},
            {"num_leaves": max(2, leaves - max(1, leaves // 4))},
            {"num_leaves": leaves + max(1, leaves // 4)},
            {"max_bin": 63},
            {"max_bin": 23},
            {"lambda_l2": 0.1},
            {"lambda_l2": 5.0},
            {"min_data_in_leaf": 1},
            {"min_data_in_leaf": 20},
        ]
        return [{**settings, **change} for change in changes]

    def fit(self, settings: Settings, X: NDArray[Any], y: Codes, classes: int) -> Rounds:
        trees = BUDGETS[-1] / (LEAF_BYTES * settings["num_leaves"])
        rounds = max(1, min(MAX_ROUNDS, round(trees / (1 if classes == 2 else classes))))
        return Rounds(train({**settings, **FIXED}, X, y, classes, rounds), sizes.threshold_bits(X))


def train(parameters: Settings, X: NDArray[Any], y: Codes, classes: int, rounds: int) -> lightgbm.Booster:
    task = {"objective": "binary"} if classes == 2 else {"objective": "multiclass", "num_class": classes}
    parameters = {**parameters, **task}
    return lightgbm.train(parameters, lightgbm.Dataset(X, y, params=parameters), rounds, keep_training_booster=True)


class Rounds:
    """A booster that can be cut after any of its rounds."""

    def __init__(self, booster: lightgbm.Booster, width: NDArray[Any]) -> None:
        self.booster = booster
        self.trees = Splits(booster)
        last = booster.current_iteration()
        self.sizes = within_budgets((step, self.trees.bytes(step, width)) for step in steps(last))

    def predictions(self, X: NDArray[Any]) -> Iterator[Codes]:
        return classes_of_running_sums(self._margins(X, start, stop) for start, stop in pairwise([0, *self.sizes]))

    def predict(self, step: int, X: NDArray[Any]) -> Codes:
        return classes_of(self._margins(X, 0, step))

    def _margins(self, X: NDArray[Any], start: int, stop: int) -> NDArray[Any]:
        return self.booster.predict(X, raw_score=True, start_iteration=start, num_iteration=stop - start)


class Splits:
    """All splits of a booster, tree by tree, parsed from its text format."""

    def __init__(self, booster: lightgbm.Booster) -> None:
        lines = booster.model_to_string().splitlines()
        self.features = _values(lines, "split_feature=").astype(np.int64)
        self.thresholds = _values(lines, "threshold=")
        self.leaves = np.cumsum(_values(lines, "num_leaves=").astype(np.int64))
        self.trees_per_round = booster.num_model_per_iteration()

    def bytes(self, rounds: int, width: NDArray[Any]) -> int:
        trees = rounds * self.trees_per_round
        leaves = int(self.leaves[trees - 1])
        splits = leaves - trees
        return sizes.trees(self.features[:splits], self.thresholds[:splits], leaves, sizes.BOOSTED_LEAF_BITS, width)


def _values(lines: list[str], name: str) -> NDArray[np.float64]:
    return np.array([value for line in lines if line.startswith(name) for value in line[len(name) :].split()], float)
