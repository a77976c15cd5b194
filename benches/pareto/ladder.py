"""Ladders: one fit, cut to a smaller model at every step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pareto.problem import BUDGETS, Codes

STEP_RATIO = 1.12
"""Growth from one step to the next: an eighth of a budget is the most that coarse steps leave unused."""


class Ladder(Protocol):
    """A fitted model that can be cut: after some boosting rounds, splits or weights."""

    sizes: dict[int, int]
    """Steps in rising order and their bytes, as far as the largest budget."""

    def predictions(self, X: NDArray[Any]) -> Iterator[Codes]:
        """Yield the predicted classes at each step of `sizes`."""

    def predict(self, step: int, X: NDArray[Any]) -> Codes:
        """Return the predicted classes at one step, from the very model whose bytes were counted."""


def steps(last: int) -> list[int]:
    """Return 1, 2, 3, … up to `last`, in growing strides."""
    found = [1]
    while found[-1] < last:
        found.append(min(last, max(found[-1] + 1, int(found[-1] * STEP_RATIO))))
    return found


def within_budgets(sizes: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Keep the steps before the first that no budget allows."""
    kept = {}
    for step, size in sizes:
        if size > BUDGETS[-1]:
            break
        kept[step] = size
    return kept


def classes_of(margins: NDArray[Any]) -> Codes:
    """Return the class of each row of margins: of one column for two classes, else of one a class."""
    if margins.ndim == 1 or margins.shape[1] == 1:
        return (margins.ravel() > 0).astype(np.int64)
    return margins.argmax(axis=1)


def classes_of_sums(pieces: Iterable[NDArray[Any]]) -> Iterator[Codes]:
    """Yield the classes of the running sum of the margins that each stretch of rounds adds."""
    total: NDArray[Any] | float = 0.0
    for piece in pieces:
        total = total + piece.astype(np.float64)
        yield classes_of(total)
