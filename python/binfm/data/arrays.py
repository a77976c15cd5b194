"""Tables as arrays of the few types the core reads.

Numbers in one of four types pass through as they are, whatever their memory order; a copy is made only if the core
cannot read the original. Text categories become their index in the column's sorted vocabulary. Tables with named
columns are read column by column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from binfm._core import ArrowTable
from binfm.data.categories import (
    UNKNOWN_TEXT,
    chosen_columns,
    encode_columns,
    refuse_inexact,
    refuse_stray_text,
    vocabularies_of,
    warn_of_many,
)
from binfm.data.frames import Column, Distinct, Frame, Numbers, check_names, column_label
from binfm.data.readers import is_table, read_frame, read_in_place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from binfm.data.frames import Names

    Dense: TypeAlias = NDArray[np.float32] | NDArray[np.float64] | NDArray[np.int32] | NDArray[np.int64]
    Integers: TypeAlias = NDArray[np.int32] | NDArray[np.int64]
    Csr: TypeAlias = tuple[Integers, Integers, NDArray[np.float32] | NDArray[np.float64], int]
    """Row starts, columns, values and the number of columns."""
    Table: TypeAlias = Dense | Csr | ArrowTable
    """What the core reads."""
    Vocabularies: TypeAlias = dict[int, list[str]]
    """The sorted texts of each text column."""

_CORE_TYPE = {
    "?": np.int32, "b": np.int32, "B": np.int32, "h": np.int32, "H": np.int32, "i": np.int32, "I": np.int64,
    "l": np.int64, "q": np.int64, "L": np.int64, "Q": np.int64,
    "e": np.float32, "f": np.float32, "d": np.float64, "g": np.float64,
}  # fmt: skip

CHUNK = 1 << 16
"""Samples that are looked at together."""


def learn_table(
    X: Any, categorical: Any, weight: NDArray[np.float64] | None, min_count: float
) -> tuple[Dense | Csr, list[int], Vocabularies, Names]:
    """Return the table, the categorical columns, the vocabularies of those that hold text, and the column names."""
    table = columns_of_table(X)
    if isinstance(table, tuple):
        if categorical is not None:
            raise ValueError(f"categorical must be None if X is sparse, got {categorical!r}")
        return table, [], {}, None
    if not isinstance(table, Frame):
        return table, chosen_columns(categorical, table.shape[1], None), {}, None
    chosen = chosen_columns(categorical, len(table.columns), table.names)
    columns = sorted({*chosen, *(j for j, column in enumerate(table.columns) if column.is_category)})
    refuse_stray_text(table.columns, chosen, table.names)
    vocabularies = vocabularies_of(table.columns, chosen, weight, min_count)
    warn_of_many(vocabularies, table.shape[0], table.names)
    numbers = encode_columns(table, vocabularies, frozenset(), UNKNOWN_TEXT)
    refuse_inexact(numbers, columns, table.names)
    return numbers, columns, vocabularies, table.names


def read_table(X: Any, vocabularies: Vocabularies, names: Names, unused: Callable[[], Iterable[int]]) -> Dense | Csr:
    """Return `X` for a model with these vocabularies and names; unused columns may hold anything."""
    table = columns_of_table(X)
    if isinstance(table, tuple):
        return table
    if not isinstance(table, Frame):
        if vocabularies:
            column = column_label(min(vocabularies), names)
            raise TypeError(f"X: {column} holds numbers; in training it held text")
        return cast("Dense", table)
    if names is not None and table.names is not None:
        check_names(table.names, names)
    if vocabularies and max(vocabularies) >= len(table.columns):
        return np.empty((1, len(table.columns)), np.float32)  # too narrow: the core says so and names both widths
    return encode_columns(table, vocabularies, frozenset(unused()), "in training it held numbers")


def table_to_score(
    X: Any, vocabularies: Vocabularies, names: Names, unused: Callable[[], Iterable[int]], ids: Iterable[int]
) -> Table:
    """Do the same for scoring alone, without a copy where the core can read the numbers of `X` where they lie.

    `ids` are the columns whose categories are whole numbers. Tables have them as float32 unless some number is too
    large, so the same numbers as float64 could be other categories.
    """
    if not is_table(X):
        return read_table(X, vocabularies, names, unused)
    found = read_in_place(X)
    if not isinstance(found, Numbers):
        return read_table(found, vocabularies, names, unused)
    if vocabularies or not set(ids).isdisjoint(found.doubles):
        return read_table(found.as_frame(), vocabularies, names, unused)
    if names is not None and found.names is not None:
        check_names(found.names, names)
    return found.table if isinstance(found.table, ArrowTable) else cast("Dense", _array(found.table))


def read_weight(sample_weight: Any, name: str, samples: int) -> NDArray[np.float64] | None:
    """Return a finite, non-negative weight for each sample, or None."""
    if sample_weight is None:
        return None
    weight = contiguous(as_numbers(sample_weight, name), np.float64)
    if weight.ndim != 1 or len(weight) != samples:
        raise ValueError(f"{name} must have shape ({samples},), one weight per sample, got {weight.shape}")
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError(f"{name} must be finite and not negative, got a negative, infinite or NaN weight")
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not np.isfinite(total):
        raise ValueError(f"{name} must have a finite sum, got infinity")
    if not (weight > 0).any():
        raise ValueError(f"{name} must have at least one positive weight, got all zeros")
    return weight


def samples_of(table: Dense | Csr) -> int:
    """Return the number of samples."""
    return len(table[0]) - 1 if isinstance(table, tuple) else table.shape[0]


def columns_of(table: Dense | Csr) -> int:
    """Return the number of columns."""
    return int(table[3]) if isinstance(table, tuple) else table.shape[1]


def missing_counts(table: Dense | Csr) -> NDArray[np.intp]:
    """Return the number of missing values of each column."""
    if isinstance(table, tuple):
        _, columns, values, width = table
        return np.bincount(columns[np.isnan(values)], minlength=width)
    if table.dtype.kind != "f":
        return np.zeros(table.shape[1], np.intp)
    parts = (table[i : i + CHUNK] for i in range(0, len(table), CHUNK))
    return sum((np.isnan(part).sum(axis=0) for part in parts), np.zeros(table.shape[1], np.intp))


def take(table: Dense | Csr, samples: NDArray[np.intp]) -> Dense | Csr:
    """Return some of the samples."""
    if not isinstance(table, tuple):
        return table[samples]
    starts, columns, values, width = table
    counts = np.diff(starts)[samples]
    ends = np.concatenate(([0], np.cumsum(counts)))
    at = np.repeat(starts[samples] - ends[:-1], counts) + np.arange(ends[-1])
    return ends.astype(np.int64), columns[at], values[at], width


def contiguous(values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return values as the core reads 1-D arrays: of this type, contiguous and aligned."""
    return np.require(values, dtype, ["C", "ALIGNED", "ENSUREARRAY"])


