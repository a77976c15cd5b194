"""Results as text in columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MOST_LINES = 30
"""Lines of a printed table; `to_records` has them all."""


def table(head: Sequence[str], lines: Sequence[Sequence[str]], words: int = 1, most: int = MOST_LINES) -> str:
    """Return text in columns, the first `words` of them aligned to the left, and so many lines at most."""
    shown = [head, *lines[:most]]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    text = [
        "  ".join(c.ljust(w) if i < words else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths, strict=True)))
        for line in shown
    ]
    if len(lines) > most:
        text.append(f"… and {len(lines) - most:,} more")
    return "\n".join(line.rstrip() for line in text)


def number(value: float) -> str:
    """Return a number of the score to four digits."""
    return f"{value:+.4g}"


def figure(value: Any) -> str:
    """Return a whole number in full, or a float to four digits."""
    exact = plain(value)
    return f"{exact:,}" if isinstance(exact, int) else f"{exact:.4g}"


def plain(value: Any) -> Any:
    """Return Python's own number for one of numpy's."""
    return value.item() if hasattr(value, "item") else value
