"""Results as text in columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MAX_LINES = 30
"""Lines of a printed table; `to_records` has them all."""


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


def signed(value: float) -> str:
    """Return a part of a score to four digits."""
    return f"{value:+.4g}"


def figure(value: Any) -> str:
    """Return a whole number in full, or a float to four digits."""
    exact = plain(value)
    return f"{exact:,}" if isinstance(exact, int) else f"{exact:.4g}"


def plain(value: Any) -> Any:
    """Return the Python number of a numpy number."""
    return value.item() if hasattr(value, "item") else value