def as_numbers(values: Any, name: str) -> NDArray[Any]:
    """Return an array of real numbers."""
    try:
        array = np.asarray(values)
        if array.dtype.kind in "fiub":
            return array
        if array.dtype == object:
            return array.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be real numbers, got values that are not numbers") from None
    raise TypeError(f"{name} must be real numbers, got dtype {array.dtype}")


def columns_of_table(X: Any) -> Any:
    """Return an array of numbers, the parts of a sparse matrix, or a frame of columns."""
    if is_table(X):
        return read_frame(X)
    array = _array(X)
    if isinstance(array, tuple) or array.dtype != object:
        return array
    columns = [Column(Distinct.of(array[:, j], f"column {j}"), False) for j in range(array.shape[1])]
    return Frame(columns, None)


def _array(X: Any) -> Any:
    if type(X) is np.ndarray and X.dtype.char in "fd" and X.ndim == 2 and X.dtype.isnative and X.shape[1] > 0:
        return X  # the usual table, on the path where microseconds count
    if hasattr(X, "tocsr"):
        return _csr(X)
    if np.ma.isMaskedArray(X):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    try:
        array = np.asarray(X)
    except (ValueError, TypeError) as error:
        raise ValueError(f"X must be a 2-D table, got {type(X).__name__} ({error})") from None
    if array.ndim != 2:
        raise ValueError(f"X must be a 2-D table, got a {array.ndim}-D array of shape {array.shape}")
    if array.shape[1] == 0:
        raise ValueError(f"X must have at least one feature, got shape {array.shape}")
    if array.dtype.kind in "OUS":
        return array.astype(object)
    core = _CORE_TYPE.get(array.dtype.char)
    if core is None:
        raise TypeError(f"X must hold numbers, booleans or strings, got dtype {array.dtype}")
    if array.dtype.char in "LQ" and array.size and array.max() > np.iinfo(np.int64).max:
        core = np.float64
    return np.asarray(array, dtype=core)


def _csr(X: Any) -> Csr:
    X = X.tocsr()
    if X.shape[1] == 0:
        raise ValueError(f"X must have at least one feature, got shape {X.shape}")
    if X.shape[1] > np.iinfo(np.int32).max:
        raise ValueError(f"X must have at most 2147483647 features, got {X.shape[1]}")
    if X.dtype.kind not in "fiub":
        raise TypeError(f"X must hold real numbers, got dtype {X.dtype}")
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    data = contiguous(X.data, np.float32 if X.dtype.char in "fe" else np.float64)
    return _integers(X.indptr), _integers(X.indices), data, X.shape[1]


def _integers(numbers: NDArray[Any]) -> Integers:
    return contiguous(numbers, np.int32 if numbers.dtype == np.int32 else np.int64)
