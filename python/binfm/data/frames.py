"""Tables with named columns: pandas, polars, Arrow.

A column of numbers, booleans, dates or times becomes numbers, with NaN for missing values. A column of text or
categories stays a list of its values, never of codes, which mean one thing in one table and another in the next.
"""

from __future__ import annotations

import datetime
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Names: TypeAlias = tuple[str, ...] | None

MICROSECONDS_A_DAY = 86_400_000_000
ARROW_READERS = ("pyarrow", "polars", "pandas")
"""Libraries that can read an Arrow stream of another one, the fastest first."""


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

    def replaced(self, numbers: list[float]) -> NDArray[np.float64]:
        """Return a number for each sample, given one for each object."""
        return np.array(numbers, np.float64)[self.places]


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table."""

    values: NDArray[Any] | Distinct
    """Numbers, or objects."""
    is_category: bool
    """Whether its type is one of categories: text, categorical, enum."""
    is_date: bool = False
    """Whether its values are dates or moments, here as days since 1970."""

    def __len__(self) -> int:
        return len(self.values if isinstance(self.values, np.ndarray) else self.values.places)


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


def is_table(X: Any) -> bool:
    """Return whether X has named columns, as data frames do."""
    if isinstance(X, Frame) or hasattr(X, "__dataframe__") or hasattr(X, "collect"):
        return True
    return hasattr(X, "__arrow_c_stream__") and len(getattr(X, "shape", (0, 0))) == 2


def read_frame(X: Any) -> Frame:
    """Return the columns of a table in memory."""
    if isinstance(X, Frame):
        return X
    X = collected(X)
    if getattr(getattr(X, "columns", None), "nlevels", 1) > 1:
        raise ValueError(
            f"X must have one name per column, got {X.columns.nlevels} levels of them; join them, as in "
            "X.columns = ['_'.join(map(str, name)) for name in X.columns]"
        )
    columns = _numeric_pandas(X)
    if columns is None:
        frame = _narwhals_frame(X)
        columns = [_column(series) for series in frame.iter_columns()]
        X = frame
    if not columns:
        raise ValueError(f"X must have at least one feature, got shape {X.shape}")
    names = tuple(X.columns)
    return Frame(columns, names if all(isinstance(name, str) for name in names) else None)


def collected(X: Any) -> Any:
    """Return a lazy table in memory, and any other as it is."""
    if not hasattr(X, "collect") or hasattr(X, "__arrow_c_stream__"):
        return X
    nw = _narwhals(X)
    try:
        return nw.from_native(X).collect().to_native()
    except (TypeError, AttributeError):
        return X  # unknown to narwhals


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


def _narwhals(X: Any) -> Any:
    try:
        import narwhals
    except ImportError:
        given = type(X).__name__
        raise ImportError(f"reading a {given} needs narwhals: pip install 'binfm[tables]'") from None
    return narwhals


def _numeric_pandas(X: Any) -> list[Column] | None:
    """Return the columns of a pandas frame of plain numbers, which needs no narwhals; None if it is not one."""
    if type(X).__module__.split(".")[0] != "pandas" or not hasattr(X, "iloc") or not X.columns.is_unique:
        return None
    dtypes = list(X.dtypes)
    if not all(isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in dtypes):
        return None
    same = len(set(dtypes)) == 1
    arrays = list(X.to_numpy().T) if same else [X.iloc[:, j].to_numpy() for j in range(len(dtypes))]
    return [Column(array if array.dtype == np.float32 else array.astype(np.float64), False) for array in arrays]


def _narwhals_frame(X: Any) -> Any:
    nw = _narwhals(X)
    try:
        return nw.from_native(X, eager_only=True)
    except TypeError:
        pass  # narwhals does not know the library, but any other may export its columns to Arrow
    except nw.exceptions.DuplicateError:
        twice = sorted({name for name in map(str, X.columns) if list(map(str, X.columns)).count(name) > 1})
        raise ValueError(f"X must have distinct column names, got {twice[0]!r} twice") from None
    backend = next((name for name in ARROW_READERS if find_spec(name)), None)
    if backend is None or not hasattr(X, "__arrow_c_stream__"):
        hint = "; call its collect() first" if hasattr(X, "collect") else ""
        raise TypeError(f"X must be a pandas, polars or Arrow table in memory, got {type(X).__name__}{hint}")
    try:
        return nw.from_arrow(X, backend=backend)
    except Exception as error:
        raise ValueError(f"X must be a 2-D table, got {type(X).__name__} ({error})") from None


def _column(series: Any) -> Column:
    import narwhals as nw

    dtype = series.dtype
    if dtype == nw.Float32 and not series.is_null().any():
        return Column(series.to_numpy(), False)
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
    return Column(values, is_category or is_text, is_date)


def _floats(series: Any) -> NDArray[np.float64]:
    import narwhals as nw

    numbers: NDArray[np.float64] = series.cast(nw.Float64).to_numpy()
    return numbers
