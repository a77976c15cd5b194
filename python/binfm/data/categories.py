"""Categories: which columns hold them, their vocabularies, and the codes of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from binfm._checks import warn
from binfm.data.frames import ArrowColumn, Column, Distinct, Frame, as_number, column_label

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm.data.frames import Names

UNSEEN = -1.0
"""Code of a text category that training did not see, or too rarely: no category of the model has it."""
EXACT_AS_FLOAT32 = 2.0**24
EXACT_AS_FLOAT64 = 2.0**53
"""Whole numbers up to these keep their value."""
NEARLY_UNIQUE = 0.5
ENOUGH_SAMPLES = 100
"""A warning is due if a column of text has more different values than this share of the samples, of which there are
enough to tell."""
MOSTLY = 0.9
"""A column of which this share are numbers is one of numbers, and its texts are mistakes."""
UNKNOWN_TEXT = "list the column in `categorical` to use it as text"
"""Advice for text in a column of numbers."""


def chosen_columns(categorical: Any, width: int, names: Names) -> list[int]:
    """Return column numbers from numbers (negative ones count from the end), names or a boolean mask."""
    if categorical is None:
        return []
    given = list(categorical) if isinstance(categorical, Sequence | np.ndarray | set | range) else None
    if given is None or isinstance(categorical, str):
        raise TypeError(
            f"categorical must be a list of column numbers or names, or a boolean mask, got {categorical!r}"
        )
    if given and all(isinstance(c, bool | np.bool_) for c in given):
        if len(given) != width:
            raise ValueError(f"categorical must have {width} entries, one per column of X, got {len(given)}")
        return [j for j, yes in enumerate(given) if yes]
    return sorted({_column_number(c, width, names) for c in given})


def vocabularies_of(
    columns: Sequence[Column], chosen: list[int], weight: NDArray[np.float64] | None, min_count: float
) -> dict[int, list[str]]:
    """Return the vocabulary of each column whose values stay text."""
    return {
        j: _vocabulary(column.values, weight, min_count)
        for j, column in enumerate(columns)
        if isinstance(column.values, Distinct) and is_text(column, column.values, j in chosen)
    }


def encode_columns(
    frame: Frame, vocabularies: dict[int, list[str]], unused: frozenset[int], advice: str
) -> NDArray[np.float32] | NDArray[np.float64]:
    """Return columns as one table of floats: text as its code, missing and unused values as NaN.

    The core compares numbers as float32; the table is float64 if it has whole numbers that need it.
    """
    numbers = [
        _numbers(column, vocabularies.get(j), column_label(j, frame.names), advice) if j not in unused else None
        for j, column in enumerate(frame.columns)
    ]
    large = any(x is not None and _largest(x) > EXACT_AS_FLOAT32 for x in numbers)
    out = np.full(frame.shape, np.nan, np.float64 if large else np.float32, order="F")
    with np.errstate(over="ignore"):
        for j, x in enumerate(numbers):
            if x is not None:
                out[:, j] = x
    return out


def refuse_text(values: Distinct, place: int, name: str, advice: str) -> NoReturn:
    """Name the first cell with an object that is not a number."""
    row = int(np.argmax(values.places == place))
    raise ValueError(f"X: {name} holds {values.objects[place]!r} in row {row}, which is not a number; {advice}")


def refuse_text_in(array: NDArray[Any], advice: str) -> None:
    """Name the first text of an array that cannot be read as a number."""
    for j in range(array.shape[1]):
        values = Distinct.of(list(array[:, j]), f"column {j}")
        for place, value in enumerate(values.objects):
            if isinstance(value, str | bytes) and not _is_numeral(value):
                refuse_text(values, place, f"column {j}", advice)


def warn_of_many(vocabularies: dict[int, list[str]], samples: int, names: Names) -> None:
    """Warn of columns of text in which nearly every sample has a value of its own."""
    for j, vocabulary in vocabularies.items():
        if samples >= ENOUGH_SAMPLES and len(vocabulary) > NEARLY_UNIQUE * samples:
            warn(
                f"X: {column_label(j, names)} holds {len(vocabulary):,} different texts in {samples:,} samples, from "
                "which little can be learned, and all of them are in the model; leave it out, or set min_count"
            )


def refuse_stray_text(columns: Sequence[Column], chosen: list[int], names: Names) -> None:
    """Refuse a few texts in a column of numbers, which would turn all of them into categories.

    Whole numbers as text may well be categories: codes. Texts of fractions, or numbers proper, are not.
    """
    for j, column in enumerate(columns):
        values = column.values
        if not column.is_category or column.is_declared or j in chosen or not isinstance(values, Distinct):
            continue
        counts = np.bincount(values.places, minlength=len(values.objects))
        present = [place for place, value in enumerate(values.objects) if not is_missing(value)]
        strays = [p for p in present if isinstance(values.objects[p], bool) or not _is_numeral(values.objects[p])]
        numeric = set(present) - set(strays)
        if not strays or counts[strays].sum() > (1 - MOSTLY) * counts[present].sum():
            continue
        if any(
            not isinstance(values.objects[place], str) or not values.objects[place].isdecimal() for place in numeric
        ):
            advice = f"put None in its place, or {UNKNOWN_TEXT}"
            refuse_text(values, strays[0], column_label(j, names), advice)


def refuse_inexact(table: NDArray[Any], columns: list[int], names: Names) -> None:
    """Refuse categories too large to tell apart once they are floats."""
    for j in columns:
        if table.dtype == np.float64 and _largest(table[:, j]) > EXACT_AS_FLOAT64:
            raise ValueError(
                f"X: {column_label(j, names)} holds a category above 2**53; use smaller whole numbers, or text"
            )


def _column_number(given: Any, width: int, names: Names) -> int:
    if isinstance(given, str) and names is not None:
        if given not in names:
            raise ValueError(f"categorical must name columns of X, such as {names[0]!r}, got {given!r}")
        return names.index(given)
    if isinstance(given, bool | np.bool_) or not isinstance(given, int | np.integer):
        raise TypeError(f"categorical must be a list of column numbers, or a boolean mask, got {given!r} in it")
    if not -width <= given < width:
        raise ValueError(f"categorical must have column numbers from {-width} to {width - 1}, got {given}")
    return int(given) % width


def is_text(column: Column, values: Distinct, chosen: bool) -> bool:
    """Return whether a column holds categories that are not all whole numbers."""
    present = [value for value in values.objects if not is_missing(value)]
    if column.is_category:
        return not present or not all(_is_whole(as_number(value)) for value in present)
    return chosen and any(isinstance(value, str) for value in present)


def _vocabulary(column: Distinct, weight: NDArray[np.float64] | None, min_count: float) -> list[str]:
    """Return the sorted texts whose weights add up to `min_count` or more."""
    seen: dict[str, float] = {}
    counts = np.bincount(column.places, weight, len(column.objects))
    for value, count in zip(column.objects, counts.tolist(), strict=True):
        if count > 0 and not is_missing(value):
            seen[str(value)] = seen.get(str(value), 0.0) + count
    return sorted(text for text, count in seen.items() if count >= min_count)


def _numbers(column: Column, known: list[str] | None, name: str, advice: str) -> NDArray[Any] | ArrowColumn:
    """Return the numbers of a column, or the codes of its texts."""
    values = column.values
    if not isinstance(values, Distinct):
        if known is not None and not np.isnan(values).all():
            raise TypeError(f"X: {name} holds numbers; in training it held text")
        return values
    if known is None:
        numbers = [np.nan if is_missing(v) else as_number(v) for v in values.objects]
        if None in numbers:
            refuse_text(values, numbers.index(None), name, advice)
        return values.replaced([number for number in numbers if number is not None])
    codes = {text: float(code) for code, text in enumerate(known)}
    return values.replaced([np.nan if is_missing(v) else codes.get(str(v), UNSEEN) for v in values.objects])


def _is_whole(number: float | None) -> bool:
    return number is not None and number.is_integer()


def _is_numeral(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _largest(values: NDArray[Any] | ArrowColumn) -> float:
    """Return the largest finite magnitude."""
    if isinstance(values, ArrowColumn):
        return values.table.largest(values.index)
    finite = np.isfinite(values)
    return float(np.abs(values, where=finite, out=np.zeros(len(values))).max(initial=0.0))


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN of any float type, NaT or pandas.NA."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return True  # pandas.NA compared with itself is not a bool
