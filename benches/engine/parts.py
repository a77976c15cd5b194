"""The samples that a build trains on and is judged by."""

from __future__ import annotations

from typing import Any, NamedTuple

import datasets
import numpy as np
from pareto.problem import DATA

NOISY = ("sleep", "adult", "nycflights_delay", "w8a", "a9a")
SETS = (*DATA, *NOISY)
TEST_SHARE = 0.25
MOST_SAMPLES = 60_000
"""Training samples of a split at most."""
OUTER_SEED = 1_000
"""Seed of the split whose training part `inside` uses; no split of a run has it."""


class Parts(NamedTuple):
    X: Any
    y: Any
    X_test: Any
    y_test: Any


def parts(name: str, seed: int, inside: bool) -> Parts | None:
    """Return a random split of a data set, or of its training part if `inside`; None if the data set is missing."""
    table = datasets.load(name)
    if table is None:
        return None
    X, y = table[0], np.unique(table[1], return_inverse=True)[1]
    if inside:
        X, _, y, _ = datasets.split(X, y, OUTER_SEED, TEST_SHARE)
    X_train, X_test, y_train, y_test = datasets.split(X, y, seed, TEST_SHARE)
    return Parts(X_train[:MOST_SAMPLES], y_train[:MOST_SAMPLES], X_test, y_test)
