"""Tables with named columns: pandas, polars, Arrow.

A column of numbers, booleans, dates or times becomes numbers, with NaN for missing values. A column of text or
categories stays a list of its values, never of codes, which mean one thing in one table and another in the next.
"""

from __future__ import annotations

import datetime
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from binfm._core import ArrowTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Names: TypeAlias = tuple[str, ...] | None


@dataclass(frozen=True, eq=False)
class Distinct:
    """Distinct objects, so that work on a value is done once however often it occurs."""

    objects: list[Any]
    places: NDArray[np.intp]
    """The place in `objects` of each sample's value."""

    @classmethod
    def of(cls, values: Sequence[Any], name: str) -> Distinct:
        """Find the distinct values."""
        found: dict[Any, int] = {}
        try:
            places = [found.setdefault(value, len(found)) for value in values]
        except TypeError:
            kind = type(next(value for value in values if not isinstance(value, Hashable))).__name__
            raise TypeError(f"X: {name} must hold numbers, text, categories, dates or times, got {kind}") from None
        return cls(list(found), np.array(places, np.intp))

    def __len__(self) -> int:
        return len(self.places)

    def replaced(self, numbers: list[float]) -> NDArray[np.float64]:
        """Return a number for each sample, given one for each object."""
        return np.array(numbers, np.float64)[self.places]


@dataclass(frozen=True, eq=False)
class ArrowColumn:
    """One column of plain numbers, copied whenever numpy asks for it and no longer kept than it needs."""

    table: ArrowTable
    index: int

    def __len__(self) -> int:
        return self.table.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.table.numbers(self.index).astype(dtype or np.float64, copy=False)


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table."""

    values: NDArray[Any] | ArrowColumn | Distinct
    """Numbers, or objects."""
    is_category: bool
    """Whether its type is one of categories: text, categorical, enum."""
    is_date: bool = False
    """Whether its values are dates or moments, here as days since 1970."""
    is_declared: bool = False
    """Whether its owner made it one of categories: categorical or enum, not text."""

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, eq=False)
class Frame:
    """All columns of a table."""

    columns: list[Column]
    names: Names
    """None if they are not all text."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples and of columns."""
        return len(self.columns[0]), len(self.columns)


@dataclass(frozen=True, eq=False)
class Numbers:
    """A table of plain numbers, which the core can read where it lies."""

    table: ArrowTable | NDArray[Any]
    names: Names

    @property
    def doubles(self) -> Sequence[int]:
        """Columns of float64."""
        if isinstance(self.table, ArrowTable):
            return self.table.doubles
        return range(self.table.shape[1] if self.table.dtype == np.float64 else 0)

    def as_frame(self) -> Frame:
        """Return the columns one by one."""
        table = self.table
        each = [ArrowColumn(table, j) if isinstance(table, ArrowTable) else table[:, j] for j in range(table.shape[1])]
        return Frame([Column(values, False) for values in each], self.names)


def check_names(given: tuple[str, ...], wanted: tuple[str, ...]) -> None:
    """Refuse columns other than those of training, or in another order."""
    if given == wanted:
        return
    missing = [name for name in wanted if name not in given]
    if missing:
        raise ValueError(f"X must have the columns of training; {_listed(missing, 'is', 'are')} missing")
    extra = [name for name in given if name not in wanted]
    if extra:
        raise ValueError(f"X must have the columns of training; {_listed(extra, 'was', 'were')} not among them")
    here, there = next((a, b) for a, b in zip(given, wanted, strict=True) if a != b)
    raise ValueError(f"X must have its columns in the order of training: expected {there!r}, got {here!r}")


def _listed(names: list[str], one: str, several: str) -> str:
    return f"{names[0]!r} {one}" if len(names) == 1 else f"{names[0]!r} and {len(names) - 1} more {several}"


def column_label(column: int, names: Names) -> str:
    """Return what a column is called in messages."""
    return f"column {column}" if names is None else f"column {names[column]!r}"


def as_number(value: Any) -> float | None:
    """Return a number, or a date or time in days; None for anything else."""
    if isinstance(value, str | bytes):
        return None
    if isinstance(value, datetime.time):
        value = datetime.timedelta(
            hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond
        )
    elif isinstance(value, datetime.datetime):
        value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None) if value.tzinfo else value
        value = value - datetime.datetime(1970, 1, 1)
    elif isinstance(value, datetime.date):
        value = value - datetime.date(1970, 1, 1)
    if isinstance(value, datetime.timedelta):
        return value / datetime.timedelta(days=1)
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None
