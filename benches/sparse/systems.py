"""The systems, each with its default call: how to fit a part, which returns a scorer and the bytes of the model."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparse.sets import Part

Scorer = Callable[[Any], NDArray[np.float64]]
Fit = Callable[[Part], tuple[Scorer, int]]

MIN_COUNT = 10
"""Samples that a category needs in one-hot columns, as usual for logs."""
PENALTIES = np.logspace(-1, 3, 9)
SHARE = 0.2
"""Of the training samples, held out to choose the penalty of a linear model."""


def _binfm(**settings: Any) -> Fit:
    def fit(part: Part) -> tuple[Scorer, int]:
        import binfm

        loss = "squared" if part.is_ratings else "logistic"
        categorical = list(part.categorical) or None
        model = binfm.train(part.X, part.y, loss=loss, categorical=categorical, **settings)
        return model.decision_function, model.nbytes

    return fit


def _linear(part: Part) -> tuple[Scorer, int]:
    """Logistic or ridge regression of one-hot categories, with the best of some penalties on held-out samples."""
    encode = _one_hot(part)
    X, y = encode(part.X), part.y
    order = np.random.default_rng(0).permutation(len(y))
    held_out, rest = np.split(order, [round(SHARE * len(y))])
    losses = [
        _loss(part, _scores(_linear_model(part, penalty).fit(X[rest], y[rest]), X[held_out]), y[held_out])
        for penalty in PENALTIES
    ]
    model = _linear_model(part, float(PENALTIES[int(np.argmin(losses))])).fit(X, y)
    return lambda table: _scores(model, encode(table)), 4 * (X.shape[1] + 1)


def _linear_model(part: Part, penalty: float) -> Any:
    from sklearn.linear_model import LogisticRegression, Ridge

    if part.is_ratings:
        return Ridge(alpha=penalty)
    return LogisticRegression(C=1 / penalty, max_iter=300)


def _scores(model: Any, X: Any) -> NDArray[np.float64]:
    return np.asarray(model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X))


def _loss(part: Part, scores: NDArray[np.float64], y: NDArray[Any]) -> float:
    if part.is_ratings:
        return float(np.mean((scores - y) ** 2))
    return float(np.mean(np.logaddexp(0, -np.where(y, 1, -1) * scores)))


def _one_hot(part: Part) -> Callable[[Any], Any]:
    """Return how to encode a table: categories as columns, numbers in standard units, 0 where one is missing."""
    if not part.categorical:
        return lambda table: table
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = [column for column in range(part.X.shape[1]) if column not in part.categorical]
    least = 1 if part.is_ratings else MIN_COUNT
    one_hot = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=least)
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), numbers),
            ("categories", one_hot, list(part.categorical)),
        ]
    )
    return columns.fit(part.X).transform


def _lightgbm(part: Part) -> tuple[Scorer, int]:
    import lightgbm

    kind = lightgbm.LGBMRegressor if part.is_ratings else lightgbm.LGBMClassifier
    codes = _codes(part)
    model = kind(verbose=-1).fit(codes(part.X), part.y, categorical_feature=list(part.categorical))
    if part.is_ratings:
        return lambda table: model.predict(codes(table)), len(pickle.dumps(model))
    return lambda table: model.predict(codes(table), raw_score=True), len(pickle.dumps(model))


def _codes(part: Part) -> Callable[[Any], Any]:
    """Return how to number categories, which LightGBM wants below 2^31; unknown ones are missing."""
    if not part.categorical:
        return lambda table: table
    known = {column: np.unique(part.X[:, column]) for column in part.categorical}

    def coded(table: Any) -> Any:
        table = np.array(table, np.float64)
        for column, values in known.items():
            at = np.minimum(np.searchsorted(values, table[:, column]), len(values) - 1)
            table[:, column] = np.where(values[at] == table[:, column], at, np.nan)
        return table

    return coded


SYSTEMS: dict[str, tuple[str, Fit]] = {
    "binfm": ("`binfm.train(X, y)`", _binfm()),
    "binfm m=0": ("`binfm.train(X, y, m=0)`", _binfm(m=0)),
    "binfm 0": ("`binfm.train(X, y, regularization=0)`", _binfm(regularization=0)),
    "fm": ('`method="fm"`, floats', _binfm(method="fm")),
    "linear": ("logistic or ridge regression, best of nine penalties", _linear),
    "lightgbm": ("LightGBM's defaults", _lightgbm),
}
