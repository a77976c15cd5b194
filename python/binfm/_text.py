"""Results as text: numbers and dates as people write them, and tables in columns."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

MAX_LINES = 30
"""Lines of a printed table; `to_records` has them all."""
DIGITS = 3
"""Significant digits of a label, at least; whole numbers below a million have all of theirs."""
MAX_DIGITS = 17
"""Significant digits that tell any two floats apart."""
LARGE, SMALL = 1e6, 1e-4
"""Numbers from the one on and below the other are written with an exponent."""


def table(head: Sequence[str], lines: Sequence[Sequence[str]], *, left: int = 1, most: int | None = None) -> str:
    """Return text in columns, the first `left` of them aligned to the left; lines beyond `most` are only counted."""
    shown = [head, *lines[:most]]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    text = [
        "  ".join(c.ljust(w) if i < left else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths, strict=True)))
        for line in shown
    ]
    if most is not None and len(lines) > most:
        text.append(f"… and {len(lines) - most:,} more")
    return "\n".join(line.rstrip() for line in text)


def number(value: float, digits: int = DIGITS) -> str:
    """Return a number as people write it: 2013, 12,500, 0.05, 1.2e6.

    It is rounded to `digits` significant digits, but a number below a million never to tens or more.
    """
    if not math.isfinite(value):
        return str(value)
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    size = abs(float(f"{mantissa}e{exponent}"))
    if size and (size < SMALL or (size >= LARGE and digits <= int(exponent))):
        return f"{_trimmed(mantissa)}e{int(exponent)}"
    text = _trimmed(f"{value:.{max(0, digits - 1 - int(exponent))}f}")
    text = "0" if text == "-0" else text
    return text if abs(value) < 9999.5 else f"{int(text):,}" if "." not in text else _with_commas(text)


def numbers(values: Sequence[float]) -> list[str]:
    """Return numbers in the fewest digits that tell them apart, or in full if five digits are enough for that."""
    full = [number(value, DIGITS + 2) for value in values]
    if all(float(text.replace(",", "")) == value for text, value in zip(full, values, strict=True)):
        return full
    texts: list[str] = []
    for digits in range(DIGITS, MAX_DIGITS + 1):
        texts = [number(value, digits) for value in values]
        if len(set(texts)) == len(set(values)):
            break
    return texts


def alike(values: Sequence[float]) -> list[str]:
    """Return the numbers of an axis, all with the same decimals and the same power of ten."""
    top = max(map(abs, values), default=0.0)
    power = 0 if top == 0 or SMALL <= top < LARGE else 3 * math.floor(math.log10(top) / 3)
    scaled = [value / 10.0**power for value in values]
    apart = [b - a for a, b in pairwise(sorted(scaled)) if b > a]
    least = 1e-6 * min(apart, default=top / 10.0**power)
    decimals = next((d for d in range(16) if all(abs(round(x, d) - x) <= least for x in scaled)), 16)
    form = f",.{decimals}f" if max(map(abs, scaled), default=0.0) >= 10_000 else f".{decimals}f"
    texts = [f"{round(x, decimals) + 0.0:{form}}" for x in scaled]
    return [f"{text}e{power}" if power and x else text if x else "0" for text, x in zip(texts, scaled, strict=True)]


def dates(days: Sequence[float]) -> list[str]:
    """Return days since 1970 as dates, with the time of day if dates alone do not tell them apart."""
    try:
        moments = [datetime.datetime(1970, 1, 1) + datetime.timedelta(days=day) for day in days]
    except (OverflowError, ValueError):
        return numbers(days)  # before the year 1 or after 9999
    for form in ("%Y-%m-%d", "%Y-%m-%d %H:%M"):
        texts = [moment.strftime(form) for moment in moments]
        if len(set(texts)) == len(set(days)):
            return texts
    return [moment.isoformat(" ", "milliseconds") for moment in moments]


def signed(value: float, digits: int = 4) -> str:
    """Return a part of a score, with its sign."""
    text = number(value, digits)
    return text if text.startswith("-") else f"+{text}"


def figure(value: Any) -> str:
    """Return a whole number in full, or a float to four digits."""
    exact = plain(value)
    return f"{exact:,}" if isinstance(exact, int) else number(exact, 4)


def few(values: Sequence[Any], most: int = 8) -> str:
    """Return the first values in a line."""
    return ", ".join(map(str, values[:most])) + (", …" if len(values) > most else "")


def plain(value: Any) -> Any:
    """Return the Python number of a numpy number."""
    return value.item() if hasattr(value, "item") else value


def _trimmed(text: str) -> str:
    """Return a number without zeros at its end that say nothing."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def _with_commas(text: str) -> str:
    whole, fraction = text.split(".")
    return f"{int(whole):,}.{fraction}"
