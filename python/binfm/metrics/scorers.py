"""scikit-learn's scorers: they ask an estimator, which here has its answers at hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from binfm._checks import parameters_of
from binfm.metrics.measure import Measure
from binfm.metrics.scored import Scored


def measure_by_name(name: str) -> Measure | None:
    """Return a scorer of scikit-learn by its name; None if there is none, or no scikit-learn."""
    try:
        from sklearn.metrics import get_scorer, get_scorer_names
    except ImportError:
        return None
    return measure_of_scorer(get_scorer(name), name) if name in get_scorer_names() else None


def measure_of_scorer(scorer: Callable[..., Any], name: str) -> Measure:
    """Return a function of estimator, X and y as a metric; X is None, as the estimator needs none. Higher is better."""
    takes_weight = "sample_weight" in parameters_of(scorer)

    def score(scored: Scored) -> Any:
        more = {"sample_weight": scored.weight} if takes_weight and scored.weight is not None else {}
        return scorer(_estimator(scored), None, scored.y, **more)

    return Measure(name, True, score)


def _estimator(scored: Scored) -> Any:
    """Return an estimator with these scores, whatever it is asked about."""
    try:
        from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    except ImportError:
        raise ImportError("a scorer needs scikit-learn: pip install 'binfm[sklearn]'") from None

    class Regressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
        is_fitted_ = True

        def predict(self, X: Any) -> Any:
            return scored.prediction

    class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        @property
        def classes_(self) -> Any:
            return scored.labels.as_array()

        def predict(self, X: Any) -> Any:
            return self.classes_[scored.predicted]

        def decision_function(self, X: Any) -> Any:
            return scored.scores

        def predict_proba(self, X: Any) -> Any:
            return scored.probabilities

    return Regressor() if scored.labels.kind == "none" else Classifier()
