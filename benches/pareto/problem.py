"""The problem that every system solves: a data set, a split, the budgets and the folds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import datasets
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

DATA = (
    "banana",
    "magic",
    "phoneme",
    "ringnorm",
    "spambase",
    "ijcnn1",
    "segment",
    "satimage",
    "pendigits",
    "optdigits",
    "texture",
    "letter_scale",
)
SEEDS = (0, 1, 2)
"""Seeds of the 70/30 splits, the first of those in `make -C benches accuracy`."""
BUDGETS = (256, 512, 1_024, 2_048, 4_096, 8_192, 16_384)
"""Maximum model sizes in bytes."""
UNLIMITED = 0
"""Key for models without a budget."""
FOLDS = 3
"""Folds of the training part. More would cost the peers time and hardly change which settings win."""

Codes = NDArray[np.int64]
"""Class labels as 0, 1, …, classes − 1."""


@dataclass(frozen=True)
class Problem:
    """A training part and a test part. The test part is used only once, at the end of a measurement."""

    name: str
    seed: int
    X: NDArray[np.float32]
    y: Codes
    X_test: NDArray[np.float32]
    y_test: Codes

    @cached_property
    def classes(self) -> int:
        return int(self.y.max()) + 1

    def folds(self) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """Return the samples to fit and to validate on, the same for every system."""
        return list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(self.X, self.y))

    def test_accuracy(self, predicted: NDArray[Any]) -> float:
        return float(np.mean(predicted == self.y_test))

    def most_frequent(self) -> float:
        """Return the test accuracy of always predicting the most frequent class, which takes one byte."""
        return self.test_accuracy(np.full(len(self.y_test), np.bincount(self.y).argmax()))


def problems(name: str) -> Iterator[Problem] | None:
    """Return the splits of a data set, or None if it is missing."""
    table = datasets.load(name)
    return None if table is None else _splits(name, *table)


def _splits(name: str, X: NDArray[Any], y: NDArray[Any]) -> Iterator[Problem]:
    X, y = np.asarray(X, np.float32), np.unique(y, return_inverse=True)[1]
    for seed in SEEDS:
        X_train, X_test, y_train, y_test = datasets.split(X, y, seed)
        yield Problem(name, seed, X_train, y_train, X_test, y_test)
