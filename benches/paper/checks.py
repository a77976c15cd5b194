"""Comparisons with the paper: which goals are reached, and by how much."""

from __future__ import annotations

import math

import numpy as np

from paper.published import TABLE_2
from paper.summary import Summary
from paper.systems import LABELS
from paper.tables import NONE, table

NOISE = 2.0
"""Two means count as equal within this many combined standard deviations."""
MIN_NOISE = 0.1
"""Differences up to this many points never count: on noiseless data the deviations are zero."""


def reached(summary: Summary) -> str:
    """Compare one tiling with the paper's mean minus one deviation, and four with the paper's SEFM."""
    rows = []
    for data in summary.data:
        paper, sefm = TABLE_2[data]["bfm1"], TABLE_2[data]["sefm"]
        cells = [data]
        for name, goal in (("bfm1", paper.accuracy - paper.deviation), ("bfm4", sefm.accuracy)):
            mean = summary.mean(data, name)
            if mean is None:
                cells += [NONE, f"{goal:.2f}", NONE]
                continue
            over = round(mean.accuracy, 2) >= round(goal, 2) if name == "bfm1" else round(mean.accuracy, 2) > goal
            cells += [f"{mean.accuracy:.2f}", f"{goal:.2f}", "yes" if over else "**no**"]
        quantile = summary.mean(data, "quantile")
        rows.append([*cells, f"{quantile.accuracy:.2f}" if quantile else NONE])
    head = ["", "tilings=1", "paper − 1 std", "reached", "tilings=4", "paper's SEFM", "above", "tilings=1, quantiles"]
    return table(head, rows)


def against_the_paper(summary: Summary) -> str:
    """Differences between our accuracies and the paper's, in points."""
    names = [name for name in ("liblinear", "fm", "dfm", "nfm-ids", "sefm", "bfm1") if name in summary.systems]
    rows = [[data, *[_difference(summary, data, name) for name in names]] for data in summary.data]
    return table(["here − paper, points", *[LABELS[name] for name in names]], rows)


def _difference(summary: Summary, data: str, name: str) -> str:
    ours, theirs = summary.mean(data, name), TABLE_2[data]["nfm" if name == "nfm-ids" else name]
    if ours is None:
        return NONE
    difference = ours.accuracy - theirs.accuracy
    noise = max(MIN_NOISE, NOISE * math.hypot(ours.deviation, theirs.deviation))
    text = f"{difference:+.2f}"
    return text if abs(difference) <= noise else f"**{text}**"


def speed(summary: Summary) -> str:
    """State how much slower the others predict, and where one of them is faster."""
    lines = []
    for ours in ("bfm1", "bfm4"):
        others = [name for name in summary.systems if name not in ("bfm1", "bfm4")]
        parts, slower = [], []
        for name in others:
            pairs = {data: (summary.ms(data, name), summary.ms(data, ours)) for data in summary.timed}
            ratios = {data: theirs / mine for data, (theirs, mine) in pairs.items() if theirs and mine}
            if not ratios:
                continue
            middle = float(np.median(list(ratios.values())))
            parts.append(
                f"{LABELS[name]} {times(min(ratios.values()))}–{times(max(ratios.values()))} ({times(middle)})"
            )
            slower += [f"{LABELS[name]} on {data} ({1 / ratio:.2g}×)" for data, ratio in ratios.items() if ratio < 1]
        if not parts:
            continue
        behind = "It is slower than " + ", ".join(slower) + "." if slower else "It is the fastest everywhere."
        lines.append(
            f"* {LABELS[ours]}: prediction times relative to it, range over data sets (median): {'; '.join(parts)}. "
            f"{behind}"
        )
    return "\n".join(lines) + "\n"


def times(ratio: float) -> str:
    """Format with two significant digits, or as an integer from 100 up."""
    return f"{ratio:.2g}" if ratio < 100 else f"{ratio:,.0f}"
