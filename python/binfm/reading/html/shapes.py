"""The effects of a feature as SVG: stairs over its bins, or a bar for each category."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from binfm._text import number, signed
from binfm.reading._marks import counted, leading, not_shown, ticks
from binfm.reading.html.svg import COLORS, WIDTH, drawing, tip, written

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm.reading.effects import FeatureEffects

HEIGHT = 170
LEFT, RIGHT, TOP, BOTTOM = 56, 8, 20, 22
"""Margins of a shape plot, for its labels."""
STRIP = 18
"""Height of the histogram below the stairs."""
DASHES = ("", "6 3", "2 3", "8 3 2 3")
MAX_TICKS = 4
MAX_BARS = 8
LETTER = 6.6
"""Width of a character, at most on average."""


def shape(feature: FeatureEffects, shown: Sequence[int]) -> str:
    """Return the effects of a feature: stairs over its bins, or a bar for each category."""
    if not feature.cells:
        return '<p class="soft">The model does not use this feature.</p>'
    values = np.atleast_2d(feature.effect)[list(shown)]
    return _bars(feature, values) if feature.kind == "categorical" else _stairs(feature, values)


def _stairs(feature: FeatureEffects, values: NDArray[np.float64]) -> str:
    bins = len(feature.bounds)
    slots = bins + 2 * (len(feature.cells) > bins)
    low, high = float(values.min(initial=0)), float(values.max(initial=0))
    strip = 0 if feature.count is None else STRIP + 6
    width, height, span = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM - strip, (high - low) or 1.0

    def x(slot: float) -> float:
        return LEFT + width * slot / max(slots, 1)

    def y(value: float) -> float:
        return TOP + height * (high - value) / span

    body = [written(LEFT, 11, f"up: {feature.direction.up}", "start", 44, soft=True)]
    body += _scale(low, high, y)
    for i, effect in enumerate(values):
        path = "".join(f"{'L' if c else 'M'}{x(c):.1f} {y(e):.1f}H{x(c + 1):.1f}" for c, e in enumerate(effect[:bins]))
        look = f'stroke="var(--c{i % COLORS})" stroke-dasharray="{DASHES[i // 2 % len(DASHES)]}"'
        body.append(f'<path d="{path}" fill="none" stroke-width="2" {look}/>')
        if len(effect) > bins:
            body.append(
                f'<circle cx="{x(bins + 1):.1f}" cy="{y(effect[bins]):.1f}" r="4" fill="var(--c{i % COLORS})"/>'
            )
    body += _histogram(feature, x)
    body += [written(x(place), HEIGHT - 6, what, "middle", soft=True) for place, what in _fitting_ticks(feature, x)]
    if slots > bins:
        body.append(written(WIDTH - RIGHT + 4, HEIGHT - 6, "missing", "end", soft=True))
    body += _tooltips(feature, values, x)
    return drawing(WIDTH, HEIGHT, f"effect of {feature.name}", body)


def _scale(low: float, high: float, y: Callable[[float], float]) -> list[str]:
    """Return the vertical axis, with zero and the two ends."""
    shown = [tick for tick in sorted({low, 0.0, high}) if tick == 0 or abs(y(tick) - y(0)) > 12]
    body = [f'<line class="axis" x1="{LEFT}" x2="{LEFT}" y1="{y(high):.1f}" y2="{y(low):.1f}"/>']
    body += [written(LEFT - 5, y(tick) + 4, number(tick), "end", soft=True) for tick in shown]
    body.append(f'<line class="zero" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(0):.1f}" y2="{y(0):.1f}"/>')
    return body


def _fitting_ticks(feature: FeatureEffects, x: Callable[[float], float]) -> list[tuple[float, str]]:
    """Return as many ticks as do not touch, of four at most."""
    marks = []
    for most in range(MAX_TICKS, 0, -1):
        marks = ticks(feature.axis, most)
        last = [(len(feature.bounds) + 1.0, "missing")] if len(feature.cells) > len(feature.bounds) else []
        if all((len(a) + len(b)) / 2 * LETTER < x(q) - x(p) for (p, a), (q, b) in pairwise([*marks, *last])):
            break
    return marks


def _histogram(feature: FeatureEffects, x: Callable[[float], float]) -> list[str]:
    """Return how many samples each bin has, as gray bars; nothing if that is not known."""
    counts, bins = feature.count, len(feature.bounds)
    if counts is None:
        return []
    most, bottom = max(1, int(counts.max(initial=0))), HEIGHT - BOTTOM
    body = []
    for c, count in enumerate(counts.tolist()):
        left, height = x(c if c < bins else bins + 0.5), STRIP * count / most
        size = f'width="{x(1) - x(0):.1f}" height="{height:.1f}"'
        body.append(f'<rect class="count" x="{left:.1f}" y="{bottom - height:.1f}" {size}/>')
    body.append(written(LEFT - 5, bottom - 4, f"≤ {number(most)}", "end", soft=True))
    return body


def _tooltips(feature: FeatureEffects, values: NDArray[np.float64], x: Callable[[float], float]) -> list[str]:
    bins, body = len(feature.bounds), []
    for c, cell in enumerate(feature.cells):
        left = x(c if c < bins else bins + 0.5)
        box = f'x="{left:.1f}" y="{TOP}" width="{x(1) - x(0):.1f}" height="{HEIGHT - TOP - BOTTOM}"'
        each = ", ".join(signed(v) for v in values[:, c])
        samples = "" if feature.count is None else f"; {feature.count[c]:,} samples"
        body.append(f'<rect {box} fill="transparent">{tip(f"{cell}: {each}{samples}")}</rect>')
    return body


def _bars(feature: FeatureEffects, values: NDArray[np.float64]) -> str:
    order = leading(feature.axis, values, MAX_BARS)
    left, step = 130, 18
    drawn = values[:, order]
    low, high = float(drawn.min(initial=0)), float(drawn.max(initial=0))
    span = (high - low) or 1.0

    def x(value: float) -> float:
        return left + 5 + (WIDTH - left - 5 - RIGHT) * (value - low) / span

    bottom = TOP + step * len(order)
    body = [written(WIDTH - RIGHT, 11, f"right: {feature.direction.up}", "end", 44, soft=True)]
    body.append(f'<line class="zero" x1="{x(0):.1f}" x2="{x(0):.1f}" y1="{TOP}" y2="{bottom}"/>')
    for i, c in enumerate(order.tolist()):
        y = TOP + i * step + 2
        body.append(_category(feature, c, left - 6, y + 11))
        for k, value in enumerate(values[:, c]):
            about = tip(f"{feature.cells[c]}: {signed(value)}")
            if len(values) > 1:
                body.append(
                    f'<circle cx="{x(value):.1f}" cy="{y + 7}" r="4" fill="var(--c{k % COLORS})">{about}</circle>'
                )
                continue
            box = f'x="{min(x(0), x(value)):.1f}" y="{y}" width="{abs(x(value) - x(0)):.1f}" height="{step - 5}"'
            body.append(f'<rect {box} fill="var(--c{0 if value > 0 else 1})">{about}</rect>')
    ends = ((low, "start"), (high, "end"))
    body += [written(x(end), bottom + 14, number(end), anchor, soft=True) for end, anchor in ends if end]
    note = not_shown(feature.axis, len(order))
    below = f'<p class="soft">{escape(note)}</p>' if note else ""
    return drawing(WIDTH, bottom + 20, f"effect of {feature.name}", body) + below


def _category(feature: FeatureEffects, c: int, x: float, y: float) -> str:
    """Return the name of a category and its number of samples, of which the number is never cut off."""
    count = counted(feature.axis, c, "")
    name = feature.cells[c]
    room = 19 - len(count)
    return written(x, y, (name if len(name) <= room else name[: room - 1] + "…") + count, "end", 19)
