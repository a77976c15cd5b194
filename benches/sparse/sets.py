"""Sparse and categorical data sets, each with the split by which others have published.

They come from ``<name>.npz`` in the folder named by BINFM_DATA; a set that is not there is left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Part:
    """Training and test samples. X is an array or a CSR matrix; `categorical` lists its columns of categories."""

    X: Any
    y: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any]
    categorical: tuple[int, ...] = ()
    is_ratings: bool = False
    """Whether y is a number; else it is 0 or 1."""


@dataclass(frozen=True)
class Source:
    """A file, and how to make a part of its arrays."""

    file: str
    part: Callable[[Arrays], Part]
    split: str
    """For the page."""


CRITEO_TRAINING = 32_000
TEST_SHARE = 0.3


def _criteo(found: Arrays) -> Part:
    X = np.concatenate([found["I"], found["C"].astype(np.float32)], axis=1)
    y, numbers, n = found["y"] > 0, found["I"].shape[1], CRITEO_TRAINING
    return Part(X[:n], y[:n], X[n:], y[n:], tuple(range(numbers, X.shape[1])))


def _movies(found: Arrays, genres: bool) -> Part:
    def table(part: str) -> NDArray[np.float32]:
        fields = [found[f"X_{part}"]] + ([found[f"genres_{part}"]] if genres else [])
        return np.concatenate(fields, axis=1).astype(np.float32)

    X = table("train")
    y, y_test = (found[f"y_{part}"].astype(np.float64) for part in ("train", "test"))
    return Part(X, y, table("test"), y_test, tuple(range(X.shape[1])), is_ratings=True)


def _ratings(found: Arrays) -> Part:
    X, y, test = found["X"].astype(np.float32), found["y"].astype(np.float64), found["test"]
    return Part(X[~test], y[~test], X[test], y[test], tuple(range(X.shape[1])), is_ratings=True)


def _flights(found: Arrays) -> Part:
    X, y = found["X"].astype(np.float32), found["y"] > 0
    order = np.random.default_rng(0).permutation(len(y))
    train, test = np.split(order, [round(len(y) * (1 - TEST_SHARE))])
    return Part(X[train], y[train], X[test], y[test], tuple(range(X.shape[1])))


def _webpages(found: Arrays) -> Part:
    from scipy.sparse import csr_matrix

    X = csr_matrix((found["data"].astype(np.float32), found["indices"], found["indptr"]), shape=tuple(found["shape"]))
    y = found["y"] > 0
    order = np.random.default_rng(0).permutation(len(y))
    train, test = np.split(order, [round(len(y) * (1 - TEST_SHARE))])
    return Part(X[train], y[train], X[test], y[test])


def _census(found: Arrays) -> Part:
    from scipy.sparse import csr_matrix

    X, y, test = csr_matrix(found["X"]), found["y"] > 0, found["split"] == 1
    return Part(X[~test], y[~test], X[test], y[test])


SOURCES = {
    "criteo_40k": Source("criteo_40k", _criteo, "first 32,000 and last 8,000 in time"),
    "ml100k": Source("ml100k_u1", lambda found: _movies(found, genres=False), "u1"),
    "ml100k+genres": Source("ml100k_u1", lambda found: _movies(found, genres=True), "u1"),
    "ml1m": Source("ml1m", _ratings, "given"),
    "yelp": Source("yelp_hin", _ratings, "given"),
    "nycflights": Source("nycflights_delay", _flights, "random, 70 and 30 %"),
    "w8a": Source("w8a_csr", _webpages, "random, 70 and 30 %"),
    "a9a": Source("a9a", _census, "LIBSVM's"),
}


def load(name: str) -> Part | None:
    """Return a data set, or None if it is not in the folder."""
    folder, source = os.environ.get("BINFM_DATA"), SOURCES[name]
    path = Path(folder or ".") / f"{source.file}.npz"
    if folder is None or not path.is_file():
        return None
    with np.load(path) as file:
        return source.part({key: file[key] for key in file.files})


def held_out(part: Part, seed: int = 0, share: float = 0.2) -> Part:
    """Return a part inside the training samples, to choose settings by."""
    order = np.random.default_rng(seed).permutation(len(part.y))
    train, test = np.split(order, [round(len(part.y) * (1 - share))])
    return Part(part.X[train], part.y[train], part.X[test], part.y[test], part.categorical, part.is_ratings)
