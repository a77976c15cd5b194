"""Rows chosen by a hash of their values: the same ones in whatever order they come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm.data.arrays import Dense

MAX_ROWS = 10_000
"""Rows to choose parameters by; training in memory chooses by as many."""
FACTOR = 0x9E3779B97F4A7C15
"""2⁶⁴ / golden ratio."""


class RowSample:
    """Rows of the smallest hashes."""

    def __init__(self) -> None:
        self._parts: list[tuple[NDArray[Any], ...]] = []
        self._limit = np.uint64(np.iinfo(np.uint64).max)
        self._seen = self._kept = 0

    def add(self, table: Dense, y: NDArray[Any], weight: NDArray[np.float64] | None, columns: list[int]) -> None:
        """Add rows; `columns` are those whose values do not depend on their order."""
        hashes = row_hashes(table[:, columns])
        weight = np.ones(len(table)) if weight is None else weight
        order = np.arange(self._seen, self._seen + len(table))
        self._seen += len(table)
        keep = np.flatnonzero(hashes <= self._limit)
        self._parts.append((hashes[keep], order[keep], table[keep], y[keep], weight[keep]))
        self._kept += len(keep)
        if self._kept > 2 * MAX_ROWS:
            self._reduce()

    def renumber(self, places: dict[int, NDArray[np.float32]]) -> None:
        """Replace the numbers of texts by others."""
        self._reduce()
        hashes, order, table, y, weight = self._parts[0]
        for j, new in places.items():
            column = table[:, j]
            known = ~np.isnan(column)
            column[known] = new[column[known].astype(np.intp)]
        self._parts = [(hashes, order, table, y, weight)]

    def rows(self) -> tuple[Dense, NDArray[Any], NDArray[np.float64] | None]:
        """Return the rows in the order in which they came."""
        self._reduce()
        _, order, table, y, weight = self._parts[0]
        first = np.argsort(order)
        return table[first], y[first], None if (weight == 1).all() else weight[first]

    def _reduce(self) -> None:
        parts = [np.concatenate(part) for part in zip(*self._parts, strict=True)]
        first = np.lexsort((parts[1], parts[0]))[:MAX_ROWS]
        self._parts = [tuple(part[first] for part in parts)]
        self._kept = len(first)
        if self._kept == MAX_ROWS:
            self._limit = self._parts[0][0][-1]


def row_hashes(table: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a hash of each row, of its values as float32."""
    with np.errstate(over="ignore"):
        bits = np.ascontiguousarray(table, np.float32).view(np.uint32)
        hashes = np.zeros(len(table), np.uint64)
        for j in range(bits.shape[1]):
            factor = np.uint64((FACTOR * (2 * j + 1)) % 2**64)
            hashes = (hashes ^ bits[:, j]) * factor
            hashes ^= hashes >> np.uint64(29)
    return hashes
