"""The metrics that have a name. They need numpy only, and weigh samples as training does."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from binfm.metrics.scored import Scored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Of = Callable[[Scored], float]


class Named(NamedTuple):
    """A metric, and what it is for."""

    of: Of
    higher_is_better: bool
    is_regression: bool
    needs_probabilities: bool = False


def accuracy(scored: Scored) -> float:
    """Return the share of samples that are classified correctly."""
    return float(np.average(scored.predicted == scored.target, weights=scored.weights))


def balanced_accuracy(scored: Scored) -> float:
    """Return the mean over all classes of the share of their samples that are classified correctly."""
    counts = np.bincount(scored.numbers, scored.weights)
    right = np.bincount(scored.numbers, scored.weights * (scored.predicted == scored.target))
    return float(np.mean(right[counts > 0] / counts[counts > 0]))


def f1(scored: Scored) -> float:
    """Return the F1 score of the second of two classes, or the mean of those of more."""
    truth, guess, weights = scored.numbers, scored.predicted, scored.weights
    classes = [1] if scored.scores.ndim == 1 else np.union1d(truth, guess).tolist()
    found = []
    for number in classes:
        both = weights @ ((truth == number) & (guess == number))
        either = weights @ (truth == number) + weights @ (guess == number)
        found.append(2 * both / either if either else 0.0)
    return float(np.mean(found))


def auc(scored: Scored) -> float:
    """Return the area under the ROC curve; of three and more classes the mean of each against the rest."""
    return _mean_over_classes(scored, _auc)


def average_precision(scored: Scored) -> float:
    """Return the area under the precision-recall curve; of three and more classes the mean of each against the rest."""
    return _mean_over_classes(scored, _average_precision)


def log_loss(scored: Scored) -> float:
    """Return the mean negative logarithm of the probability of the true class."""
    own = scored.probabilities[np.arange(len(scored.target)), scored.numbers]
    return float(np.average(-np.log(np.maximum(own, np.finfo(np.float64).eps)), weights=scored.weights))


def mse(scored: Scored) -> float:
    """Return the mean squared error."""
    return float(np.average((scored.prediction - scored.target) ** 2, weights=scored.weights))


def rmse(scored: Scored) -> float:
    """Return the root of the mean squared error."""
    return math.sqrt(mse(scored))


def mae(scored: Scored) -> float:
    """Return the mean absolute error."""
    return float(np.average(np.abs(scored.prediction - scored.target), weights=scored.weights))


def r2(scored: Scored) -> float:
    """Return the share of the variance that is explained; NaN if there is none to explain."""
    mean = np.average(scored.target, weights=scored.weights)
    variance = float(np.average((scored.target - mean) ** 2, weights=scored.weights))
    return 1 - mse(scored) / variance if variance else math.nan


def poisson_deviance(scored: Scored) -> float:
    """Return the mean Poisson deviance: twice what the likelihood of the targets falls short of that at their best."""
    y, mean = scored.target, np.maximum(scored.prediction, np.finfo(np.float64).tiny)
    logs = np.log(np.divide(y, mean, out=np.ones_like(y), where=y > 0))
    return float(np.average(2 * (y * logs - y + mean), weights=scored.weights))


def pinball(scored: Scored) -> float:
    """Return the mean distance from the targets, those above and below weighted by the quantile."""
    above = scored.target - scored.prediction
    losses = np.maximum(scored.quantile * above, (scored.quantile - 1) * above)
    return float(np.average(losses, weights=scored.weights))


NAMED = {
    "accuracy": Named(accuracy, True, False),
    "error": Named(lambda scored: 1 - accuracy(scored), False, False),
    "balanced_accuracy": Named(balanced_accuracy, True, False),
    "f1": Named(f1, True, False),
    "auc": Named(auc, True, False),
    "average_precision": Named(average_precision, True, False),
    "log_loss": Named(log_loss, False, False, needs_probabilities=True),
    "rmse": Named(rmse, False, True),
    "mse": Named(mse, False, True),
    "mae": Named(mae, False, True),
    "r2": Named(r2, True, True),
    "poisson_deviance": Named(poisson_deviance, False, True),
    "pinball": Named(pinball, False, True),
}
"""All metrics by name."""


def _mean_over_classes(scored: Scored, of: Callable[..., float]) -> float:
    """Return the mean over the classes that some samples belong to and others do not; NaN if there is none."""
    found = [of(*against_rest) for against_rest in _against_rest(scored)]
    known = [value for value in found if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan


def _against_rest(scored: Scored) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Yield the weights of each class and of the rest at each distinct score, the highest score first."""
    for number in (1,) if scored.scores.ndim == 1 else range(scored.scores.shape[1]):
        scores = scored.scores if scored.scores.ndim == 1 else scored.scores[:, number]
        values, places = np.unique(-scores, return_inverse=True)
        is_own = scored.target == number
        own: NDArray[Any] = np.bincount(places, scored.weights * is_own, len(values))
        rest: NDArray[Any] = np.bincount(places, scored.weights * ~is_own, len(values))
        yield own, rest


def _auc(own: NDArray[np.float64], rest: NDArray[np.float64]) -> float:
    pairs = own.sum() * rest.sum()
    return float(rest @ (np.cumsum(own) - own / 2) / pairs) if pairs else math.nan


def _average_precision(own: NDArray[np.float64], rest: NDArray[np.float64]) -> float:
    total = own.sum()
    if not total or not rest.sum():
        return math.nan
    precision = np.cumsum(own) / np.maximum(np.cumsum(own + rest), np.finfo(np.float64).tiny)
    return float(own @ precision / total)
