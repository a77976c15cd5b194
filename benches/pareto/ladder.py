"""Ladders: one fit that can be cut to smaller models, one per step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pareto.problem import BUDGETS, Codes

STEP_RATIO = 1.12
"""Growth from one step to the next. Steps this coarse leave at most an eighth of a budget unused."""


class Ladder(Protocol):
    """A fitted model that can be cut after a number of boosting rounds, splits or weights."""

    sizes: dict[int, int]
    """Steps in ascending order and their bytes, up to the largest budget."""

    def predictions(self, X: NDArray[Any]) -> Iterator[Codes]:
        """Yield the predicted classes at each step of `sizes`."""

    def predict(self, step: int, X: NDArray[Any]) -> Codes:
        """Return the predicted classes at one step, from the same model whose bytes were counted."""


def steps(last: int) -> list[int]:
    """Return 1, 2, 3, …, `last`, in growing strides."""
    found = [1]
    while found[-1] < last:
        found.append(min(last, max(found[-1] + 1, int(found[-1] * STEP_RATIO))))
    return found


def within_budgets(sizes: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Keep the steps before the first one that exceeds the largest budget."""
    kept = {}
    for step, size in sizes:
        if size > BUDGETS[-1]:
            break
        kept[step] = size
    return kept


def classes_of(margins: NDArray[Any]) -> Codes:
    """Return the class of each sample from its margins: one column for two classes, otherwise one per class."""
    if margins.ndim == 1 or margins.shape[1] == 1:
        return (margins.ravel() > 0).astype(np.int64)
    return margins.argmax(axis=1)


def classes_of_running_sums(pieces: Iterable[NDArray[Any]]) -> Iterator[Codes]:
    """Yield the classes given by the running sum of the margins that each group of rounds adds."""
    total: NDArray[Any] | float = 0.0
    for piece in pieces:
        total = total + piece.astype(np.float64)
        yield classes_of(total)
