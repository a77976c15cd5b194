"""What `eval_metric` and `scoring` may be, as one type: a name, a metric of one's own, or scikit-learn's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter
from typing import Any

from binfm._checks import listed, one_of, parameters_of
from binfm.attributes import OF_NUMBERS, PROBABILISTIC
from binfm.metrics.named import NAMED
from binfm.metrics.scored import Scored

HIGHER = ("_score", "_auc")
LOWER = ("_loss", "_error", "_deviance")
"""Ends of names that say whether higher or lower is better: scikit-learn's convention."""


@dataclass(frozen=True)
class Metric:
    """A metric of your own, for `eval_metric` and `scoring` of :func:`binfm.train`.

    `function` is called as ``function(y, scores)`` and returns a number. `y` holds the class labels as they were given,
    or the numbers of a regression; `scores` are those of ``decision_function``: positive for the second of two classes,
    and one column per class if there are more. A function with a parameter ``sample_weight`` also gets the weights.

    Examples
    --------
    >>> import numpy as np, binfm
    >>> X = np.random.default_rng(0).normal(size=(600, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "alarm", "quiet")
    >>> def missed(y, scores):
    ...     return np.mean(scores[y == "alarm"] > 0)
    >>> metric = binfm.Metric("missed", missed, higher_is_better=False)
    >>> model = binfm.train(X[:500], y[:500], eval_set=(X[500:], y[500:]), eval_metric=metric, epochs=3)
    >>> sorted(model.history[0])
    ['epoch', 'loss', 'val_loss', 'val_missed']
    """

    name: str
    function: Callable[..., Any]
    higher_is_better: bool


@dataclass(frozen=True)
class Measure:
    """A metric, however it was given."""

    name: str
    higher_is_better: bool
    function: Callable[[Scored], Any]

    def of(self, scored: Scored) -> float:
        """Measure some samples."""
        value = self.function(scored)
        try:
            return float(value)
        except (TypeError, ValueError):
            raise TypeError(f"metric {self.name!r} must return a number, got {type(value).__name__}") from None

    def cost(self, value: float) -> float:
        """Return a value as something to minimize."""
        return -value if self.higher_is_better else value


def measures_of(given: Any, parameter: str, loss: str) -> tuple[Measure, ...]:
    """Return one metric or a list of them; none for None."""
    if given is None:
        return ()
    each = given if isinstance(given, list | tuple) else [given]
    return tuple(measure_of(one, parameter, loss) for one in each)


def measure_of(given: Any, parameter: str, loss: str | None) -> Measure:
    """Return a metric for a model with this loss, or with one of those for classes if it is None."""
    if isinstance(given, str):
        return _by_name(given, parameter, loss)
    if isinstance(given, Metric):
        return Measure(given.name, given.higher_is_better, _applied(given.function))
    if not callable(given):
        raise TypeError(
            f"{parameter} must be the name of a metric, a binfm.Metric or a function, got {type(given).__name__}"
        )
    if _required(given) >= 3:
        from binfm.metrics.scorers import measure_of_scorer

        return measure_of_scorer(given, getattr(given, "__name__", "score"))
    name = getattr(given, "__name__", type(given).__name__)
    if not name.endswith(HIGHER + LOWER):
        raise ValueError(
            f"{parameter} must say whether higher is better: pass binfm.Metric({name!r}, {name}, higher_is_better=…)"
        )
    return Measure(name, name.endswith(HIGHER), _applied(given))


def _by_name(name: str, parameter: str, loss: str | None) -> Measure:
    is_regression = loss in OF_NUMBERS
    if name not in NAMED:
        from binfm.metrics.scorers import measure_by_name

        found = measure_by_name(name)
        if found is None:
            known = listed(tuple(own for own, metric in NAMED.items() if metric.is_regression == is_regression))
            raise ValueError(f"{parameter} must be {known}, or a scorer of scikit-learn, got {name!r}")
        return found
    metric = NAMED[name]
    if metric.is_regression != is_regression:
        fitting = tuple(own for own, other in NAMED.items() if other.is_regression == is_regression)
        one_of(parameter, name, fitting, " for regression" if is_regression else " for classes")
    if metric.needs_probabilities and loss is not None and loss not in PROBABILISTIC:
        raise ValueError(f"{parameter} {name!r} needs loss 'logistic' or 'softmax', got {loss!r}")
    return Measure(name, metric.higher_is_better, metric.of)


def _applied(function: Callable[..., Any]) -> Callable[[Scored], Any]:
    """Return a function of targets and scores as one of both together."""
    takes_weight = "sample_weight" in parameters_of(function)

    def apply(scored: Scored) -> Any:
        more = {"sample_weight": scored.weight} if takes_weight and scored.weight is not None else {}
        return function(scored.y, scored.scores, **more)

    return apply


def _required(function: Callable[..., Any]) -> int:
    """Return the number of arguments that a function needs."""
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in positional and p.default is Parameter.empty for p in parameters_of(function).values())
