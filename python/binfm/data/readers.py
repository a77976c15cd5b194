"""Reading tables of pandas, polars and Arrow.

Plain numbers and booleans are read where they lie: pandas has them as arrays, and other libraries hand them to the core
in Arrow's capsules. Only columns of other types need narwhals.
"""

from __future__ import annotations

import datetime
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from binfm._core import ArrowTable, arrow_columns
from binfm.data.frames import ArrowColumn, Column, Distinct, Frame, Numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from binfm.data.frames import Names

MICROSECONDS_A_DAY = 86_400_000_000
ARROW_READERS = ("pyarrow", "polars", "pandas")
"""Libraries that can read an Arrow stream of another one, the fastest first."""
PLAIN = frozenset("?bBhHiIlLqQfd")
"""numpy's types of plain numbers and booleans."""


def is_table(X: Any) -> bool:
    """Return whether X has named columns, as data frames do."""
    if isinstance(X, Frame) or hasattr(X, "__dataframe__") or hasattr(X, "collect"):
        return True
    return _has_capsules(X) and len(getattr(X, "shape", (0, 0))) == 2


def read_frame(X: Any) -> Frame:
    """Return the columns of a table in memory."""
    if isinstance(X, Frame):
        return X
    X = collected(X)
    table = _read_pandas(X) if _is_pandas(X) else _read_arrow(X)
    return table.as_frame() if isinstance(table, Numbers) else table


def collected(X: Any) -> Any:
    """Return a lazy table in memory, and any other as it is."""
    if not hasattr(X, "collect") or _has_capsules(X):
        return X
    nw = _narwhals(X)
    try:
        return nw.from_native(X).collect().to_native()
    except (TypeError, AttributeError):
        return X  # unknown to narwhals


def read_in_place(X: Any) -> Numbers | Frame:
    """Return a table of plain numbers as it is, any other as a frame."""
    if isinstance(X, Frame):
        return X
    X = collected(X)
    if not _is_pandas(X):
        return _read_arrow(X)
    _check_levels(X.columns)
    dtypes = set(X.dtypes)
    if not dtypes or not all(map(_is_plain, dtypes)) or not X.columns.is_unique:
        return _read_pandas(X)
    return Numbers(X.to_numpy() if len(dtypes) == 1 else X.to_numpy(np.float64), _names(X.columns.tolist()))


class _Unread:
    """A stream that has told its columns and can still be read, once."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.capsule


def _has_capsules(X: Any) -> bool:
    return hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")


def _is_pandas(X: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(X, pandas.DataFrame)


def _is_plain(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.char in PLAIN


def _names(names: Sequence[Any]) -> Names:
    return tuple(names) if all(isinstance(name, str) for name in names) else None


def _check_levels(columns: Any) -> None:
    if columns.nlevels > 1:
        raise ValueError(
            f"X must have one name per column, got {columns.nlevels} levels of them; join them, as in "
            "X.columns = ['_'.join(map(str, name)) for name in X.columns]"
        )


def _read_pandas(X: Any) -> Frame:
    _check_levels(X.columns)
    plain = [_is_plain(dtype) for dtype in X.dtypes]
    if plain and all(plain) and X.columns.is_unique:
        return Frame([Column(_numbers(X.iloc[:, j]), False) for j in range(len(plain))], _names(X.columns.tolist()))
    frame = _narwhals_frame(X, X)
    return _frame(frame, [Column(_numbers(X.iloc[:, j]), False) if yes else None for j, yes in enumerate(plain)])


def _numbers(series: Any) -> NDArray[Any]:
    """Return the plain numbers of pandas as floats."""
    numbers: NDArray[Any] = series.to_numpy()
    return numbers if numbers.dtype.kind == "f" else numbers.astype(np.float64)


def _read_arrow(X: Any) -> Numbers | Frame:
    """Return columns that are exported to Arrow, or that narwhals can read."""
    X = X.to_native() if hasattr(X, "to_native") else X
    if not _has_capsules(X) or hasattr(X, "collect"):
        return _frame(_narwhals_frame(X, X))
    try:
        capsules = X.__arrow_c_array__() if hasattr(X, "__arrow_c_array__") else X.__arrow_c_stream__()
        columns = arrow_columns(capsules)
        table = ArrowTable(capsules) if all(is_plain for _, is_plain in columns) else None
    except Exception as error:
        raise ValueError(f"X must be a 2-D table, got {type(X).__name__} ({error})") from None
    names = tuple(name for name, _ in columns)
    _check_distinct(names)
    if table is not None:
        _check_width(table.shape)
        return Numbers(table, names)
    frame = _narwhals_frame(X, X if isinstance(capsules, tuple) else _Unread(capsules))
    plain = _arrow_columns(frame.select(*(name for name, is_plain in columns if is_plain)).to_native())
    return _frame(frame, [plain.pop(0) if is_plain else None for _, is_plain in columns])


def _arrow_columns(X: Any) -> list[Column]:
    """Return the columns of a table of plain numbers."""
    table = ArrowTable(X.__arrow_c_stream__())
    return [Column(ArrowColumn(table, j), False) for j in range(table.shape[1])]


def _frame(frame: Any, known: Sequence[Column | None] = ()) -> Frame:
    """Return the columns of narwhals' frame, except that some are known."""
    _check_width(frame.shape)
    names = _names(frame.columns)
    columns = [column or _column(frame[:, j]) for j, column in enumerate(known or [None] * frame.shape[1])]
    return Frame(columns, names)


