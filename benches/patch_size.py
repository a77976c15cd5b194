"""Would a patch from one model to its successor be smaller than the successor? `python benches/patch_size.py`.

Trains a model, then successors on 10 % more samples, with another seed, or both, and compares their bits. A patch that
lists the changed bits takes at least their entropy, computed separately for w and V from the share that changed. Edges
that moved would add to it. Data sets are read from the folder named by BINFM_DATA.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import binfm
import numpy as np

SHAPES = {
    "ijcnn1": {"m": 16, "b": 20, "tilings": 1},
    "magic": {"m": 16, "b": 20, "tilings": 4},
    "pendigits": {"m": 8, "b": 16, "tilings": 4},
    "spambase": {"m": 8, "b": 12, "tilings": 2},
}
GROWTH = 1.1
"""Training samples of the successor per training sample of the first model."""


def main() -> None:
    print(
        "data, successor, changed share of w and of V, lower bound of a patch in bytes, bytes of the bits, moved edges"
    )
    for name, shape in SHAPES.items():
        for line in _compare(name, shape):
            print(name, line, sep=": ", flush=True)


def _compare(name: str, shape: dict[str, int]) -> Iterator[str]:
    X, y = _load(name)
    n_samples = int(len(X) / GROWTH)
    first = binfm.train(X[:n_samples], y[:n_samples], **shape)
    for change, n, seed in (("10 % more samples", len(X), 0), ("another seed", n_samples, 1), ("both", len(X), 1)):
        successor = binfm.train(X[:n], y[:n], seed=seed, **shape)
        changed = [np.mean(a != b) for a, b in ((first.w, successor.w), (first.V, successor.V))]
        sizes = [first.w.size, first.V.size]
        bound = math.fsum(n * _entropy(p) for n, p in zip(sizes, changed, strict=True)) / 8
        yield (
            f"{change}: {changed[0]:.0%} and {changed[1]:.0%}, {bound:.0f} of {sum(sizes) / 8:.0f} bytes "
            f"({8 * bound / sum(sizes):.0%}), {_moved(first, successor)}"
        )


def _moved(first: binfm.Model, successor: binfm.Model) -> str:
    pairs = [(np.asarray(a), np.asarray(b)) for a, b in zip(first.edges, successor.edges, strict=True)]
    moved = sum(len(b) if len(a) != len(b) else int(np.sum(a != b)) for a, b in pairs)
    return f"{moved} of {sum(len(b) for _, b in pairs)} edges"


def _entropy(p: float) -> float:
    """Return the entropy in bits of an event with probability p."""
    return 0.0 if p in (0.0, 1.0) else -p * math.log2(p) - (1 - p) * math.log2(1 - p)


def _load(name: str) -> tuple[Any, Any]:
    """Return the samples of a data set in random order; only the training part if it has a split."""
    with np.load(Path(os.environ["BINFM_DATA"]) / f"{name}.npz") as file:
        train = file["split"] == 0 if "split" in file else np.full(len(file["y"]), True)
        X, y = file["X"][train], file["y"][train]
    order = np.random.default_rng(0).permutation(len(X))
    return X[order], y[order]


if __name__ == "__main__":
    main()
