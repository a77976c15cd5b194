"""Why one sample has its score: bars from the mean to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from binfm._text import number, signed
from binfm.plot._style import DOWN, PLAIN, UP, Display, bare, one_axes, plain_numbers, short, sign_legend

if TYPE_CHECKING:
    from binfm.model import Model
    from binfm.reading import Explanation

MAX_BARS = 12
MAX_CELL = 26
"""Characters of a cell: two dates fit."""
ROOM = 0.2
"""Margin on either side of the bars, as a share of the axis, for the numbers beside them."""


@dataclass(repr=False)
class ExplanationDisplay(Display):
    """What moves the score of one sample away from the mean, feature by feature.

    Examples
    --------
    >>> import numpy as np, binfm
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> display = binfm.plot.ExplanationDisplay.from_model(binfm.train(X, X[:, 0] > 0, m=4), X[0], X)
    >>> display.explanation.names
    ('x0', 'x1')
    """

    explanation: Explanation
    function: int
    """The output that is drawn."""

    @classmethod
    def from_model(cls, model: Model, row: Any, X: Any = None, *, of_class: Any = None) -> ExplanationDisplay:
        """Explain a sample.

        Parameters
        ----------
        model
            The model.
        row
            The sample.
        X
            Table whose mean score the sample is compared with; None weights all cells equally.
        of_class
            Class label whose score to explain; None means that of the highest score.
        """
        why = model.explain(row, X)
        if of_class is None:
            return cls(why, why.shown())
        if of_class not in why.classes:
            raise ValueError(f"of_class must be among {list(why.classes)}, got {of_class!r}")
        return cls(why, why.classes.index(of_class))

    def plot(self, ax: Any = None) -> ExplanationDisplay:
        """Draw the bars, the strongest on top; return itself.

        Parameters
        ----------
        ax
            Matplotlib axes; None creates a figure.
        """
        labels, moves = self._bars()
        figure, ax = one_axes(ax, (7.6, 0.38 * len(labels) + 1.8))
        mean, score = (float(np.ravel(v)[self.function]) for v in (self.explanation.mean, self.explanation.score))
        ends = mean + np.cumsum(moves)
        places = np.arange(len(moves))[::-1]
        ax.barh(places, moves, left=ends - moves, color=[UP if move > 0 else DOWN for move in moves], height=0.7)
        for place, move, end in zip(places, moves, ends, strict=True):
            text = ax.annotate(signed(move, 3), (max(end, end - move), place), (4, 0), textcoords="offset points")
            text.set(
                va="center", fontsize="small", bbox={"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 1}
            )
        ax.vlines(ends[:-1], places[1:] - 0.35, places[:-1] + 0.35, color=PLAIN, linewidth=0.8)
        ax.axvline(mean, color=PLAIN, linewidth=0.8, linestyle=":", zorder=0)
        ax.axvline(score, color="black", linewidth=1.2, zorder=0)
        ax.set_yticks(places, labels)
        low, high = min(mean, ends.min(initial=mean)), max(mean, ends.max(initial=mean))
        room = (high - low) * ROOM or 1.0
        ax.set_xlim(low - room, high + room)
        plain_numbers(ax.xaxis)
        ax.locator_params(axis="x", nbins=6)
        self._say_what_it_means(ax, mean, score)
        bare(ax)
        self._keep(ax, figure)
        return self

    def _say_what_it_means(self, ax: Any, mean: float, score: float) -> None:
        of_class = self.explanation.classes[self.function]
        whose = "score" if of_class is None else f"score of class {short(str(of_class))}"
        direction = self.explanation.direction(self.function)
        ends = f"dotted: mean {number(mean, 4)}, solid: this sample {number(score, 4)}"
        ax.set_xlabel(f"{whose} (right: {short(direction.up, 40)})\n{ends}")
        above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1), "ncols": 2, "frameon": False, "fontsize": "small"}
        ax.legend(handles=sign_legend(direction), **above)

    def _bars(self) -> tuple[list[str], Any]:
        """Return a label and a move for each feature that gets a bar, and for the others together."""
        why = self.explanation
        moves = np.atleast_2d(why.shapley)[self.function]
        absent = float(np.ravel(why.absent_shapley)[self.function])
        order = np.argsort(-np.abs(moves), kind="stable")
        first, rest = order[:MAX_BARS], order[MAX_BARS:]
        labels = [f"{short(why.names[i])}: {short(why.cells[i], MAX_CELL)}" for i in first]
        values = moves[first].tolist()
        if len(rest):
            labels, values = [*labels, f"{len(rest)} others"], [*values, float(moves[rest].sum())]
        if absent:
            labels, values = [*labels, "absent features"], [*values, absent]
        return labels, np.array(values)
