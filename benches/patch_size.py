"""Would a patch from one model to its successor be smaller than the successor? `python benches/patch_size.py`.

Trains a model, then others on the same rows and a tenth more, or with another seed, and compares their bits. A patch
that says which bits differ takes at least their entropy: with w and V apart, that of the share that differs. Edges that
move come on top. Data sets come from the folder that BINFM_DATA names.
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
MORE = 1.1
"""Rows of the successor for each one of the first model."""


def main() -> None:
    print(
        "data, successor, share of w and of V that differs, least bytes of a patch, bytes of the bits, edges that moved"
    )
    for name, shape in SHAPES.items():
        for line in _compare(name, shape):
            print(name, line, sep=": ", flush=True)


def _compare(name: str, shape: dict[str, int]) -> Iterator[str]:
    X, y = _load(name)
    rows = int(len(X) / MORE)
    first = binfm.train(X[:rows], y[:rows], **shape)
    for what, n, seed in (("a tenth more rows", len(X), 0), ("another seed", rows, 1), ("both", len(X), 1)):
        successor = binfm.train(X[:n], y[:n], seed=seed, **shape)
        differ = [np.mean(a != b) for a, b in ((first.w, successor.w), (first.V, successor.V))]
        sizes = [first.w.size, first.V.size]
        least = math.fsum(n * _entropy(p) for n, p in zip(sizes, differ, strict=True)) / 8
        yield (
            f"{what}: {differ[0]:.0%} and {differ[1]:.0%}, {least:.0f} of {sum(sizes) / 8:.0f} bytes "
            f"({8 * least / sum(sizes):.0%}), {_moved(first, successor)}"
        )


def _moved(first: binfm.Model, successor: binfm.Model) -> str:
    pairs = [(np.asarray(a), np.asarray(b)) for a, b in zip(first.edges, successor.edges, strict=True)]
    moved = sum(len(b) if len(a) != len(b) else int(np.sum(a != b)) for a, b in pairs)
    return f"{moved} of {sum(len(b) for _, b in pairs)} edges"


def _entropy(p: float) -> float:
    """Return the bits that it takes to say whether something of this probability happened."""
    return 0.0 if p in (0.0, 1.0) else -p * math.log2(p) - (1 - p) * math.log2(1 - p)


def _load(name: str) -> tuple[Any, Any]:
    """Return the rows of a set, its training part if it has one, in random order."""
    with np.load(Path(os.environ["BINFM_DATA"]) / f"{name}.npz") as file:
        train = file["split"] == 0 if "split" in file else np.full(len(file["y"]), True)
        X, y = file["X"][train], file["y"][train]
    order = np.random.default_rng(0).permutation(len(X))
    return X[order], y[order]


if __name__ == "__main__":
    main()
