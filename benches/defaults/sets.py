"""The data sets, their variants and their splits.

A name may end in a variant:
"+N" adds 18 columns of noise, draws 30 % of the labels again among all classes, and keeps at most 7,500 samples;
"+S" keeps 1,000 training samples.
The set "wide" has 1,500 samples of 5,000 normal numbers; its label is whether the first two add up to more than zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import datasets
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from defaults import regression

PLAIN = (
    "banana", "phoneme", "magic", "ringnorm", "spambase", "ijcnn1", "adult", "nycflights_delay", "a9a", "breast_cancer",
    "segment", "satimage", "pendigits", "optdigits", "texture", "letter_scale", "sleep", "covtype",
)  # fmt: skip
NOISY = ("magic+N", "phoneme+N", "ringnorm+N")
SMALL = ("adult+S", "satimage+S", "sleep+S")
WIDE = ("wide",)
CLASSIFICATION = (*PLAIN, *NOISY, *SMALL, *WIDE)
REGRESSION = tuple(regression.LOADERS)
SETS = (*CLASSIFICATION, *REGRESSION)

SPLITS = 3
MOST_SAMPLES = 20_000
"""Training samples of a split at most, and test samples."""
SMALL_SAMPLES = 1_000
NOISY_SAMPLES = 7_500
NOISE_COLUMNS = 18
REDRAWN = 0.3
WIDE_SHAPE = (1_500, 5_000)


@dataclass(frozen=True)
class Table:
    """A whole data set; `classes` is None for regression, and otherwise y holds the codes 0, 1, …, classes − 1."""

    X: NDArray[np.float32]
    y: NDArray[Any]
    categorical: tuple[int, ...]
    classes: int | None


@dataclass(frozen=True)
class Split:
    """A training part and a test part of a table."""

    X: NDArray[np.float32]
    y: NDArray[Any]
    X_test: NDArray[np.float32]
    y_test: NDArray[Any]
    categorical: tuple[int, ...]
    classes: int | None

    @property
    def numeric(self) -> list[int]:
        return [column for column in range(self.X.shape[1]) if column not in self.categorical]


@lru_cache(maxsize=1)
def load(name: str) -> Table | None:
    """Return a data set, or None if no source has it."""
    if name in regression.LOADERS:
        numbers = regression.LOADERS[name]()
        return None if numbers is None else _table(numbers.X, numbers.y, numbers.categorical, None)
    if name in WIDE:
        return _wide()
    base, _, variant = name.partition("+")
    found = datasets.load(base)
    if found is None:
        return None
    labels, y = np.unique(found[1], return_inverse=True)
    table = _table(found[0], y, tuple(datasets.categorical(base)), len(labels))
    return _noisy(table) if variant == "N" else table


def split(name: str, seed: int, most: int = MOST_SAMPLES) -> Split:
    """Return a random 70/30 split with at most `most` samples in each part, stratified by class."""
    table = load(name)
    if table is None:
        raise LookupError(f"{name} is missing")
    n_test = int(np.ceil(datasets.TEST_SHARE * len(table.y)))
    small = min(most, SMALL_SAMPLES) if name in SMALL else most
    X, X_test, y, y_test = train_test_split(
        table.X,
        table.y,
        train_size=min(len(table.y) - n_test, small),
        test_size=min(n_test, most),
        stratify=None if table.classes is None else table.y,
        random_state=seed,
    )
    return Split(X, y, X_test, y_test, table.categorical, table.classes)


def _table(X: Any, y: NDArray[Any], categorical: tuple[int, ...], classes: int | None) -> Table:
    return Table(np.ascontiguousarray(X, np.float32), y, categorical, classes)


def _noisy(table: Table) -> Table:
    rng = np.random.default_rng(0)
    kept = rng.permutation(len(table.y))[:NOISY_SAMPLES]
    X, y = table.X[kept], table.y[kept]
    noise = rng.normal(size=(len(y), NOISE_COLUMNS))
    y = np.where(rng.random(len(y)) < REDRAWN, rng.integers(0, table.classes, len(y)), y)
    return _table(np.hstack([X, noise]), y, table.categorical, table.classes)


def _wide() -> Table:
    X = np.random.default_rng(0).normal(size=WIDE_SHAPE)
    return _table(X, (X[:, 0] + X[:, 1] > 0).astype(np.int64), (), 2)
