"""Parts of HTML that the page and the notebook share. Arguments are text unless their name says HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from binfm.reading.html.svg import COLORS

if TYPE_CHECKING:
    from binfm.reading._cells import Direction

MAX_TEXT = 60
"""Characters of a name in a table; the rest is in its tooltip."""


def table(head: Iterable[str], html_lines: Iterable[Iterable[str]], *, left: int = 1) -> str:
    """Return a table whose cells are HTML, the first one or two columns aligned to the left."""
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in line)}</tr>" for line in html_lines)
    look = ' class="two"' if left == 2 else ""
    return f'<div class="wide"><table{look}><thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table></div>'


def text(value: Any, most: int = MAX_TEXT) -> str:
    """Return a text as HTML, truncated if it is very long."""
    full = str(value)
    if len(full) <= most:
        return escape(full)
    tip = full if len(full) <= 10 * most else full[: 10 * most] + "…"
    return f'<span title="{escape(tip)}">{escape(full[: most - 1])}…</span>'


def cards(facts: dict[str, str]) -> str:
    """Return facts as boxes: a value above its name."""
    boxes = "".join(f"<div><b>{text(value)}</b>{escape(name)}</div>" for name, value in facts.items())
    return f'<div class="cards">{boxes}</div>'


def bar(share: float) -> str:
    """Return a bar of a share of its track."""
    return f'<span class="track"><span class="bar" style="width:{100 * share:.1f}%"></span></span>'


def floating_bar(begin: float, end: float) -> str:
    """Return a bar from one share of its track to another, in the color of its direction."""
    left, width = 100 * min(begin, end), 100 * abs(end - begin)
    color = "bar" if end >= begin else "bar down"
    return (
        f'<span class="track"><span class="{color}" style="margin-left:{left:.1f}%;width:{width:.1f}%"></span></span>'
    )


def more(count: int, what: str) -> str:
    """Return a line on what is left out, if anything is."""
    return f'<p class="soft">{count:,} more {escape(what)}.</p>' if count > 0 else ""


def folded(title: str, html: str) -> str:
    """Return details that a click unfolds."""
    return f"<details><summary>{escape(title)}</summary>{html}</details>"


def class_legend(classes: Sequence[Any], of: int, html_after: str = "") -> str:
    """Return the color of each class."""
    left = f'<span class="soft">the first {len(classes)} of {of} classes</span>' if len(classes) < of else ""
    return legend([(f"var(--c{k % COLORS})", str(label)) for k, label in enumerate(classes)], left + html_after)


def sign_legend(direction: Direction, html_after: str = "") -> str:
    """Return what the colors of bars mean."""
    return legend([("var(--c0)", direction.up), ("var(--c1)", direction.down)], html_after)


def legend(items: Sequence[tuple[str, str]], html_after: str = "") -> str:
    """Return colors and what they mean."""
    spans = "".join(f'<span><i style="background:{color}"></i>{text(label)}</span>' for color, label in items)
    return f'<div class="legend">{spans}{html_after}</div>'
