"""The matrix of interactions, and the cells of one pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from binfm._text import number
from binfm.plot._style import DIVERGING, SEQUENTIAL, Display, one_axes, plain_numbers, short, toward
from binfm.reading._cells import SCORE, Direction
from binfm.reading._marks import leading, not_shown, ticks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm.model import Model
    from binfm.reading import PairCells
    from binfm.reading._cells import Cells

MAX_FEATURES = 25
MAX_WRITTEN = 12
"""Maximum number of features for which numbers are written into the matrix."""
MAX_TICKS = 18


@dataclass(repr=False)
class InteractionsDisplay(Display):
    """How strongly features interact: a matrix, with main effects on its diagonal.

    Examples
    --------
    >>> import numpy as np, binfm
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> display = binfm.plot.InteractionsDisplay.from_model(binfm.train(X, X[:, 0] * X[:, 1] > 0, m=4))
    >>> display.strength.shape
    (3, 3)
    """

    strength: NDArray[np.float64]
    """Standard deviations in units of the score: of pairs, and of main effects on the diagonal."""
    names: tuple[str, ...]

    @classmethod
    def from_model(
        cls, model: Model, X: Any = None, *, features: Sequence[int | str] | None = None, of_class: Any = None
    ) -> InteractionsDisplay:
        """Take the interactions of a model.

        Parameters
        ----------
        model
            The model.
        X
            Table whose cell frequencies count; None weights all cells equally.
        features
            Columns, by number or name; None means the 25 strongest.
        of_class
            Class label whose score to show; None means the root mean square over classes.
        """
        pairs = model.interactions(X, features=features)
        count = len(pairs.indices)
        if count == 0:
            raise ValueError("model must use at least one feature, got one that uses none")
        squares = np.square(pairs.strength).reshape(-1, count, count)
        squares[:, np.arange(count), np.arange(count)] = np.square(pairs.main).reshape(-1, count)
        if of_class is None:
            strength = np.sqrt(squares.mean(axis=0))
        elif of_class in pairs.classes:
            strength = np.sqrt(squares[pairs.classes.index(of_class)])
        else:
            raise ValueError(f"of_class must be among {list(pairs.classes)}, got {of_class!r}")
        kept = np.arange(count)
        if features is None and count > MAX_FEATURES:
            kept = np.sort(np.argsort(-np.square(strength).sum(axis=0), kind="stable")[:MAX_FEATURES])
        return cls(strength[np.ix_(kept, kept)], tuple(pairs.names[i] for i in kept))

    def plot(self, ax: Any = None) -> InteractionsDisplay:
        """Draw the matrix; return itself.

        Parameters
        ----------
        ax
            Matplotlib axes; None creates a figure.
        """
        count = len(self.names)
        side = max(4.0, min(11.0, 0.45 * count + 2.2))
        figure, ax = one_axes(ax, (side + 1, side))
        pairs = self.strength[~np.eye(count, dtype=bool)]
        picture = ax.imshow(self.strength, cmap=SEQUENTIAL, vmin=0, vmax=pairs.max(initial=0) or None)
        over = "max" if self.strength.max(initial=0) > pairs.max(initial=0) else "neither"
        bar = figure.colorbar(
            picture, ax=ax, label="strength: standard deviation of the score", shrink=0.8, extend=over
        )
        plain_numbers(bar.ax.yaxis)
        labels = [short(name) for name in self.names]
        ax.set_xticks(range(count), labels, rotation=45, ha="right", rotation_mode="anchor")
        ax.set_yticks(range(count), labels)
        if count <= MAX_WRITTEN:
            _write(ax, picture, self.strength)
        ax.set_title("interactions; main effects on the diagonal", fontsize="medium")
        self._keep(ax, figure)
        return self


@dataclass(repr=False)
class PairDisplay(Display):
    """The interaction of two features, cell by cell.

    Examples
    --------
    >>> import numpy as np, binfm
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> model = binfm.train(X, X[:, 0] * X[:, 1] > 0, m=4)
    >>> binfm.plot.PairDisplay.from_model(model, 0, 1).pair.names
    ('x0', 'x1')
    """

    pair: PairCells
    effect: NDArray[np.float64]
    """Interaction in units of the score, for the class shown."""
    direction: Direction = SCORE
    """What a higher and a lower score mean, in words."""

    @classmethod
    def from_model(
        cls, model: Model, left: int | str, right: int | str, X: Any = None, *, of_class: Any = None
    ) -> PairDisplay:
        """Take the interaction of two columns, by number or name; of one class, if there are more than two."""
        pair = model.interactions(X, features=[left, right]).cells(left, right)
        unused = [name for name, cells in zip(pair.names, pair.cells, strict=True) if not cells]
        if unused:
            raise ValueError(f"left and right must be features that the model uses, got {unused[0]!r}")
        if len(pair.classes) == 1:
            return cls(pair, pair.effect, pair.direction)
        if of_class not in pair.classes:
            raise ValueError(f"of_class must be among {list(pair.classes)}, got {of_class!r}")
        return cls(pair, pair.effect[pair.classes.index(of_class)], Direction.toward(of_class))

    def plot(self, ax: Any = None) -> PairDisplay:
        """Draw the cells of one feature against those of the other; return itself.

        Parameters
        ----------
        ax
            Matplotlib axes; None creates a figure.
        """
        figure, ax = one_axes(ax, (7.2, 5.6))
        left, right = self.pair.axes
        rows, columns = _drawn(left, self.effect.T), _drawn(right, self.effect)
        effect = self.effect[np.ix_(rows, columns)]
        most = float(np.abs(effect).max(initial=0)) or 1.0
        picture = ax.imshow(
            effect.T, cmap=DIVERGING, vmin=-most, vmax=most, origin="lower", aspect="auto", interpolation="nearest"
        )
        bar = figure.colorbar(picture, ax=ax, label=toward("up", self.direction))
        plain_numbers(bar.ax.yaxis)
        _label(ax.set_xticks, left, rows, rotation=45, ha="right", rotation_mode="anchor")
        _label(ax.set_yticks, right, columns)
        names = [short(name, 40) for name in self.pair.names]
        notes = [f" ({note})" if note else "" for note in (not_shown(left, len(rows)), not_shown(right, len(columns)))]
        ax.set_xlabel(names[0] + notes[0])
        ax.set_ylabel(names[1] + notes[1])
        ax.set_title("what the two add together, beyond their own effects", fontsize="medium")
        self._keep(ax, figure)
        return self


def _drawn(cells: Cells, effect: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the cells to draw: all of a numeric feature, and some categories if there are many."""
    if cells.bounds or len(cells.labels) <= MAX_TICKS:
        return np.arange(len(cells.labels))
    return leading(cells, effect, MAX_TICKS)


def _label(put: Any, cells: Cells, drawn: NDArray[np.intp], **look: Any) -> None:
    """Label categories by name, and bins at their edges; the i-th cell reaches from i - ½ to i + ½."""
    bins = len(cells.bounds)
    marks = [(place - 0.5, text) for place, text in ticks(cells, MAX_TICKS)] if bins else []
    marks += [(float(i), short(cells.labels[c])) for i, c in enumerate(drawn) if c >= bins]
    put([place for place, _ in marks], [text for _, text in marks], fontsize="small", **look)


def _write(ax: Any, picture: Any, values: NDArray[np.float64]) -> None:
    for (i, j), value in np.ndenumerate(values):
        dark = picture.norm(value) < 0.6
        ax.text(j, i, number(value, 2), ha="center", va="center", fontsize="small", color="white" if dark else "black")
