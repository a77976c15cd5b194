"""What all pictures have in common: colours that the colour-blind can tell apart, and axes to draw on."""

from __future__ import annotations

from typing import Any

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
"""Okabe and Ito's colours, but for yellow, which is too light for a line."""
MARKERS = "os^Dvpx"
STYLES = ("-", "--", "-.", ":")
UP, DOWN, PLAIN = PALETTE[0], PALETTE[1], "#8A8A8A"
SEQUENTIAL, DIVERGING = "cividis", "PuOr_r"
MOST_LETTERS = 20
"""Letters of a label before it is cut short."""


class Display:
    """A picture that holds what it draws."""

    figure_: Any = None
    """The figure of the last plot."""
    axes_: Any = None
    """The axes of the last plot: one, or an array of them."""

    def _keep(self, axes: Any, figure: Any) -> None:
        self.axes_, self.figure_ = axes, figure


def new_axes(rows: int = 1, columns: int = 1, size: tuple[float, float] = (6.4, 4.8)) -> tuple[Any, Any]:
    """Return a new figure and its axes, an array of them if there are several."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("binfm.plot needs matplotlib: pip install 'binfm[plot]'") from None
    return pyplot.subplots(rows, columns, figsize=size, layout="constrained")  # type: ignore[no-any-return]


def one_axes(ax: Any, size: tuple[float, float] = (6.4, 4.8)) -> tuple[Any, Any]:
    """Return a figure and its axes: those given, or new ones."""
    return new_axes(size=size) if ax is None else (ax.figure, ax)


def bare(ax: Any) -> None:
    """Leave out the frame where it says nothing."""
    ax.spines[["top", "right"]].set_visible(False)


def short(label: str) -> str:
    """Return a label that fits beside a picture."""
    return label if len(label) <= MOST_LETTERS else label[: MOST_LETTERS - 1] + "…"


def colour(k: int) -> str:
    """Return the colour of the k-th class."""
    return PALETTE[k % len(PALETTE)]