def _check_distinct(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        twice = min(name for name in names if names.count(name) > 1)
        raise ValueError(f"X must have distinct column names, got {twice!r} twice")


def _check_width(shape: tuple[int, int]) -> None:
    if shape[1] == 0:
        raise ValueError(f"X must have at least one feature, got shape {shape}")


def _narwhals(X: Any) -> Any:
    try:
        import narwhals
    except ImportError:
        given = type(X).__name__
        raise ImportError(f"reading a {given} needs narwhals: pip install 'binfm[tables]'") from None
    return narwhals


def _narwhals_frame(X: Any, stream: Any) -> Any:
    """Return narwhals' frame of a table, or of a stream of its columns."""
    nw = _narwhals(X)
    try:
        return nw.from_native(X, eager_only=True)
    except TypeError:
        pass  # narwhals does not know the library, but any other may export its columns to Arrow
    except nw.exceptions.DuplicateError:
        _check_distinct([str(name) for name in X.columns])
        raise
    backend = next((name for name in ARROW_READERS if find_spec(name)), None)
    if backend is None or not hasattr(stream, "__arrow_c_stream__"):
        hint = "; call its collect() first" if hasattr(X, "collect") else ""
        raise TypeError(f"X must be a pandas, polars or Arrow table in memory, got {type(X).__name__}{hint}")
    try:
        return nw.from_arrow(stream, backend=backend)
    except Exception as error:
        raise ValueError(f"X must be a 2-D table, got {type(X).__name__} ({error})") from None


def _column(series: Any) -> Column:
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return Column(_floats(series), False)
    if dtype == nw.Date or dtype == nw.Datetime:
        return Column(_floats(series.dt.timestamp("us")) / MICROSECONDS_A_DAY, False, is_date=True)
    if dtype == nw.Duration:
        return Column(_floats(series.dt.total_microseconds()) / MICROSECONDS_A_DAY, False)
    values = Distinct.of(series.to_list(), f"column {series.name!r}")
    is_category = dtype in (nw.String, nw.Categorical, nw.Enum)
    is_text = any(isinstance(value, str) for value in values.objects)
    is_date = not is_text and any(isinstance(value, datetime.date) for value in values.objects)
    return Column(values, is_category or is_text, is_date, dtype in (nw.Categorical, nw.Enum))


def _floats(series: Any) -> NDArray[np.float64]:
    import narwhals as nw

    numbers: NDArray[np.float64] = series.cast(nw.Float64).to_numpy()
    return numbers
