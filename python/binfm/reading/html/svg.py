"""Figures for the page, as SVG that takes its colors from the style of the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm.reading.effects import FeatureEffects
    from binfm.reading.interactions import PairCells

WIDTH, HEIGHT = 340, 170
LEFT, RIGHT, TOP, BOTTOM = 44, 8, 8, 22
"""Margins of a shape plot, for its labels."""
COLORS = 7
DASHES = ("", "6 3", "2 3", "8 3 2 3")
MAX_TICKS = 4
MAX_BARS = 12
LETTERS = 18
"""Characters of a label that fit beside a bar or a row."""


def shape(feature: FeatureEffects, shown: Sequence[int]) -> str:
    """Return the effects of a feature: stairs over its cells, or a bar for each category."""
    values = np.atleast_2d(feature.effect)[list(shown)]
    return _bars(feature, values) if feature.kind == "categorical" else _stairs(feature, values)


def matrix(names: Sequence[str], strength: NDArray[np.float64]) -> str:
    """Return a matrix of strengths; the stronger, the more saturated."""
    count, side = len(names), 26
    letters = min(LETTERS, max(map(len, names), default=0))
    left, top = 12 + 7 * letters, 16 + 5 * letters
    most = float(strength.max(initial=0)) or 1.0
    body = []
    for i, name in enumerate(names):
        place = i * side + side / 2
        body.append(f'<text x="{left - 6}" y="{top + place + 4}" text-anchor="end">{_label(name)}</text>')
        turned = f'transform="translate({left + place + 4} {top - 6}) rotate(-50)"'
        body.append(f"<text {turned}>{_label(name)}</text>")
    for (i, j), value in np.ndenumerate(strength):
        what = f"{names[i]}: main effect" if i == j else f"{names[i]} × {names[j]}"
        color = 5 if i == j else 0
        body.append(_cell(left + j * side, top + i * side, side, side, color, value / most, f"{what}: {value:.3g}"))
    width, height = left + count * side + 4 * letters, top + count * side + 4
    return _svg(width, height, "strength of each pair of features", body, natural=True)


def heat(pair: PairCells, effect: NDArray[np.float64]) -> str:
    """Return the cells of two features, colored by their interaction."""
    rows, columns = effect.shape
    left, top, width, height = 96, 4, WIDTH - 100, 150
    most = float(np.abs(effect).max(initial=0)) or 1.0
    w, h = width / max(columns, 1), height / max(rows, 1)
    body = []
    for (i, j), value in np.ndenumerate(effect):
        tip = f"{pair.cells[0][i]}, {pair.cells[1][j]}: {value:+.3g}"
        body.append(_cell(left + j * w, top + i * h, w, h, 0 if value > 0 else 1, abs(value) / most, tip))
    for i in _some(rows, 8):
        y = top + (i + 0.5) * h + 4
        body.append(f'<text x="{left - 4}" y="{y:.1f}" text-anchor="end">{_label(pair.cells[0][i], 15)}</text>')
    ends = [("start", left, 0), ("end", left + width, columns - 1)]
    for anchor, x, j in ends[: min(2, columns)]:
        body.append(
            f'<text x="{x}" y="{top + height + 14}" text-anchor="{anchor}">{_label(pair.cells[1][j], LETTERS)}</text>'
        )
    return _svg(WIDTH, top + height + 20, f"interaction of {pair.names[0]} and {pair.names[1]}", body)


def _stairs(feature: FeatureEffects, values: NDArray[np.float64]) -> str:
    bins = len(feature.bounds)
    slots = bins + 2 * (len(feature.cells) > bins)
    low, high = float(values.min(initial=0)), float(values.max(initial=0))
    width, height, span = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM, (high - low) or 1.0

    def x(slot: float) -> float:
        return LEFT + width * slot / max(slots, 1)

    def y(value: float) -> float:
        return TOP + height * (high - value) / span

    body = [f'<line class="axis" x1="{LEFT}" x2="{LEFT}" y1="{TOP}" y2="{TOP + height}"/>']
    for tick in {low, 0.0, high}:
        if tick == 0 or abs(y(tick) - y(0)) > 12:
            body.append(f'<text class="soft" x="{LEFT - 5}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:.3g}</text>')
    body.append(f'<line class="zero" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(0):.1f}" y2="{y(0):.1f}"/>')
    for i, effect in enumerate(values):
        path = "".join(f"{'L' if c else 'M'}{x(c):.1f} {y(e):.1f}H{x(c + 1):.1f}" for c, e in enumerate(effect[:bins]))
        look = f'stroke="var(--c{i % COLORS})" stroke-dasharray="{DASHES[i // 2 % len(DASHES)]}"'
        body.append(f'<path d="{path}" fill="none" stroke-width="2" {look}/>')
        if len(effect) > bins:
            body.append(
                f'<circle cx="{x(bins + 1):.1f}" cy="{y(effect[bins]):.1f}" r="4" fill="var(--c{i % COLORS})"/>'
            )
    body += _edge_labels(feature, x, slots > bins)
    for c, cell in enumerate(feature.cells):
        slot = c if c < bins else bins + 0.5
        each = ", ".join(f"{v:+.4g}" for v in values[:, c])
        box = f'x="{x(slot):.1f}" y="{TOP}" width="{width / max(slots, 1):.1f}" height="{height}"'
        body.append(f'<rect {box} fill="transparent"><title>{escape(cell)}: {each}</title></rect>')
    return _svg(WIDTH, HEIGHT, f"effect of {feature.name}", body)


def _edge_labels(feature: FeatureEffects, x: Callable[[float], float], missing: bool) -> list[str]:
    bins = len(feature.bounds)
    labels = []
    for i in _some(bins - 1, MAX_TICKS):
        text = f"{feature.bounds[i][1]:.3g}"
        labels.append(f'<text class="soft" x="{x(i + 1):.1f}" y="{HEIGHT - 6}" text-anchor="middle">{text}</text>')
    if missing:
        labels.append(f'<text class="soft" x="{WIDTH - RIGHT + 4}" y="{HEIGHT - 6}" text-anchor="end">missing</text>')
    return labels


def _bars(feature: FeatureEffects, values: NDArray[np.float64]) -> str:
    order = np.argsort(-np.abs(values).max(axis=0), kind="stable")[:MAX_BARS]
    order = order[np.argsort(-values[0, order], kind="stable")]
    left, step = 120, 18
    low, high = float(values.min(initial=0)), float(values.max(initial=0))
    span = (high - low) or 1.0

    def x(value: float) -> float:
        return left + (WIDTH - left - RIGHT) * (value - low) / span

    height = step * len(order) + 22
    body = [f'<line class="zero" x1="{x(0):.1f}" x2="{x(0):.1f}" y1="2" y2="{height - 18}"/>']
    for i, c in enumerate(order):
        y = i * step + 4
        body.append(f'<text x="{left - 6}" y="{y + 11}" text-anchor="end">{_label(feature.cells[c])}</text>')
        for k, value in enumerate(values[:, c]):
            tip = f"<title>{escape(feature.cells[c])}: {value:+.4g}</title>"
            if len(values) > 1:
                body.append(
                    f'<circle cx="{x(value):.1f}" cy="{y + 7}" r="4" fill="var(--c{k % COLORS})">{tip}</circle>'
                )
                continue
            box = f'x="{min(x(0), x(value)):.1f}" y="{y}" width="{abs(x(value) - x(0)):.1f}" height="{step - 5}"'
            body.append(f'<rect {box} fill="var(--c{0 if value > 0 else 1})">{tip}</rect>')
    for tick, anchor in ((low, "start"), (high, "end")):
        if tick:
            body.append(
                f'<text class="soft" x="{x(tick):.1f}" y="{height - 4}" text-anchor="{anchor}">{tick:.3g}</text>'
            )
    return _svg(WIDTH, height, f"effect of {feature.name}", body)


def _cell(x: float, y: float, w: float, h: float, color: int, fullness: float, tip: str) -> str:
    box = f'x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}"'
    look = f'class="h{color}" fill-opacity="{0.04 + 0.96 * fullness:.2f}"'
    return f"<rect {box} {look}><title>{escape(tip)}</title></rect>"


def _svg(width: float, height: float, title: str, body: Sequence[str], natural: bool = False) -> str:
    look = f'style="max-width:{width:.0f}px;min-width:{min(width, 320):.0f}px"' if natural else ""
    head = f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{escape(title)}" {look}>'
    return head + "".join(body) + "</svg>"


def _label(text: str, most: int = LETTERS) -> str:
    return escape(text if len(text) <= most else text[: most - 1] + "…")


def _some(count: int, most: int) -> range:
    step = max(1, -(-count // most))
    return range((count - 1) % step // 2 if count else 0, count, step)
