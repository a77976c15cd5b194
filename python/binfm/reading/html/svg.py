"""Figures as SVG that takes its colors from the style around it: matrices and heat maps, and what all figures need."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from binfm._text import number, signed
from binfm.reading._marks import leading, not_shown, spread, ticks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm.reading._cells import Cells
    from binfm.reading.interactions import PairCells

WIDTH = 340
COLORS = 7
LETTERS = 18
"""Characters of a label that fit beside a bar or a row."""
MAX_CATEGORIES = 18
MAX_CELLS = 1000
"""Cells of a heat map; more would be too small to see."""
MAX_TIP = 100
"""Characters of a tooltip."""
MAX_ROW_LABELS = 8


def matrix(names: Sequence[str], strength: NDArray[np.float64]) -> str:
    """Return a matrix of strengths; the stronger, the more saturated. The diagonal has a color and scale of its own."""
    count, side = len(names), 26
    letters = min(LETTERS, max(map(len, names), default=0))
    left, top = 12 + 7 * letters, 16 + 5 * letters
    pairs, main = ends_of(strength)
    body = []
    for i, name in enumerate(names):
        place = i * side + side / 2
        body.append(written(left - 6, top + place + 4, name, "end"))
        turned = f'transform="translate({left + place + 4} {top - 6}) rotate(-50)"'
        body.append(f"<text {turned}>{label(name)}</text>")
    for (i, j), value in np.ndenumerate(strength):
        what = f"{names[i]}: main effect" if i == j else f"{names[i]} × {names[j]}"
        color, most = (5, main) if i == j else (0, pairs)
        about = f"{what}: {number(value)}"
        body.append(_cell(left + j * side, top + i * side, side, side, color, value / (most or 1.0), about))
    width, height = left + count * side + 4 * letters, top + count * side + 4
    return drawing(width, height, "strength of each pair of features", body, natural=True)


def ends_of(strength: NDArray[np.float64]) -> tuple[float, float]:
    """Return the strongest pair, and the strongest main effect, which are on the diagonal."""
    main = np.diagonal(strength)
    return float((strength - np.diag(main)).max(initial=0)), float(main.max(initial=0))


def heat(pair: PairCells, effect: NDArray[np.float64]) -> str:
    """Return the cells of two features, colored by their interaction; nothing if they are too many to see."""
    rows, columns = _drawn(pair.axes[0], effect.T), _drawn(pair.axes[1], effect)
    if len(rows) * len(columns) > MAX_CELLS:
        return ""
    left, top, width, height = 96, 4, WIDTH - 100, 150
    most = float(np.abs(effect).max(initial=0)) or 1.0
    w, h = width / max(len(columns), 1), height / max(len(rows), 1)
    body = []
    for (i, j), value in np.ndenumerate(effect[np.ix_(rows, columns)]):
        about = f"{pair.cells[0][rows[i]]}, {pair.cells[1][columns[j]]}: {signed(value, 3)}"
        body.append(_cell(left + j * w, top + i * h, w, h, 0 if value > 0 else 1, abs(value) / most, about))
    for place, what in _row_marks(pair.axes[0], rows):
        body.append(written(left - 4, top + place * h + 4, what, "end", 15))
    ends = [("start", left, 0), ("end", left + width, -1)]
    for anchor, x, j in ends[: min(2, len(columns))]:
        body.append(written(x, top + height + 14, pair.cells[1][columns[j]], anchor))
    picture = drawing(WIDTH, top + height + 20, f"interaction of {pair.names[0]} and {pair.names[1]}", body)
    notes = [f"{name}: {note}" for name, note in zip(pair.names, _notes(pair, rows, columns), strict=True) if note]
    return picture + "".join(f'<p class="soft">{escape(note)}</p>' for note in notes)


def drawing(width: float, height: float, title: str, body: Sequence[str], natural: bool = False) -> str:
    """Return a figure, as wide as there is room; with `natural`, not wider than it is."""
    look = f'style="max-width:{width:.0f}px;min-width:{min(width, 320):.0f}px"' if natural else ""
    head = f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{label(title, MAX_TIP)}" {look}>'
    return head + "".join(body) + "</svg>"


def written(x: float, y: float, what: str, anchor: str, most: int = LETTERS, soft: bool = False) -> str:
    """Return a text in a figure."""
    look = 'class="soft" ' if soft else ""
    return f'<text {look}x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{label(what, most)}</text>'


def label(what: str, most: int = LETTERS) -> str:
    """Return a text as HTML, truncated to fit."""
    return escape(what if len(what) <= most else what[: most - 1] + "…")


def tip(what: str) -> str:
    """Return a tooltip."""
    return f"<title>{label(what, MAX_TIP)}</title>"


def _cell(x: float, y: float, w: float, h: float, color: int, fullness: float, what: str) -> str:
    box = f'x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}"'
    look = f'class="h{color}" fill-opacity="{0.04 + 0.96 * fullness:.2f}"'
    return f"<rect {box} {look}>{tip(what)}</rect>"


def _drawn(cells: Cells, effect: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the cells to draw: all of a numeric feature, and some categories if there are many."""
    if cells.bounds or len(cells.labels) <= MAX_CATEGORIES:
        return np.arange(len(cells.labels))
    return leading(cells, effect, MAX_CATEGORIES)


def _notes(pair: PairCells, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> list[str]:
    return [not_shown(cells, len(drawn)) for cells, drawn in zip(pair.axes, (rows, columns), strict=True)]


def _row_marks(cells: Cells, rows: NDArray[np.intp]) -> list[tuple[float, str]]:
    """Return places and labels of some rows, of which the i-th reaches from i to i + 1."""
    bins = len(cells.bounds)
    if not bins:
        return [(i + 0.5, cells.labels[rows[i]]) for i in spread(len(rows), MAX_ROW_LABELS)]
    return ticks(cells, MAX_ROW_LABELS) + [(bins + 0.5, what) for what in cells.labels[bins:]]
