"""Tables and figures of the results pages, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

NONE = "–"
"""What stands in a cell without a measurement."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> Iterator[str]:
    """Yield the lines of a table whose first `left` columns are text and whose others are numbers."""
    line = ("---",) * left + ("---:",) * (len(head) - left)
    return (f"| {' | '.join(cells)} |" for cells in (head, line, *rows))


def number(value: float | None) -> str:
    """Return three significant digits, or all digits before the point."""
    if value is None:
        return NONE
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def ratio(over: float | None, under: float | None) -> str:
    return f"{over / under:.2f}" if over and under else NONE
