"""How often each one-hot feature is zero after binning."""

from __future__ import annotations

from typing import Any

import binfm
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from paper.figures.style import GRID
from paper.summary import Summary

SETS = ("banana", "pendigits", "ijcnn")
BINS = 20
STYLES = {"uniform": ("equal width", "#d55e00", "-"), "quantile": ("quantiles", "#0072b2", "--")}


def draw(summary: Summary) -> Figure:
    sets = [data for data in SETS if data in summary.data]
    figure = Figure(figsize=(3.3 * len(sets), 2.9), layout="constrained")
    for data, axes in zip(sets, figure.subplots(1, len(sets), squeeze=False)[0], strict=True):
        _panel(axes, summary, data)
    figure.supxlabel(f"one-hot features ({BINS} bins per feature), sorted, %", fontsize=9)
    return figure


def _panel(axes: Axes, summary: Summary, data: str) -> None:
    found = summary.data[data]
    for binning, (label, color, line) in STYLES.items():
        zeros = np.sort(100 * sparsity(found.X, found.y, binning))
        places = np.linspace(0, 100, len(zeros))
        axes.plot(places, zeros, color=color, linestyle=line, linewidth=1.8, label=label)
    axes.set_title(data)
    axes.set_ylabel("samples in which it is zero, %")
    axes.grid(**GRID)
    axes.legend(frameon=False, loc="lower right")


def sparsity(X: NDArray[Any], y: NDArray[Any], binning: str) -> NDArray[np.float64]:
    """Return the share of samples outside each bin of each feature."""
    model = binfm.train(X, y, m=1, b=BINS, tilings=1, binning=binning, epochs=1, early_stopping=False, n_jobs=1)
    shares = []
    for column, edges in zip(X.T, model.edges, strict=True):
        cells = np.searchsorted(edges, column, side="right")
        shares.append(1 - np.bincount(cells, minlength=len(edges) + 1) / len(column))
    return np.concatenate(shares)
