"""Checks of what the user gives; each error is one sentence."""

from __future__ import annotations

import math
from typing import Any


def length(X: Any) -> int:
    """Return the number of rows of whatever is given as a table."""
    shape = getattr(X, "shape", None)
    return int(shape[0]) if isinstance(shape, tuple) and shape else len(sized("X", X))


def sized(name: str, values: Any) -> Any:
    """Return what has a length; refuse what has none."""
    try:
        len(values)
    except TypeError:
        given = "one value" if getattr(values, "shape", None) == () else type(values).__name__
        raise TypeError(f"{name}: got {given}; accepted is an array") from None
    return values


def same_length(a: str, n: int, b: str, k: int) -> None:
    """Refuse tables and targets of different lengths, and empty ones."""
    if n != k:
        raise ValueError(f"{b}: got {k} values; accepted are {n}, one for each row of {a}")
    if n == 0:
        raise ValueError(f"{a}: got no rows; accepted is one row or more")


def one_of(name: str, value: Any, accepted: tuple[str, ...]) -> None:
    """Refuse what is not among the names that are accepted."""
    if value not in accepted:
        listed = " and ".join(", ".join(map(repr, accepted)).rsplit(", ", 1))
        verb = "is" if len(accepted) == 1 else "are"
        raise ValueError(f"{name}: got {value!r}; accepted {verb} {listed}")


def text(name: str, value: Any) -> str:
    """Return a string."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: got {value!r}; accepted is a string")
    return value


def whole(name: str, value: Any) -> int:
    """Return a whole number that has 64 bits."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}: got {value!r}; accepted are whole numbers")
    number = int(value.__index__())
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{name}: got {number}; accepted are whole numbers below 2**63")
    return number


def number(name: str, value: Any) -> float:
    """Return a finite number."""
    try:
        found = math.nan if isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        raise ValueError(f"{name}: got {value!r}; accepted are finite numbers")
    return found
