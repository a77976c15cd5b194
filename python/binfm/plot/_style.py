"""What all figures share: colors safe for the color-blind, axes to draw on, and labels."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

from binfm._text import alike, number

if TYPE_CHECKING:
    from binfm.reading._cells import Direction

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
"""The colors of Okabe and Ito except yellow, which is too light for lines."""
MARKERS = "os^Dvpx"
STYLES = ("-", "--", "-.", ":")
UP, DOWN, PLAIN = PALETTE[0], PALETTE[1], "#8A8A8A"
SEQUENTIAL, DIVERGING = "cividis", "PuOr_r"
MAX_LETTERS = 20
"""Characters of a label before it is truncated."""
LINE = 30
"""Characters of a line of text along an axis."""


class Display:
    """A figure that holds what it draws."""

    def __repr__(self) -> str:
        """Return the name only: what is drawn would fill pages."""
        return f"<binfm.plot.{type(self).__name__}>"

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


def short(label: str, most: int = MAX_LETTERS) -> str:
    """Return a label truncated to fit beside a figure."""
    return verbatim(label if len(label) <= most else label[: most - 1] + "…")


def verbatim(text: str) -> str:
    """Return a text that matplotlib draws as it is: dollar signs begin no formula, and a line stays a line."""
    return " ".join(text.split()).replace("$", r"\$")


def toward(where: str, direction: Direction) -> str:
    """Return the label of an axis of effects, which says what up or right means."""
    up = short(direction.up, 2 * LINE)
    return f"effect on the score\n{fill(f'{where}: {up}', LINE)}"


def plain_numbers(axis: Any) -> None:
    """Write the numbers of an axis as people do: 12,500 and 0.05, never an offset or a factor at its end."""
    from matplotlib.ticker import FuncFormatter

    class Plain(FuncFormatter):
        """Writes all ticks alike."""

        def format_ticks(self, values: Any) -> list[str]:
            return [_minus(text) for text in alike([float(value) for value in values])]

    axis.set_major_formatter(Plain(lambda value, _: _minus(number(value))))


def sign_legend(direction: Direction) -> list[Any]:
    """Return what the two colors of bars mean, for a legend."""
    from matplotlib.patches import Patch

    return [
        Patch(color=UP, label=short(direction.up, LINE)),
        Patch(color=DOWN, label=short(direction.down, LINE)),
    ]


def _minus(text: str) -> str:
    return text.replace("-", "−") if "e" not in text else text


def color(k: int) -> str:
    """Return the color of the k-th class."""
    return PALETTE[k % len(PALETTE)]
