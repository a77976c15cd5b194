"""Training loss per epoch of Binarized FM with Adagrad and SGD, each with the step size of the lowest final loss."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paper.agenda import CONVERGENCE, RATES
from paper.figures.style import GRID
from paper.summary import Summary

STYLES = {"adagrad": ("Adagrad", "#d55e00", "o", "-"), "sgd": ("SGD", "#0072b2", "s", "--")}


def draw(summary: Summary) -> Figure:
    sets = [data for data in CONVERGENCE if data in summary.data]
    figure = Figure(figsize=(4.2 * len(sets), 3.1), layout="constrained")
    for data, axes in zip(sets, figure.subplots(1, len(sets), squeeze=False)[0], strict=True):
        _panel(axes, summary, data)
    return figure


def best(summary: Summary, data: str, optimizer: str) -> tuple[float, list[float]]:
    """Return the step size with the lowest final loss, and its losses."""
    losses = {
        rate: summary.store.records[f"convergence/{data}/{optimizer}/{rate}"]["loss"] for rate in RATES[optimizer]
    }
    rate = min(losses, key=lambda rate: losses[rate][-1])
    return rate, losses[rate]


def _panel(axes: Axes, summary: Summary, data: str) -> None:
    for optimizer, (label, color, marker, line) in STYLES.items():
        rate, losses = best(summary, data, optimizer)
        epochs = range(1, len(losses) + 1)
        axes.plot(
            epochs, losses, color=color, marker=marker, linestyle=line, markersize=3, label=f"{label}, η = {rate:g}"
        )
    axes.set_title(data)
    axes.set_xlabel("epoch")
    axes.set_ylabel("training loss")
    axes.set_ylim(bottom=0)
    axes.grid(**GRID)
    axes.legend(frameon=False)
