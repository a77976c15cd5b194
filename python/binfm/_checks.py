"""Checks of arguments, and warnings. Each error is one sentence: what it must be, and what was given."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any


def length(X: Any) -> int:
    """Return the number of samples of whatever is given as a table."""
    shape = getattr(X, "shape", None)
    return int(shape[0]) if isinstance(shape, tuple) and shape else len(sized("X", X))


def sized(name: str, values: Any) -> Any:
    """Return values that have a length."""
    try:
        len(values)
    except TypeError:
        given = "one value" if getattr(values, "shape", None) == () else type(values).__name__
        raise TypeError(f"{name} must be an array, got {given}") from None
    return values


def same_length(X: str, samples: int, y: str, values: int) -> None:
    """Refuse a table and a target of different lengths, and empty ones."""
    if samples != values:
        raise ValueError(f"{y} must have {samples} values, one per sample of {X}, got {values}")
    if samples == 0:
        raise ValueError(f"{X} must have at least one sample, got none")


def listed(names: tuple[str, ...]) -> str:
    """Return quoted names as in "'a', 'b' or 'c'"."""
    quoted = [repr(name) for name in names]
    return " or ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def one_of(name: str, value: Any, accepted: tuple[str, ...], condition: str = "") -> None:
    """Refuse a value that is not among some names."""
    if value not in accepted:
        raise ValueError(f"{name} must be {listed(accepted)}{condition}, got {value!r}")


def whole(name: str, value: Any) -> int:
    """Return a whole number of 64 bits."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    number = int(value.__index__())
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{name} must be a whole number below 2**63, got {number}")
    return number


def number(name: str, value: Any) -> float:
    """Return a finite number."""
    try:
        found = math.nan if isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return found


def parameters_of(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the parameters of a function; none if they are not known, as of some built-in ones."""
    try:
        return dict(signature(function).parameters)
    except (TypeError, ValueError):
        return {}


def warn(message: str) -> None:
    """Warn whoever called this package."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("binfm."):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=depth)
