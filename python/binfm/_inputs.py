"""What a user may pass as a table, brought to the few array types that the core reads.

Numbers in one of four types go through as they are, whatever their memory order; a copy is made only where the core
cannot read the original. Text categories become their index in the column's sorted vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Dense: TypeAlias = NDArray[np.float32] | NDArray[np.float64] | NDArray[np.int32] | NDArray[np.int64]
    Whole: TypeAlias = NDArray[np.int32] | NDArray[np.int64]
    Csr: TypeAlias = tuple[Whole, Whole, NDArray[np.float32] | NDArray[np.float64], int]

UNSEEN = -1.0
"""Code of a text category that training did not see, or saw too rarely: the core finds no such level."""

_CORE_TYPE = {
    "?": np.int32, "b": np.int32, "B": np.int32, "h": np.int32, "H": np.int32, "i": np.int32, "I": np.int64,
    "l": np.int64, "q": np.int64, "L": np.int64, "Q": np.int64,
    "e": np.float32, "f": np.float32, "d": np.float64, "g": np.float64,
}  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """The parameters of `train` as the core takes them."""

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
) -> tuple[Dense | Csr, list[int], dict[int, list[str]]]:
    """Return the table, the categorical columns and, for those that hold text, their vocabularies."""
    table = _array(X)
    if isinstance(table, tuple):
        if categorical is not None:
            raise ValueError("categorical: got columns for a sparse X; accepted with a dense X only")
        return table, [], {}
    columns = _columns(categorical, table.shape[1])
    if table.dtype != object:
        return table, columns, {}
    text = [j for j in columns if any(isinstance(value, str) for value in table[:, j])]
    vocabularies = {j: _vocabulary(table[:, j], weight, min_count) for j in text}
    return _coded(table, vocabularies, frozenset()), columns, vocabularies


def table_for(X: Any, vocabularies: dict[int, list[str]], unused: frozenset[int]) -> Dense | Csr:
    """Return `X` for a model whose text columns have these vocabularies; unused columns may hold anything."""
    table: Any = _array(X)
    if isinstance(table, tuple):
        return table
    if table.dtype != object and not vocabularies:
        return cast("Dense", table)
    if table.dtype != object:
        column = next(iter(vocabularies))
        raise TypeError(f"X: column {column} holds numbers; in training it held text categories")
    if vocabularies and max(vocabularies) >= table.shape[1]:
        return np.empty((1, table.shape[1]), np.float32)  # too narrow: the core says so and names both widths
    return _coded(table, vocabularies, unused)


def weights(sample_weight: Any, name: str, rows: int) -> NDArray[np.float64] | None:
    """Return one finite, non-negative weight a row, or None."""
    if sample_weight is None:
        return None
    weight = np.ascontiguousarray(as_numbers(sample_weight, name), dtype=np.float64)
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
    data = np.ascontiguousarray(X.data, np.float32 if X.dtype.char in "fe" else np.float64)
    return _whole(X.indptr), _whole(X.indices), data, X.shape[1]


def _whole(numbers: NDArray[Any]) -> Whole:
    return np.ascontiguousarray(numbers, np.int32 if numbers.dtype == np.int32 else np.int64)


def _columns(categorical: Any, width: int) -> list[int]:
    """Return column numbers from numbers (negative ones count from the end) or a boolean mask."""
    if categorical is None:
        return []
    given = list(categorical) if isinstance(categorical, Sequence | np.ndarray | set | range) else None
    if given is None or isinstance(categorical, str):
        raise TypeError(f"categorical: got {categorical!r}; accepted is a list of column numbers or a boolean mask")
    if given and all(isinstance(c, bool | np.bool_) for c in given):
        if len(given) != width:
            raise ValueError(f"categorical: got a mask of {len(given)}; accepted is one of {width}, as X has columns")
        return [j for j, yes in enumerate(given) if yes]
    columns = set()
    for c in given:
        if isinstance(c, bool | np.bool_) or not isinstance(c, int | np.integer):
            raise TypeError(f"categorical: got {c!r}; accepted are column numbers or a boolean mask")
        if not -width <= c < width:
            raise ValueError(f"categorical: got column {c}; accepted are {-width} to {width - 1}")
        columns.add(int(c) % width)
    return sorted(columns)


def _vocabulary(column: NDArray[Any], weight: NDArray[np.float64] | None, min_count: float) -> list[str]:
    """Return the sorted texts whose weights add up to `min_count` or more."""
    heard: dict[str, float] = {}
    each = np.ones(len(column)) if weight is None else weight
    for value, w in zip(column, each.tolist(), strict=True):
        if w > 0 and not _missing(value):
            heard[str(value)] = heard.get(str(value), 0.0) + w
    return sorted(text for text, count in heard.items() if count >= min_count)


def _coded(table: NDArray[Any], vocabularies: dict[int, list[str]], unused: frozenset[int]) -> NDArray[np.float64]:
    """Return an object table as float64, text categories as their code and what is missing as NaN."""
    out = np.full(table.shape, np.nan)
    for j in set(range(table.shape[1])) - unused:
        column = table[:, j]
        if j in vocabularies:
            codes = {level: float(code) for code, level in enumerate(vocabularies[j])}
            out[:, j] = [np.nan if _missing(v) else codes.get(str(v), UNSEEN) for v in column]
            continue
        out[:, j] = [np.nan if _missing(value) else _number(value, j) for value in column]
    return out


def _number(value: Any, column: int) -> float:
    try:
        if not isinstance(value, str | bytes):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise ValueError(f"X: column {column} holds {value!r}, not a number; text is accepted in `categorical` columns")


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


def _missing(value: Any) -> bool:
    # None, NaN of any float type, and pandas.NA, whose comparison with itself is not a bool.
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return True
