"""The systems, each with its default call. Their packages are imported by the first fit."""

from __future__ import annotations

import pickle
from importlib.metadata import version
from typing import Any, ClassVar

import numpy as np
from engine.builds import CURRENT, Build

from defaults.sets import WIDE, Split

MAX_ITERATIONS = 1_000
"""Of logistic regression, whose default of 100 is often too few to converge."""
PENALTIES = np.logspace(-3, 4, 15)
"""Among which RidgeCV chooses by leaving one out."""
MOST_CATEGORIES = 255
"""Of a categorical column of scikit-learn's boosted trees, which raise an error above; such columns are numbers."""


class System:
    """One system: `fit` returns a model with the methods predict and predict_proba."""

    name: ClassVar[str]
    label: ClassVar[str]
    package: ClassVar[str]
    """Name on PyPI."""
    call: ClassVar[str]
    """What it does, for the page."""
    skips: ClassVar[tuple[str, ...]] = ()
    """Data sets that would take it hours."""

    def fit(self, part: Split) -> Any:
        """Train a model on one thread."""
        raise NotImplementedError

    def bytes(self, model: Any) -> int:
        return len(pickle.dumps(model))

    @property
    def version(self) -> str:
        return version(self.package)


class Binfm(System):
    name, label, package = "binfm", "binfm", "binfm"
    call = '`binfm.train(X, y)`, with `categorical=` and `loss="squared"` where they apply'

    def fit(self, part: Split) -> Any:
        import binfm

        settings: dict[str, Any] = {"loss": "squared"} if part.classes is None else {}
        if part.categorical:
            settings["categorical"] = list(part.categorical)
        return binfm.train(part.X, part.y, **settings, n_jobs=1)

    def bytes(self, model: Any) -> int:
        return int(model.nbytes)

    @property
    def version(self) -> str:
        """The version and a hash of the code: another build is measured again."""
        import binfm

        return f"{binfm.__version__} ({Build('binfm', CURRENT).identity})"


class LightGbm(System):
    name, label, package = "lightgbm", "LightGBM", "lightgbm"
    call = "`LGBMClassifier()` or `LGBMRegressor()`, with `categorical_feature=`"

    def fit(self, part: Split) -> Any:
        import lightgbm

        kind = lightgbm.LGBMRegressor if part.classes is None else lightgbm.LGBMClassifier
        return kind(n_jobs=1, verbose=-1).fit(part.X, part.y, categorical_feature=list(part.categorical))


class HistBoosting(System):
    name, label, package = "hist", "HistGradientBoosting", "scikit-learn"
    call = (
        "`HistGradientBoostingClassifier()` or `…Regressor()`, with `categorical_features=` for columns of at most "
        f"{MOST_CATEGORIES} categories"
    )

    def fit(self, part: Split) -> Any:
        from sklearn import ensemble

        kind = (
            ensemble.HistGradientBoostingRegressor if part.classes is None else ensemble.HistGradientBoostingClassifier
        )
        columns = [column for column in part.categorical if part.X[:, column].max() < MOST_CATEGORIES]
        return kind(categorical_features=columns or None, random_state=0).fit(part.X, part.y)


class Linear(System):
    name, label, package = "linear", "linear", "scikit-learn"
    call = (
        f"`LogisticRegression(max_iter={MAX_ITERATIONS:_})`, or `RidgeCV` with {len(PENALTIES)} penalties from "
        f"{PENALTIES[0]:g} to {PENALTIES[-1]:,g}; standardized numbers, one-hot categories"
    )

    def fit(self, part: Split) -> Any:
        from sklearn.compose import ColumnTransformer
        from sklearn.linear_model import LogisticRegression, RidgeCV
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder, StandardScaler

        regression = part.classes is None
        one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=not regression)
        columns = ColumnTransformer(
            [("numbers", StandardScaler(), part.numeric), ("categories", one_hot, list(part.categorical))]
        )
        model = RidgeCV(PENALTIES) if regression else LogisticRegression(max_iter=MAX_ITERATIONS)
        return make_pipeline(columns, model).fit(part.X, part.y)


class Ebm(System):
    name, label, package = "ebm", "EBM", "interpret-core"
    call = "`ExplainableBoostingClassifier()` or `…Regressor()`, with `feature_types=`; not on `wide`"
    skips = WIDE

    def fit(self, part: Split) -> Any:
        from interpret import glassbox

        kind = glassbox.ExplainableBoostingRegressor if part.classes is None else glassbox.ExplainableBoostingClassifier
        types = ["nominal" if column in part.categorical else "continuous" for column in range(part.X.shape[1])]
        return kind(feature_types=types, n_jobs=1).fit(part.X, part.y)


SYSTEMS: dict[str, System] = {one.name: one for one in (Binfm(), LightGbm(), HistBoosting(), Linear(), Ebm())}
REFERENCE = LightGbm.name
"""The system that the others are compared with."""
OPTIONAL = Ebm.name
"""Slow, and measured only on request."""
