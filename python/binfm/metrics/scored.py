"""Scores of samples, with what they should say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from binfm.attributes import PROBABILISTIC

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm.data.targets import Labels


class NoProbabilitiesError(ValueError):
    """A metric needs probabilities, which the scores of this loss do not give."""


@dataclass(frozen=True, eq=False)
class Scored:
    """What a model says about some samples, and what it should say."""

    target: NDArray[np.float64]
    """Numbers of classes, or the numbers to predict."""
    scores: NDArray[np.float64]
    """As `decision_function` returns them: shape (n,), or (n, classes) if there are more than two."""
    weight: NDArray[np.float64] | None
    labels: Labels
    loss: str
    quantile: float = 0.5
    """The quantile that scores are, if the loss is that of one."""

    @property
    def y(self) -> NDArray[Any]:
        """The target as it was given: class labels, or numbers."""
        return self.target if self.labels.kind == "none" else self.labels.as_array()[self.numbers]

    @property
    def numbers(self) -> NDArray[np.intp]:
        """The number of each sample's class."""
        return self.target.astype(np.intp)

    @property
    def predicted(self) -> NDArray[np.intp]:
        """The number of the class that is predicted for each sample."""
        numbers = self.scores > 0 if self.scores.ndim == 1 else self.scores.argmax(axis=1)
        return numbers.astype(np.intp)

    @property
    def prediction(self) -> NDArray[np.float64]:
        """The number that is predicted for each sample."""
        with np.errstate(over="ignore"):
            return np.exp(self.scores) if self.loss == "poisson" else self.scores

    @property
    def weights(self) -> NDArray[np.float64]:
        """A weight for each sample."""
        return np.ones(len(self.target)) if self.weight is None else self.weight

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The probability of each class, as `predict_proba` returns it."""
        if self.loss not in PROBABILISTIC:
            raise NoProbabilitiesError(f"it needs probabilities: loss must be logistic or softmax, got {self.loss!r}")
        if self.scores.ndim == 1:
            return _sigmoid(np.column_stack([-self.scores, self.scores]))
        if self.loss == "softmax":
            parts = np.exp(self.scores - self.scores.max(axis=1, keepdims=True))
        else:
            parts = _sigmoid(self.scores)
        sums = parts.sum(axis=1, keepdims=True)
        shares: NDArray[np.float64] = np.full_like(parts, 1 / parts.shape[1])
        np.divide(parts, sums, out=shares, where=sums > 0)
        return shares


def _sigmoid(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-scores))
