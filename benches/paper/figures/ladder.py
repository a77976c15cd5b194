"""Accuracy against memory of the four FMs, for m = 16, 32, 64, 128."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from paper.agenda import FAMILY, LADDERS
from paper.figures.style import GRID, STYLES
from paper.summary import Summary
from paper.systems import LABELS
from paper.systems.base import FACTORS

COLUMNS = 3


def draw(summary: Summary) -> Figure:
    sets = [data for data in LADDERS if data in summary.data]
    rows = -(-len(sets) // COLUMNS)
    figure = Figure(figsize=(3.3 * COLUMNS, 2.6 * rows + 0.4), layout="constrained")
    panels = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for data, axes in zip(sets, panels, strict=False):
        _panel(axes, summary, data)
    for axes in panels[len(sets) :]:
        axes.axis("off")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    figure.supxlabel("memory by the paper's formula", fontsize=9)
    figure.supylabel("test accuracy, %", fontsize=9)
    return figure


def _panel(axes: Axes, summary: Summary, data: str) -> None:
    for name in FAMILY:
        steps = [summary.store.records.get(f"ladder/{data}/{name}/{seed}") for seed in range(summary.plan.few_splits)]
        found = [each for each in steps if each]
        if not found:
            continue
        bits, accuracy = (
            [np.mean([each[str(m)][what] for each in found]) for m in FACTORS] for what in ("bits", "accuracy")
        )
        style = STYLES[name]
        axes.plot(
            np.array(bits) / 8,
            accuracy,
            color=style.color,
            marker=style.marker,
            linestyle=style.line,
            markersize=4.5,
            label=LABELS[name],
        )
    axes.set_title(data)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(10))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _bytes(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(**GRID)


def _bytes(value: float) -> str:
    for unit, name in ((1e6, "MB"), (1e3, "kB")):
        if value >= unit:
            return f"{value / unit:g} {name}"
    return f"{value:g} B"
