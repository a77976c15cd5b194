"""Logistic regression, with its smallest weights dropped to fit a budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler

from pareto import sizes
from pareto.ladder import classes_of, steps, within_budgets
from pareto.problem import Codes, Problem
from pareto.search import Search, Settings
from pareto.store import Point

L2_STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
L1_STRENGTHS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
ITERATIONS = 500


def measure(problem: Problem) -> dict[int, Point | None]:
    return Search(Family(), problem).points()


class Family:
    """C × penalty: L2 (one softmax) or L1 (one-vs-rest), which sets weights to zero."""

    def candidates(self, problem: Problem) -> list[Settings]:
        l2 = [{"penalty": "l2", "C": strength} for strength in L2_STRENGTHS]
        return l2 + [{"penalty": "l1", "C": strength} for strength in L1_STRENGTHS]

    def neighbors(self, settings: Settings) -> list[Settings]:
        return [{**settings, "C": round(settings["C"] * factor, 6)} for factor in (0.5, 2.0)]

    def fit(self, settings: Settings, X: NDArray[Any], y: Codes, classes: int) -> Weights:
        scaler = StandardScaler().fit(X)
        if settings["penalty"] == "l2":
            model = LogisticRegression(C=settings["C"], max_iter=ITERATIONS).fit(scaler.transform(X), y)
            return Weights(scaler, model.coef_, model.intercept_, classes)
        sparse = LogisticRegression(C=settings["C"], l1_ratio=1.0, solver="liblinear", tol=1e-3, random_state=0)
        parts = OneVsRestClassifier(sparse).fit(scaler.transform(X), y).estimators_
        coefficients = np.concatenate([part.coef_ for part in parts])
        return Weights(scaler, coefficients, np.concatenate([part.intercept_ for part in parts]), classes)


class Weights:
    """A linear model of which only the largest weights are kept."""

    def __init__(self, scaler: Any, coefficients: NDArray[Any], intercepts: NDArray[Any], classes: int) -> None:
        self.scaler, self.coefficients, self.intercepts = scaler, coefficients, intercepts
        self.ranked = np.argsort(-np.abs(coefficients), axis=None, kind="stable")
        features = coefficients.shape[1]
        kept = steps(max(1, int(np.count_nonzero(coefficients))))
        self.sizes = within_budgets((step, sizes.linear(step, features, classes)) for step in kept)

    def predictions(self, X: NDArray[Any]) -> Iterator[Codes]:
        return (self.predict(step, X) for step in self.sizes)

    def predict(self, step: int, X: NDArray[Any]) -> Codes:
        kept = np.zeros_like(self.coefficients)
        kept.flat[self.ranked[:step]] = self.coefficients.flat[self.ranked[:step]]
        return classes_of(self.scaler.transform(X) @ kept.T + self.intercepts)
