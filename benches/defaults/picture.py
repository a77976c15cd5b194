"""The picture `benches/results/defaults.png`: the difference to LightGBM on each data set, a dot for each system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from pareto.plot import SMALL, Style

from defaults.summary import Summary
from defaults.systems import REFERENCE, SYSTEMS, System

STYLES = {
    "binfm": Style("#d55e00", "o"),
    "hist": Style("#0072b2", "s"),
    "linear": Style("#777777", "D"),
    "ebm": Style("#aa4499", "v"),
}
APART = 0.25
"""Distance between the dots of a data set, in rows, so that none hides another."""
PANEL_WIDTH, ROW_HEIGHT = 5.5, 0.33
"""Inches."""
MARGIN = 1.15
"""Between the outermost dot and the edge of a panel, as a factor."""


@dataclass(frozen=True)
class Panel:
    """A figure and its axis: linear up to `linear` around zero, logarithmic beyond, cut at `least`."""

    title: str
    figure: str
    unit: str
    linear: float
    least: float
    ticks: tuple[float, ...]


CLASS_TICKS = (-30, -10, -3, -1, -0.5, 0, 0.5, 1, 3, 10, 30)
NUMBER_TICKS = (-1, -0.3, -0.1, -0.03, -0.01, 0, 0.01, 0.03, 0.1, 0.3, 1)
CLASSES = Panel("classification", "accuracy", "points of accuracy", 1, -40, CLASS_TICKS)
NUMBERS = Panel("regression", "r2", "R²", 0.03, -2, NUMBER_TICKS)


def draw(summary: Summary) -> Figure:
    groups = [(CLASSES, summary.classification), (NUMBERS, summary.regression)]
    groups = [(panel, data) for panel, data in groups if data]
    systems = [one for one in summary.systems if one.name != REFERENCE]
    rows = max((len(data) for _, data in groups), default=1)
    with mpl.rc_context({**SMALL, "axes.spines.right": False, "axes.spines.left": False}):
        figure = Figure(
            figsize=(PANEL_WIDTH * max(len(groups), 1), 1.4 + ROW_HEIGHT * rows), dpi=150, layout="constrained"
        )
        for place, (panel, data) in enumerate(groups, 1):
            axes = figure.add_subplot(1, len(groups), place)
            _panel(axes, panel, data, systems, summary)
        if groups:
            handles = axes.get_legend_handles_labels()
            figure.legend(*handles, loc="outside upper center", ncols=len(systems), frameon=False, fontsize=9)
    return figure


def _panel(axes: Axes, panel: Panel, data: Sequence[str], systems: Sequence[System], summary: Summary) -> None:
    for place, system in enumerate(systems):
        shift = APART * (place - (len(systems) - 1) / 2)
        found = [summary.difference(each, system.name, REFERENCE, panel.figure) for each in data]
        _dots(axes, panel, system, [(row + shift, value) for row, value in enumerate(found) if value is not None])
    axes.axvline(0, color="black", linewidth=0.8, zorder=1)
    axes.set_yticks(range(len(data)), data)
    axes.set_ylim(len(data) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    for row in range(0, len(data), 2):
        axes.axhspan(row - 0.5, row + 0.5, color="#f3f3f3", zorder=0)
    axes.set_title(panel.title)
    axes.set_xlabel(f"{panel.unit} above {SYSTEMS[REFERENCE].label}")
    _scale(axes, panel)


def _dots(axes: Axes, panel: Panel, system: System, dots: Sequence[tuple[float, float]]) -> None:
    """Draw the dots of a system; those beyond the edge become arrows on it."""
    style = STYLES[system.name]
    inside = [(row, value) for row, value in dots if value >= panel.least]
    beyond = [row for row, value in dots if value < panel.least]
    look: dict[str, Any] = {"linestyle": "", "color": style.color, "markersize": 4.5, "zorder": 3}
    axes.plot([x for _, x in inside], [y for y, _ in inside], marker=style.marker, label=system.label, **look)
    axes.plot([panel.least] * len(beyond), beyond, marker="<", **look)


def _scale(axes: Axes, panel: Panel) -> None:
    low, high = axes.dataLim.x0, axes.dataLim.x1
    axes.set_xscale("symlog", linthresh=panel.linear)
    axes.set_xlim(min(low * MARGIN, -panel.linear), max(high * MARGIN, panel.linear))
    axes.xaxis.set_major_locator(FixedLocator(panel.ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:+g}" if value else "0"))
    axes.grid(visible=True, axis="x", color="#dddddd", linewidth=0.6)
