"""hessboost's compact format: boosted trees with the reuse penalties of "Boosted Trees on a Diet" (ToaD)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import hessboost
import numpy as np
from numpy.typing import NDArray

from pareto.ladder import classes_of, classes_of_running_sums, steps, within_budgets
from pareto.problem import BUDGETS, Codes, Problem
from pareto.search import Search, Settings
from pareto.store import Point

DEPTHS = (1, 2, 3, 6)
LEAVES = (3, 5, 8, 12, 20, 40)
RATES = (0.2, 0.45, 0.9)
PENALTIES = ((0.0, 0.0), (2e-4, 2e-3), (1e-3, 0.0))
"""ToaD's penalties for a new threshold and a new feature, per training sample, because gains grow with their number."""
HALF_MAX = float(np.finfo(np.float16).max)

MAX_ROUNDS = 300
FULL_DEPTH = 0.6
"""Typical share of its 2^depth leaves that a tree grown by depth has."""
LEAF_BYTES = 5.0
SHARED_LEAF_BYTES = 2.5
"""Minimum bytes per leaf, 4 of them its value; and if a cap on leaf values makes many of them equal."""


def measure(problem: Problem) -> dict[int, Point | None]:
    return Search(Family(), problem).points()


class Family:
    """Rounds × shape × learning rate × ToaD penalties; then regularization, bins and others around the best."""

    def candidates(self, problem: Problem) -> list[Settings]:
        half = bool(np.abs(problem.X).max() < HALF_MAX)
        shapes = [{"max_depth": depth} for depth in DEPTHS] + [{"max_leaves": leaves} for leaves in LEAVES]
        return [
            {**shape, "eta": eta, "threshold_penalty": threshold, "feature_penalty": feature, "half": half}
            for shape, eta, (threshold, feature) in product(shapes, RATES, PENALTIES)
        ]

    def neighbors(self, settings: Settings) -> list[Settings]:
        threshold, feature = settings["threshold_penalty"], settings["feature_penalty"]
        changes: list[Settings] = [
            {"eta": round(settings["eta"] * 0.65, 4)},
            {"eta": round(settings["eta"] * 1.5, 4)},
            {"threshold_penalty": threshold / 3, "feature_penalty": feature / 3},
            {"threshold_penalty": 3 * threshold or 1e-4, "feature_penalty": 3 * feature},
            {"feature_penalty": 0.0 if feature else 10 * threshold},
            {"max_bin": 32},
            {"lambda": 0.1},
            {"max_delta_step": 0.7},
            {"half": False},
        ]
        return [{**settings, **change} for change in changes + _shapes_near(settings)]

    def fit(self, settings: Settings, X: NDArray[Any], y: Codes, classes: int) -> Rounds:
        data = hessboost.DMatrix(_inputs(settings, X), label=y)
        parameters = _parameters(settings, len(y), classes)
        booster = hessboost.train(parameters, data, _max_rounds(settings, classes), verbose_eval=False)
        return Rounds(booster, settings)


def _shapes_near(settings: Settings) -> list[Settings]:
    name = "max_depth" if "max_depth" in settings else "max_leaves"
    size = settings[name]
    stride = 1 if name == "max_depth" else max(1, size // 4)
    return [{name: near} for near in (size - stride, size + stride) if near >= (1 if name == "max_depth" else 2)]


def _inputs(settings: Settings, X: NDArray[Any]) -> NDArray[np.float32]:
    """Return X, rounded to float16 if `half` is set: compact thresholds then take 2 bytes instead of 4."""
    return X.astype(np.float16).astype(np.float32) if settings["half"] else X


def _parameters(settings: Settings, n_samples: int, classes: int) -> Settings:
    own = {"half", "threshold_penalty", "feature_penalty"}
    return {
        **({"objective": "binary:logistic"} if classes == 2 else {"objective": "multi:softprob", "num_class": classes}),
        **({"grow_policy": "lossguide", "max_depth": 0} if "max_leaves" in settings else {}),
        **{name: value for name, value in settings.items() if name not in own},
        "toad_penalty_threshold": settings["threshold_penalty"] * n_samples,
        "toad_penalty_feature": settings["feature_penalty"] * n_samples,
        "nthread": 1,
    }


def _max_rounds(settings: Settings, classes: int) -> int:
    """Return the number of rounds that fills the largest budget, at most MAX_ROUNDS."""
    leaves = settings["max_leaves"] if "max_leaves" in settings else max(2.0, FULL_DEPTH * 2 ** settings["max_depth"])
    leaf = SHARED_LEAF_BYTES if "max_delta_step" in settings else LEAF_BYTES
    trees = BUDGETS[-1] / (leaf * leaves)
    return max(1, min(MAX_ROUNDS, round(trees / (1 if classes == 2 else classes))))


class Rounds:
    """A booster that can be cut after any of its rounds."""

    def __init__(self, booster: hessboost.Booster, settings: Settings) -> None:
        self.booster, self.settings = booster, settings
        rounds = steps(booster.num_boosted_rounds())
        self.sizes = within_budgets((step, booster[:step].size_report().compact_bytes) for step in rounds)

    def predictions(self, X: NDArray[Any]) -> Iterator[Codes]:
        X = _inputs(self.settings, X)
        return classes_of_running_sums(self._margins(X, start, stop) for start, stop in pairwise([0, *self.sizes]))

    def predict(self, step: int, X: NDArray[Any]) -> Codes:
        compact = self.booster[:step].to_compact()
        if len(compact.save_raw()) != self.sizes[step]:
            raise AssertionError("hessboost's size report differs from its file")
        return classes_of(compact.predict(_inputs(self.settings, X), output_margin=True))

    def _margins(self, X: NDArray[Any], start: int, stop: int) -> NDArray[Any]:
        """Return the margins that some rounds add; the first ones include the intercept."""
        margins = self.booster.predict(X, output_margin=True, iteration_range=(start, stop))
        return margins if start == 0 else margins - np.asarray(self.booster.base_margins, np.float32)
