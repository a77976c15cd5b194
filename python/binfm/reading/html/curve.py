"""Accuracy against bytes as SVG."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from binfm._text import number, numbers
from binfm.reading.html.svg import drawing, tip, written

if TYPE_CHECKING:
    from binfm.search import SizeCurve

WIDTH, HEIGHT = 460, 200
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 22, 36
LEAST_GAP = 44
"""Pixels between two labels of sizes."""


def size_curve_chart(curve: SizeCurve) -> str:
    """Return the score with its spread against bytes, on a log scale; nothing if no model fits."""
    points = [point for point in curve.points if point["nbytes"] is not None]
    if not points:
        return ""
    low = min(p["score"] - p["spread"] for p in points)
    high = max(p["score"] + p["spread"] for p in points)
    first, last = (math.log(end(p["nbytes"] for p in points)) for end in (min, max))

    def x(size: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * ((math.log(size) - first) / (last - first) if last > first else 0.5)

    def y(score: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * ((high - score) / (high - low) if high > low else 0.5)

    path = "L".join(f"{x(p['nbytes']):.1f} {y(p['score']):.1f}" for p in points)
    body = [
        *_frame(curve.metric, low, high, y),
        f'<path d="M{path}" fill="none" stroke="var(--c0)" stroke-width="2"/>',
        *(_point(p, x(p["nbytes"]), y) for p in points),
        *(written(x(size), HEIGHT - 20, f"{size:,}", "middle", soft=True) for size in _apart(points, x)),
    ]
    return drawing(WIDTH, HEIGHT, f"{curve.metric} by bytes", body, natural=True)


def _frame(metric: str, low: float, high: float, y: Callable[[float], float]) -> list[str]:
    """Return the names of the axes, and the lowest and the highest score."""
    body = [
        written(LEFT, 12, f"{metric}, mean ± standard deviation over folds", "start", 80, soft=True),
        written((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 4, "bytes of the saved model", "middle", 40, soft=True),
    ]
    for score, what in zip((low, high), numbers([float(f"{score:.3g}") for score in (low, high)]), strict=True):
        body.append(f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(score):.1f}" y2="{y(score):.1f}"/>')
        body.append(written(LEFT - 5, y(score) + 4, what, "end", soft=True))
    return body


def _point(point: dict[str, Any], at: float, y: Callable[[float], float]) -> str:
    score, spread = point["score"], point["spread"]
    about = tip(f"{point['nbytes']:,} bytes: {number(score, 4)} ± {number(spread, 2)}")
    line = f'<path d="M{at:.1f} {y(score - spread):.1f}V{y(score + spread):.1f}" stroke="var(--c0)"/>'
    return f'{line}<circle cx="{at:.1f}" cy="{y(score):.1f}" r="4" fill="var(--c0)">{about}</circle>'


def _apart(points: list[dict[str, Any]], x: Callable[[int], float]) -> list[int]:
    """Return the largest size and smaller ones whose labels do not touch."""
    kept: list[int] = []
    for size in sorted({point["nbytes"] for point in points}, reverse=True):
        if not kept or x(kept[-1]) - x(size) > LEAST_GAP:
            kept.append(size)
    return kept
