"""Test data, and its size in a full run and in a quick one.

Tables are generated without temporary copies, so that a child's peak memory before the measurement is the table and
nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import datasets
import numpy as np

QUICK = os.environ.get("QUICK", "0") not in ("", "0")
"""A smoke test: it runs everything, but its figures mean nothing."""

FEATURES = 22
"""Number of features of ijcnn1."""
WIDE_FEATURES = 254
"""Number of features of the paper's webspam."""
DIGIT_FEATURES = 256
"""Number of features of images of 16 × 16 pixels, such as USPS."""
SEARCH_FEATURES = 20
FIELDS = 39
"""Number of categorical fields of a sample in the sparse table, as in Criteo's data."""
CATEGORIES = 100_000
"""Number of columns of the sparse table: the categories of all fields."""
BLOCK = 8_192
"""Samples generated at a time."""
CLASSES = 10
"""Number of classes for measurements of multiclass training."""


@dataclass(frozen=True)
class Sizes:
    """Numbers of samples, repetitions and epochs."""

    scored: int
    scored_slowly: int
    """For systems that take microseconds per sample."""
    memory: int
    """Samples scored while measuring peak memory, the same for all systems."""
    trained: int
    grown: int
    """Samples for measuring how the cost grows with n, d, m, b, K and T."""
    wide: int
    many_classes: int
    """For training CLASSES classes on DIGIT_FEATURES features."""
    large: int
    """For training on several threads."""
    sparse: int
    searched: int
    """For the search of `max_bytes`."""
    rounds: int
    epochs: int
    few_epochs: int
    """For the growth measurements and the wide, large and sparse tables."""
    many_epochs: int
    """For many classes; the default of binfm."""


FULL = Sizes(
    scored=1_000_000,
    scored_slowly=100_000,
    memory=200_000,
    trained=35_000,
    grown=25_000,
    wide=350_000,
    many_classes=7_000,
    large=1_000_000,
    sparse=1_000_000,
    searched=10_000,
    rounds=5,
    epochs=20,
    few_epochs=5,
    many_epochs=30,
)
SMOKE = Sizes(
    scored=50_000,
    scored_slowly=2_000,
    memory=20_000,
    trained=3_000,
    grown=1_000,
    wide=1_000,
    many_classes=300,
    large=3_000,
    sparse=2_000,
    searched=300,
    rounds=1,
    epochs=2,
    few_epochs=1,
    many_epochs=1,
)
SIZES = SMOKE if QUICK else FULL


def synthetic(rows: int, features: int = FEATURES, classes: int = 2) -> tuple[Any, Any]:
    """Return normal features and balanced classes that depend on a product, a square and noise."""
    rng = np.random.default_rng(0)
    X, y = np.empty((rows, features), np.float32), np.empty(rows, np.int64)
    edges = None
    for start in range(0, rows, BLOCK):
        block = X[start : start + BLOCK]
        rng.standard_normal(out=block, dtype=np.float32)
        noise = rng.standard_normal(len(block), dtype=np.float32)
        hidden = block[:, 0] * block[:, 1] + block[:, 2] ** 2 + noise / 2
        edges = np.quantile(hidden, np.arange(1, classes) / classes) if edges is None else edges
        y[start : start + BLOCK] = np.searchsorted(edges, hidden)
    return X, y


def one_hot(rows: int, all_categories: int = CATEGORIES) -> tuple[Any, Any]:
    """Return a CSR matrix of one-hot fields with Zipf-distributed categories, and classes that depend on them."""
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(0)
    columns = np.empty((rows, FIELDS), np.int32)
    for field, categories in enumerate(np.array_split(np.arange(all_categories), FIELDS)):
        columns[:, field] = _zipf(rng.permutation(categories), rows, rng)  # frequent ones are not neighbors
    effects = rng.standard_normal(all_categories, dtype=np.float32)
    y = (effects[columns].sum(axis=1) > 0).astype(np.int64)
    starts = np.arange(0, columns.size + 1, FIELDS, dtype=np.int32)
    shape = (rows, all_categories)
    return csr_matrix((np.ones(columns.size, np.float32), columns.reshape(-1), starts), shape=shape), y


def words(rows: int, length: int = 100, vocabulary: int = 50_000) -> tuple[Any, Any]:
    """Return a CSR matrix of the counts of Zipf-distributed words in texts, and classes that depend on them."""
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(0)
    starts = np.concatenate(([0], np.cumsum(rng.poisson(length, rows))))
    columns = _zipf(rng.permutation(vocabulary), starts[-1], rng)
    X = csr_matrix((np.ones(len(columns), np.float32), columns, starts), shape=(rows, vocabulary))
    X.sum_duplicates()
    return X, (X @ rng.standard_normal(vocabulary) > 0).astype(np.int64)


def _zipf(categories: Any, rows: int, rng: np.random.Generator) -> Any:
    """Draw categories, the k-th of them in proportion to 1/k."""
    shares = np.cumsum(1 / np.arange(1, len(categories) + 1))
    return categories[np.searchsorted(shares, shares[-1] * rng.random(rows))]


def ijcnn1() -> tuple[Any, Any, str]:
    """Return the training part of ijcnn1, or synthetic data of its shape, with a description."""
    table = datasets.load("ijcnn1")
    if table is None:
        return *synthetic(SIZES.trained), f"synthetic data of ijcnn1's shape ({SIZES.trained:,} × {FEATURES})"
    X, y = table[0][: SIZES.trained], table[1][: SIZES.trained]
    return X, (y > 0).astype(np.int64), f"ijcnn1 ({len(y):,} × {X.shape[1]})"


def all_stored(numbers: Any) -> Any:
    """Wrap a dense array in a scipy CSR matrix that stores every element."""
    from scipy.sparse import csr_matrix

    rows, features = numbers.shape
    columns = np.tile(np.arange(features, dtype=np.int32), rows)
    starts = np.arange(0, rows * features + 1, features, dtype=np.int32)
    return csr_matrix((numbers.reshape(-1), columns, starts), shape=numbers.shape, copy=False)


def _normal(rows: int, features: int, dtype: Any = np.float32) -> Any:
    numbers = np.empty((rows, features), dtype)
    np.random.default_rng(0).standard_normal(out=numbers, dtype=dtype)
    return numbers


CSR = "CSR, float32, all stored"
INPUTS: dict[str, Callable[[int], Any]] = {
    "float32, C order": lambda rows: _normal(rows, FEATURES),
    "float64, C order": lambda rows: _normal(rows, FEATURES, np.float64),
    "float32, Fortran order": lambda rows: _normal(FEATURES, rows).T,
    "float32, X[::2]": lambda rows: _normal(2 * rows, FEATURES)[::2],
    "float32, X[:, ::2]": lambda rows: _normal(rows, 2 * FEATURES)[:, ::2],
    CSR: lambda rows: all_stored(_normal(rows, FEATURES)),
}
"""Kinds of input that binfm scores, as functions of the number of samples."""
