"""The loss of a constant, which any model should beat."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from binfm._checks import warn
from binfm.data.dataset import Dataset

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm.cache.cache import Stored
    from binfm.params import Params

MARGIN, SLACK = 1.01, 0.005
"""A loss above that of a constant by a smaller factor, or by less, may be chance."""
NORMAL_DEVIATION = math.sqrt(math.pi / 2)
"""Standard deviation of a normal distribution over its mean distance from the median."""
CHUNK = 1 << 20
"""Samples that are counted together."""
FIRST_EPOCHS = 5
"""Training that ends sooner has hardly begun."""


def warn_of_high_loss(
    history: list[dict[str, float]], best: int, dataset: Dataset | Stored, valid: Dataset | None, params: Params
) -> None:
    """Warn if the model of the best epoch is worse than one that ignores X."""
    record = history[best - 1]
    is_held_out = "val_loss" in record
    loss = record["val_loss" if is_held_out else "loss"]
    constant = constant_loss(valid if valid is not None and is_held_out else dataset, params.loss, params.delta)
    if len(history) < FIRST_EPOCHS or not params.scaling or loss <= MARGIN * constant + SLACK:
        return
    where = "held-out samples" if is_held_out else "the training samples"
    advice = "try a smaller learning_rate or fewer epochs"
    if not params.is_quiet:
        advice = f"{advice}, or regularization='auto'"
    warn(
        f"the loss on {where}, {loss:.4g}, is above that of a model that ignores X, {constant:.4g}: X may say little "
        f"about y, or the model follows its noise; {advice}"
    )


def constant_loss(dataset: Dataset | Stored, loss: str, delta: float = 0.5) -> float:
    """Return the least mean loss of a model that gives every sample the same scores."""
    if loss == "squared":
        return 0.5  # of a target with a standard deviation of 1, which it has in training
    if isinstance(dataset, Dataset) and dataset.is_regression:
        return _of_numbers(dataset, loss, delta)
    shares = np.zeros(len(dataset.labels.values))
    for first in range(0, len(dataset), CHUNK):
        part = slice(first, first + CHUNK)
        weight = None if dataset.weight is None else dataset.weight[part]
        shares += np.bincount(dataset.target[part].astype(np.intp), weight, len(shares))
    shares = shares / shares.sum()
    if loss == "softmax":
        return _entropy(shares)
    if loss == "hinge":
        return float(np.mean(2 * np.minimum(shares, 1 - shares)))
    if loss == "squared_hinge":
        return float(np.mean(4 * shares * (1 - shares)))
    return float(np.mean([_entropy(np.array([share, 1 - share])) for share in shares]))


def _of_numbers(dataset: Dataset, loss: str, delta: float) -> float:
    """Return the same for numbers, in the units in which they are learned: a spread, or for "poisson" a mean, of 1."""
    y = dataset.target
    weights = np.ones(len(y)) if dataset.weight is None else dataset.weight
    if loss == "poisson":
        y = y / (np.average(y, weights=weights) or 1.0)
        return float(np.average(y * np.log(np.where(y > 0, y, 1.0)), weights=weights))
    order = np.argsort(y)
    shares = np.cumsum(weights[order])
    median, center = (y[order[np.searchsorted(shares, share * shares[-1])]] for share in (0.5, dataset.quantile))
    spread = NORMAL_DEVIATION * np.average(np.abs(y - median), weights=weights) or 1.0
    if loss == "huber":
        far = np.abs(y - median) / spread
        losses = np.where(far < delta, far**2 / 2, delta * (far - delta / 2))
    else:
        above = (y - center) / spread
        losses = np.maximum(dataset.quantile * above, (dataset.quantile - 1) * above)
    return float(np.average(losses, weights=weights))


def _entropy(shares: NDArray[np.float64]) -> float:
    return float(-sum(share * math.log(share) for share in shares if share > 0))
