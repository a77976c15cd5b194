"""Decision boundaries of the four FMs on the three data sets with two features."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from paper.agenda import FAMILY, settings
from paper.data import split
from paper.summary import Summary
from paper.systems import LABELS, system

SETS = ("circles", "moons", "banana")
REGIONS = ListedColormap(["#b5d3ea", "#f7d3b8"])
POINTS = ("#0072b2", "#d55e00")
MARKERS = ("o", "^")
POINTS_SHOWN = 400
RESOLUTION = 300
MARGIN = 0.06
"""Margin around the data, as a share of a feature's range."""


def draw(summary: Summary) -> Figure:
    sets = [data for data in SETS if data in summary.data]
    names = [name for name in FAMILY if name not in summary.unavailable]
    figure = Figure(figsize=(2.2 * len(names), 2.3 * len(sets)), layout="constrained")
    panels = figure.subplots(len(sets), len(names), squeeze=False)
    for data, row in zip(sets, panels, strict=True):
        for name, axes in zip(names, row, strict=True):
            _panel(axes, summary, data, name)
        row[0].set_ylabel(data, fontweight="bold")
    for name, axes in zip(names, panels[0], strict=True):
        axes.set_title(LABELS[name].replace(", ", "\n"))
    return figure


def _panel(axes: Axes, summary: Summary, data: str, name: str) -> None:
    part = split(summary.data[data], 0)
    chosen = settings(summary.store, data, name, 0)
    predict = system(name).fit(chosen, part.X, part.y, part.classes, 0, summary.plan).predict
    x, y = (_range(column) for column in part.X.T)
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2).astype(np.float32)
    regions = predict(grid).reshape(RESOLUTION, RESOLUTION)
    axes.pcolormesh(x, y, regions, cmap=REGIONS, vmin=0, vmax=1, rasterized=True)
    for code in (0, 1):
        shown = part.X_test[:POINTS_SHOWN][part.y_test[:POINTS_SHOWN] == code]
        axes.scatter(*shown.T, s=5, marker=MARKERS[code], color=POINTS[code], linewidths=0)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    accuracy = np.mean(predict(part.X_test) == part.y_test)
    axes.set_xlabel(f"{100 * accuracy:.1f} %")


def _range(column: Any) -> Any:
    margin = MARGIN * np.ptp(column)
    return np.linspace(column.min() - margin, column.max() + margin, RESOLUTION)
