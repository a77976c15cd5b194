"""Liblinear, as scikit-learn's LinearSVC on standardized features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from paper.choice import Settings
from paper.data import Codes
from paper.memory import FLOAT
from paper.plan import Plan
from paper.systems.base import REGULARIZATION, Fitted, System, outputs


class Liblinear(System):
    """The scaler is folded into float32 weights: the fastest and smallest form of the same model."""

    name, label, package = "liblinear", "Liblinear", "scikit-learn"
    grid: ClassVar[dict[str, Sequence[Any]]] = {"C": REGULARIZATION}
    start: ClassVar[Settings] = {"C": 1.0}
    counted = "weights"

    def fit(self, settings: Settings, X: NDArray[Any], y: Codes, classes: int, seed: int, plan: Plan) -> Fitted:
        scaler = StandardScaler().fit(X)
        model = LinearSVC(C=settings["C"], dual=False, random_state=seed).fit(scaler.transform(X), y)
        weights = model.coef_ / scaler.scale_
        model.intercept_ = (model.intercept_ - weights @ scaler.mean_).astype(np.float32)
        model.coef_ = weights.astype(np.float32)
        return Fitted(model.predict, model.coef_.nbytes + model.intercept_.nbytes)

    def bits(self, settings: Settings, d: int, classes: int) -> int:
        return FLOAT * d * outputs(classes)
