"""Data as the core takes it, and the size of a model of it, known before it is trained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from binfm import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm._inputs import Csr, Dense, Settings
    from binfm._labels import Labels
    from binfm._tables import Names

    Rows = NDArray[np.intp]
    Shape = tuple[int, int, str, tuple[int, ...]]


@dataclass(frozen=True)
class Problem:
    """What is to be learned."""

    table: Dense | Csr
    target: NDArray[np.float64]
    weight: NDArray[np.float64] | None
    labels: Labels
    vocabularies: dict[int, list[str]]
    names: Names = None
    """The columns of X, where they have names."""
    valid: tuple[Dense | Csr, NDArray[np.float64], NDArray[np.float64] | None] | None = None
    """Rows to measure the loss on after each epoch."""

    @property
    def functions(self) -> int:
        """Number of score functions."""
        classes = len(self.labels[1])
        return classes if classes > 2 else 1

    @property
    def values_a_row(self) -> float:
        """Number of columns; the mean number of stored values where X is sparse."""
        if isinstance(self.table, tuple):
            return len(self.table[1]) / max(1, len(self.table[0]) - 1)
        return float(self.table.shape[1])

    def take(self, rows: Rows) -> Problem:
        """Return some of the rows, without those of `valid`."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, table=_take(self.table, rows), target=self.target[rows], weight=weight, valid=None)

    def counted(self) -> Problem:
        """Return the rows of positive weight: others count for nothing."""
        if self.weight is None or (self.weight > 0).all():
            return replace(self, valid=None)
        return self.take(np.flatnonzero(self.weight > 0))

    def fit(self, settings: Settings, on_epoch: Any = None) -> tuple[_core.Model, list[dict[str, float]], int]:
        """Train; return the model, the record of each epoch and the number of the best."""
        return _core.train(
            self.table,
            self.target,
            self.weight,
            self.valid,
            self.labels,
            self.vocabularies,
            self.names,
            settings,
            on_epoch,
        )

    def encode(self, settings: Settings) -> _core.Model:
        """Return a model that has learned nothing but its features."""
        return _core.encode(self.table, self.target, self.weight, self.labels, self.vocabularies, settings)


def _take(table: Dense | Csr, rows: Rows) -> Dense | Csr:
    if not isinstance(table, tuple):
        return table[rows]
    starts, columns, values, width = table
    counts = np.diff(starts)[rows]
    ends = np.concatenate(([0], np.cumsum(counts)))
    at = np.repeat(starts[rows] - ends[:-1], counts) + np.arange(ends[-1])
    return ends.astype(np.int64), columns[at], values[at], width


class Sizes:
    """The size of a model's file, without training it; it is less where cells with the same signs become one.

    With p parameter rows, K score functions and m factors it has

        header + scales + features + ⌈p · K · (m + 1) / 8⌉ + labels + names + checksum        bytes.

    p and the bytes of the features follow from the data, its bins and what is left out, the rest from labels and names.
    """

    def __init__(self, problem: Problem, base: Settings, free: frozenset[str]) -> None:
        self._problem = problem
        self._base = replace(base, n_jobs=1)
        self._models: dict[tuple[int, int, str], _core.Model] = {}
        self._known: dict[Shape, tuple[int, int]] = {}
        # A table of one constant has no bits. Training on it also has the core check what the user gave.
        tilings = 1 if "tilings" in free else base.tilings
        b = tilings + 1 if "b" in free else base.b
        m = base.ensemble if "m" in free else base.m
        tiny = replace(
            base, m=m, b=b, tilings=tilings, epochs=min(base.epochs, 1), categorical=[], leave_out=(), holdout=0.0
        )
        one_row = replace(problem, table=np.zeros((1, 1)), target=np.zeros(1), weight=None, vocabularies={}, names=None)
        model, _, _ = one_row.fit(tiny)
        parts = dict(model.size_report())
        self._fixed = sum(parts.values()) - parts["features"] - parts["bits"] + _names_bytes(problem.names)

    def learn(self, b: int, tilings: int, binning: str) -> None:
        """Encode X, so that the sizes of models with these bins are known."""
        bins = replace(self._base, b=b, tilings=tilings, binning=binning)
        self._models[b, tilings, binning] = self._problem.encode(bins)

    def nbytes(self, settings: Settings) -> int:
        """Return the size of the file of a model with these settings."""
        rows, features = self._parts(settings)
        return self._fixed + features + -(-rows * self._problem.functions * (settings.m + 1) // 8)

    def largest_m(self, settings: Settings, limit: int) -> int:
        """Return the most factors that such a model can have in so many bytes; below 1 if it cannot be."""
        rows, features = self._parts(settings)
        left = limit - self._fixed - features
        if left < 0:
            return 0
        bits = max(1, rows * self._problem.functions)
        return min(8 * left // bits - 1, MOST_M) if rows else MOST_M

    def _parts(self, settings: Settings) -> tuple[int, int]:
        """Return the parameter rows and the bytes of the features."""
        bins = (settings.b, settings.tilings, settings.binning)
        shape = (*bins, settings.leave_out)
        if shape not in self._known:
            self._known[shape] = self._models[bins].size_without(list(settings.leave_out))
        return self._known[shape]


def _names_bytes(names: Names) -> int:
    """Return the bytes of the names: a count of seven bits a byte, and the text."""
    sizes = [len(name.encode()) for name in names or ()]
    return sum(size + max(1, -(-size.bit_length() // 7)) for size in sizes)


MOST_M = 65_535
"""The number of factors has two bytes in the file."""
