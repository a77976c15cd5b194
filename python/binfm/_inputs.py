"""What a user may pass as a table, brought to the few array types that the core reads.

Numbers in one of four types go through as they are, whatever their memory order; a copy is made only where the core
cannot read the original. Text categories become their index in the column's sorted vocabulary. Tables with named
columns are read column by column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from binfm._categories import check_exact, chosen_columns, coded, label, vocabularies_of
from binfm._tables import Column, Distinct, Frame, check_names, is_table, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from binfm._tables import Names

    Dense: TypeAlias = NDArray[np.float32] | NDArray[np.float64] | NDArray[np.int32] | NDArray[np.int64]
    Whole: TypeAlias = NDArray[np.int32] | NDArray[np.int64]
    Csr: TypeAlias = tuple[Whole, Whole, NDArray[np.float32] | NDArray[np.float64], int]

_CORE_TYPE = {
    "?": np.int32, "b": np.int32, "B": np.int32, "h": np.int32, "H": np.int32, "i": np.int32, "I": np.int64,
    "l": np.int64, "q": np.int64, "L": np.int64, "Q": np.int64,
    "e": np.float32, "f": np.float32, "d": np.float64, "g": np.float64,
}  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """The parameters of `train` as the core takes them."""

    method: str
    m: int
    b: int
    tilings: int
    binning: str
    loss: str
    scaling: bool
    optimizer: str
    epochs: int
    learning_rate: float
    lambda_w: float
    lambda_v: float
    dropout: float
    ensemble: int
    polish: int
    categorical: list[int]
    leave_out: tuple[int, ...]
    """Columns that the model does without."""
    min_count: float
    early_stopping: bool
    holdout: float
    patience: int
    seed: int
    n_jobs: int | None


def training_table(
    X: Any, categorical: Any, weight: NDArray[np.float64] | None, min_count: float
) -> tuple[Dense | Csr, list[int], dict[int, list[str]], Names]:
    """Return the table, the categorical columns, the vocabularies of those that hold text, and the columns' names."""
    table = _columns_of(X)
    if isinstance(table, tuple):
        if categorical is not None:
            raise ValueError("categorical: got columns for a sparse X; accepted with a dense X only")
        return table, [], {}, None
    if not isinstance(table, Frame):
        return table, chosen_columns(categorical, table.shape[1], None), {}, None
    chosen = chosen_columns(categorical, len(table.columns), table.names)
    columns = sorted({*chosen, *(j for j, column in enumerate(table.columns) if column.is_category)})
    vocabularies = vocabularies_of(table.columns, chosen, weight, min_count)
    numbers = coded(table.columns, vocabularies, frozenset(), table.names, "text is accepted in `categorical` columns")
    check_exact(numbers, columns, table.names)
    return numbers, columns, vocabularies, table.names


def table_for(
    X: Any, vocabularies: dict[int, list[str]], unused: Callable[[], Iterable[int]], names: Names
) -> Dense | Csr:
    """Return `X` for a model whose text columns have these vocabularies; unused columns may hold anything."""
    table = _columns_of(X)
    if isinstance(table, tuple):
        return table
    if not isinstance(table, Frame):
        if vocabularies:
            raise TypeError(f"X: {label(min(vocabularies), names)} holds numbers; in training it held text categories")
        return cast("Dense", table)
    if names is not None and table.names is not None:
        check_names(table.names, names)
    if vocabularies and max(vocabularies) >= len(table.columns):
        return np.empty((1, len(table.columns)), np.float32)  # too narrow: the core says so and names both widths
    return coded(table.columns, vocabularies, frozenset(unused()), table.names, "in training it held numbers")


def weights(sample_weight: Any, name: str, rows: int) -> NDArray[np.float64] | None:
    """Return one finite, non-negative weight a row, or None."""
    if sample_weight is None:
        return None
    weight = plain(as_numbers(sample_weight, name), np.float64)
    if weight.ndim != 1 or len(weight) != rows:
        raise ValueError(f"{name}: got shape {weight.shape}; accepted is one weight for each of the {rows} rows")
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError(f"{name}: got a negative, infinite or NaN weight; accepted are finite weights from 0")
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not np.isfinite(total):
        raise ValueError(f"{name}: got weights whose sum is infinite; accepted are weights with a finite sum")
    if not (weight > 0).any():
        raise ValueError(f"{name}: got all zeros; accepted is at least one positive weight")
    return weight


def rows_of(table: Dense | Csr) -> int:
    """Return the number of rows."""
    return len(table[0]) - 1 if isinstance(table, tuple) else table.shape[0]


def columns_of(table: Dense | Csr) -> int:
    """Return the number of columns."""
    return int(table[3]) if isinstance(table, tuple) else table.shape[1]


def _columns_of(X: Any) -> Any:
    """Return an array of numbers, the parts of a sparse matrix, or a frame of columns."""
    if is_table(X):
        return read(X)
    array = _array(X)
    if isinstance(array, tuple) or array.dtype != object:
        return array
    columns = [Column(Distinct.of(array[:, j], f"column {j}"), False) for j in range(array.shape[1])]
    return Frame(columns, None)


def _array(X: Any) -> Any:
    if type(X) is np.ndarray and X.dtype.char in "fd" and X.ndim == 2 and X.dtype.isnative and X.shape[1] > 0:
        return X  # the usual table, and where microseconds count
    if hasattr(X, "tocsr"):
        return _csr(X)
    if np.ma.isMaskedArray(X):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    try:
        array = np.asarray(X)
    except (ValueError, TypeError) as error:
        raise ValueError(f"X: got {type(X).__name__} that is no table ({error}); accepted is a 2-D table") from None
    if array.ndim != 2:
        raise ValueError(f"X: got a {array.ndim}-D array of shape {array.shape}; accepted is a 2-D table")
    if array.shape[1] == 0:
        raise ValueError(f"X: got shape {array.shape}; accepted is one feature or more")
    if array.dtype.kind in "OUS":
        return array.astype(object)
    core = _CORE_TYPE.get(array.dtype.char)
    if core is None:
        raise TypeError(f"X: got dtype {array.dtype}; accepted are numbers, booleans and strings")
    if array.dtype.char in "LQ" and array.size and array.max() > np.iinfo(np.int64).max:
        core = np.float64
    return np.asarray(array, dtype=core)


def _csr(X: Any) -> Csr:
    X = X.tocsr()
    if X.shape[1] == 0:
        raise ValueError(f"X: got shape {X.shape}; accepted is one feature or more")
    if X.shape[1] > np.iinfo(np.int32).max:
        raise ValueError(f"X: got {X.shape[1]} features; accepted are up to 2147483647")
    if X.dtype.kind not in "fiub":
        raise TypeError(f"X: got dtype {X.dtype}; accepted are real numbers")
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    data = plain(X.data, np.float32 if X.dtype.char in "fe" else np.float64)
    return _whole(X.indptr), _whole(X.indices), data, X.shape[1]


def _whole(numbers: NDArray[Any]) -> Whole:
    return plain(numbers, np.int32 if numbers.dtype == np.int32 else np.int64)


def plain(values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return values as the core reads lists of them: one after the other, where the machine can read them."""
    return np.require(values, dtype, ["C", "ALIGNED", "ENSUREARRAY"])


def as_numbers(values: Any, name: str) -> NDArray[Any]:
    try:
        array = np.asarray(values)
        if array.dtype.kind in "fiub":
            return array
        if array.dtype == object:
            return array.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: got values that are not numbers; accepted are real numbers") from None
    raise TypeError(f"{name}: got dtype {array.dtype}; accepted are real numbers")
