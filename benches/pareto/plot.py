"""The plot `benches/results/pareto.png`: accuracy against bytes, one panel per data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from pareto.problem import BUDGETS
from pareto.summary import Summary
from pareto.systems import REFERENCE

COLUMNS, ROWS = 5, 3
"""The average takes two cells, the legend the last one."""
TICKS = (10, 20, 40, 50, 60, 70, 80, 85, 90, 93, 95, 96, 97, 98, 98.5, 99, 99.5, 99.8, 99.9)
TICK_GAP = 0.1
"""Minimum distance between two ticks, as a share of the height."""
MIN_ERROR = 0.05
"""Percent; an error of zero is drawn here."""
SMALL = {"font.size": 8, "axes.titlesize": 9, "axes.titleweight": "bold", "axes.spines.top": False}


@dataclass(frozen=True)
class Style:
    """A color and marker that stay distinct for color-blind readers and in grayscale."""

    color: str
    marker: str
    line: str = "-"
    width: float = 1.3


STYLES = {
    "binfm": Style("#d55e00", "o", width=2.4),
    "hessboost": Style("#0072b2", "s"),
    "lightgbm": Style("#009e73", "^"),
    "tree": Style("#aa4499", "v", "--"),
    "linear": Style("#777777", "D", ":"),
}


def draw(summary: Summary) -> Figure:
    with mpl.rc_context({**SMALL, "axes.spines.right": False, "svg.hashsalt": "binfm"}):
        figure = Figure(figsize=(11, 6.6), dpi=150, layout="constrained")
        grid = figure.add_gridspec(ROWS, COLUMNS)
        average = figure.add_subplot(grid[0, :2])
        _average(average, summary)
        places = [place for place in np.ndindex(ROWS, COLUMNS) if place > (0, 1)]
        for data, place in zip(summary.sets, places, strict=False):
            _panel(figure.add_subplot(grid[place]), summary, data)
        legend = figure.add_subplot(grid[ROWS - 1, COLUMNS - 1])
        legend.axis("off")
        legend.legend(*average.get_legend_handles_labels(), loc="center", frameon=False, fontsize=8.5)
        figure.supylabel("test accuracy, %")
        figure.supxlabel("model size, bytes")
    return figure


def _average(axes: Axes, summary: Summary) -> None:
    for system in summary.systems:
        values = [np.nan if value is None else value for value in summary.averages(system)]
        _line(axes, system.name, values, system.label)
    if summary.sets:
        reference = float(np.mean([summary.accuracy(data, REFERENCE) for data in summary.sets]))
        _reference(axes, reference)
    axes.set_title(f"average of {len(summary.sets)} data sets")
    _axes(axes)


def _panel(axes: Axes, summary: Summary, data: str) -> None:
    for system in summary.systems:
        cells = [summary.cell(data, system, budget) for budget in BUDGETS]
        _line(axes, system.name, [cell.accuracy if cell.fits else np.nan for cell in cells], system.label)
    _reference(axes, summary.accuracy(data, REFERENCE))
    axes.set_title(data)
    _axes(axes)


def _line(axes: Axes, name: str, values: list[float], label: str) -> None:
    style = STYLES[name]
    axes.plot(
        BUDGETS,
        [_height(value) for value in values],
        color=style.color,
        marker=style.marker,
        linestyle=style.line,
        linewidth=style.width,
        markersize=3.5,
        label=label,
        zorder=3 if name == "binfm" else 2,
    )


def _reference(axes: Axes, accuracy: float) -> None:
    axes.axhline(
        _height(accuracy), color="black", linewidth=0.8, linestyle=(0, (5, 3)), label=f"{REFERENCE.label}, no limit"
    )


def _height(accuracy: float) -> float:
    """Return the vertical position of an accuracy. The error is on a log scale: 98 to 99 is as far as 80 to 90."""
    return float(-np.log2(max(100 - accuracy, MIN_ERROR))) if not np.isnan(accuracy) else np.nan


def _axes(axes: Axes) -> None:
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(BUDGETS[::2]))
    axes.xaxis.set_minor_locator(FixedLocator(BUDGETS[1::2]))
    axes.xaxis.set_major_formatter(FuncFormatter(_bytes))
    axes.xaxis.set_minor_formatter(FuncFormatter(lambda *_: ""))
    shown = _ticks(*axes.get_ylim())
    axes.set_yticks([_height(tick) for tick in shown], [f"{tick:g}" for tick in shown])
    axes.yaxis.set_minor_locator(NullLocator())
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)


def _ticks(low: float, high: float) -> list[float]:
    shown: list[float] = []
    for tick in TICKS:
        near = shown and _height(tick) - _height(shown[-1]) < TICK_GAP * (high - low)
        if low <= _height(tick) <= high and not near:
            shown.append(tick)
    return shown


def _bytes(value: float, _: Any) -> str:
    return f"{value / 1024:g}K" if value >= 1024 else f"{value:g}"
