"""What all figures share: colors safe for the color-blind, and axes to draw on."""

from __future__ import annotations

from typing import Any

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
"""The colors of Okabe and Ito except yellow, which is too light for lines."""
MARKERS = "os^Dvpx"
STYLES = ("-", "--", "-.", ":")
UP, DOWN, PLAIN = PALETTE[0], PALETTE[1], "#8A8A8A"
SEQUENTIAL, DIVERGING = "cividis", "PuOr_r"
MAX_LETTERS = 20
"""Characters of a label before it is truncated."""


class Display:
    """A figure that holds what it draws."""

    figure_: Any = None
    """The figure of the last plot."""
    axes_: Any = None
    """The axes of the last plot: one, or an array of them."""

    def _keep(self, axes: Any, figure: Any) -> None:
        self.axes_, self.figure_ = axes, figure


def new_axes(rows: int = 1, columns: int = 1, size: tuple[float, float] = (6.4, 4.8)) -> tuple[Any, Any]:
    """Return a new figure and its axes; an array of them if there are several."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("binfm.plot needs matplotlib: pip install 'binfm[plot]'") from None
    return pyplot.subplots(rows, columns, figsize=size, layout="constrained")  # type: ignore[no-any-return]


def one_axes(ax: Any, size: tuple[float, float] = (6.4, 4.8)) -> tuple[Any, Any]:
    """Return a figure and its axes: those given, or new ones."""
    return new_axes(size=size) if ax is None else (ax.figure, ax)


def bare(ax: Any) -> None:
    """Remove the top and right of the frame."""
    ax.spines[["top", "right"]].set_visible(False)


def short(label: str) -> str:
    """Return a label truncated to fit beside a figure."""
    return label if len(label) <= MAX_LETTERS else label[: MAX_LETTERS - 1] + "…"


def color(k: int) -> str:
    """Return the color of the k-th class."""
    return PALETTE[k % len(PALETTE)]
