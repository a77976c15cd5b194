"""What kind of numbers each column of a table holds, so that pictures can write them as their owner does.

A model knows its edges, but not whether they were dates or whole numbers: that is read from the table at hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from binfm.data.frames import Frame

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm.data.arrays import Csr, Dense

FIRST = 1000
"""Values that are looked at first: most columns with fractions have one among these."""
ENOUGH = 10
"""Fewer values do not show that a column holds only whole numbers."""


@dataclass(frozen=True)
class ValueKind:
    """What the numbers of a column are, as far as a table shows it."""

    is_date: bool = False
    """Dates or moments, as days since 1970."""
    is_whole: bool = False
    """Only whole numbers, or dates without a time of day."""
    is_flag: bool = False
    """Only 0 and 1."""


def kinds_of(X: Any, table: Dense | Csr) -> dict[int, ValueKind]:
    """Return what the columns hold, if it is more than any numbers; `table` is X as the core reads it."""
    dates = date_columns(X)
    whole, flags = _of_csr(table) if isinstance(table, tuple) else _of_dense(table)
    known = {*np.flatnonzero(whole).tolist(), *dates}
    return {j: ValueKind(j in dates, bool(whole[j]), bool(flags[j])) for j in known}


def date_columns(X: Any) -> set[int]:
    """Return the columns of dates; there are none in arrays of numbers."""
    return {j for j, column in enumerate(X.columns) if column.is_date} if isinstance(X, Frame) else set()


def _of_csr(table: Csr) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    _, columns, values, width = table
    whole = np.bincount(columns[np.isfinite(values)], minlength=width) >= ENOUGH
    whole[columns[_has_fraction(values)]] = False
    flags = whole.copy()
    flags[columns[~_is_flag(values)]] = False
    return whole, flags


def _of_dense(table: Dense) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    whole: NDArray[np.bool_] = np.logical_not(_has_fraction(table[:FIRST]).any(axis=0))
    flags = np.zeros(len(whole), bool)
    for j in np.flatnonzero(whole):
        column = table[:, j]
        whole[j] = np.isfinite(column).sum() >= ENOUGH and not _has_fraction(column).any()
        flags[j] = whole[j] and _is_flag(column).all()
    return whole, flags


def _has_fraction(values: NDArray[Any]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = np.isfinite(values) & (values != np.floor(values))
    return found


def _is_flag(values: NDArray[Any]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (values == 0) | (values == 1) | np.isnan(values)
    return found
