"""How strongly each pair of features interacts: `model.interactions()`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from binfm._text import MAX_LINES, number, plain, signed, table
from binfm.reading._cells import SCORE, Cells, Direction, direction_of, names_of, outputs_of
from binfm.reading.effects import find

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm.model import Model
    from binfm.reading._reference import Reference

MAX_FEATURES = 2000
"""Features that can be paired at once: their matrix has 32 megabytes per class."""


@dataclass(frozen=True)
class PairCells:
    """What each pair of cells of two features adds to the score. Prints as a table.

    Arrays have the cells of the first feature along the rows and those of the second along the columns, and a first
    axis of classes if there are more than two.

    Examples
    --------
    >>> import numpy as np, binfm
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 3))
    >>> model = binfm.train(X, X[:, 0] * X[:, 2] > 0, b=8, tilings=2)
    >>> pair = model.interactions(X).cells("x0", "x2")
    >>> bool(pair.effect[0, 0] > 0), bool(pair.effect[0, -1] < 0)
    (True, True)
    """

    names: tuple[str, str]
    cells: tuple[tuple[str, ...], tuple[str, ...]]
    pairs: NDArray[Any]
    """What two cells add together: whole multiples of `unit`, or floats if the weights are."""
    effect: NDArray[np.float64]
    """The part of it that is interaction, not main effect of either feature, in units of the score."""
    unit: float
    classes: tuple[Any, ...] = (None,)
    direction: Direction = field(default=SCORE, repr=False)
    """What a higher and a lower score mean, in words."""
    axes: tuple[Cells, ...] = field(default=(), repr=False)
    """The cells of both features as pictures need them."""

    def to_records(self) -> list[dict[str, Any]]:
        """Return a dict for each class and pair of cells."""
        left, right = self.names
        records = []
        shape = (len(self.classes), len(self.cells[0]), len(self.cells[1]))
        pairs, effect = self.pairs.reshape(shape), self.effect.reshape(shape)
        for k, c, d in np.ndindex(shape):
            of_class = {} if self.classes[k] is None else {"class": self.classes[k]}
            where = {left: self.cells[0][c], right: self.cells[1][d]}
            records.append({**of_class, **where, "pairs": plain(pairs[k, c, d]), "effect": float(effect[k, c, d])})
        return records

    def __str__(self) -> str:
        blocks = []
        effect = self.effect if len(self.classes) > 1 else self.effect[None]
        for of_class, values in zip(self.classes, effect, strict=True):
            corner = " × ".join(self.names) + ("" if of_class is None else f", class {of_class}")
            lines = [[cell, *(signed(v, 3) for v in row)] for cell, row in zip(self.cells[0], values, strict=True)]
            blocks.append(table([corner, *self.cells[1]], lines, most=MAX_LINES))
        return "\n\n".join(blocks)

    def _repr_html_(self) -> str:
        from binfm.reading.html.notebook import pair_card

        return pair_card(self)


class Interactions:
    """The strength of each pair of features. Prints as a list of pairs, strongest first.

    Examples
    --------
    >>> import numpy as np, binfm
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 3))
    >>> model = binfm.train(X, X[:, 0] * X[:, 2] > 0, b=8, tilings=2)
    >>> pairs = model.interactions(X)
    >>> next(iter(pairs.to_dict()))
    ('x0', 'x2')
    >>> bool(pairs.share > 0.8)
    True
    """

    def __init__(self, model: Model, reference: Reference, features: Sequence[int | str] | None) -> None:
        self._model, self._reference, self._all_names = model, reference, names_of(model)
        self.indices = _wanted(reference, features, self._all_names)
        """The columns of X that are paired."""
        self.classes = tuple(outputs_of(model))
        """The class of each output; (None,) for the only one."""
        self.reference = reference.described
        """The cell frequencies."""
        self.direction = direction_of(model)
        """What a higher and a lower score mean, in words: ``direction.up`` and ``direction.down``."""
        variances = _variances(reference, self.indices)
        self._main = reference.variances[:, self.indices]
        self._strength = np.sqrt(variances)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features, in the order of the rows of `strength`."""
        return tuple(self._all_names[j] for j in self.indices)

    @property
    def strength(self) -> NDArray[np.float64]:
        """Standard deviation of each pair's interaction, a symmetric matrix in units of the score; one per class."""
        return self._strength[0] if len(self.classes) == 1 else self._strength

    @property
    def main(self) -> NDArray[np.float64]:
        """Standard deviation of each feature's main effect, for comparison."""
        main: NDArray[np.float64] = np.sqrt(np.maximum(self._main, 0))
        return main[0] if len(self.classes) == 1 else main

    @property
    def share(self) -> float | NDArray[np.float64]:
        """Share of the score's variance that is interaction, not main effect, among these features."""
        pairs = (self._strength**2).sum(axis=(1, 2)) / 2
        total = pairs + self._main.sum(axis=1)
        share = np.divide(pairs, total, out=np.zeros_like(pairs), where=total > 0)
        return float(share[0]) if len(share) == 1 else share

    def order(self, most: int | None = None) -> list[tuple[int, int]]:
        """Return pairs of rows of `strength`, the strongest first (by root mean square over classes)."""
        left, right = np.triu_indices(len(self.indices), 1)
        total = (self._strength[:, left, right] ** 2).mean(axis=0)
        first = np.argsort(-total, kind="stable")[:most]
        return [(int(left[i]), int(right[i])) for i in first]

    def cells(self, left: int | str, right: int | str) -> PairCells:
        """Return what each pair of cells of two columns, given by number or name, adds to the score."""
        i, j = (find(key, self._all_names) for key in (left, right))
        if i == j:
            raise ValueError(f"features must be two different ones, got {self._all_names[i]} twice")
        parts, reference = self._reference.parts, self._reference
        pairs = parts.pairs(parts.of(i), parts.of(j))
        first, second = (reference.deviations(f)[:, :-1] for f in (i, j))
        effect = np.einsum("kcm,kdm->kcd", first, second)
        axes = tuple(Cells.of(self._model._feature(f), reference.kind(f), reference.counts_of(f)) for f in (i, j))
        one = len(self.classes) == 1
        return PairCells(
            names=(self._all_names[i], self._all_names[j]),
            cells=(axes[0].labels, axes[1].labels),
            pairs=pairs[0] if one else pairs,
            effect=effect[0] if one else effect,
            unit=parts.unit,
            classes=self.classes,
            direction=self.direction,
            axes=axes,
        )

    def to_records(self) -> list[dict[str, Any]]:
        """Return a dict for each pair and class, strongest pair first."""
        names = self.names
        records = []
        for i, j in self.order():
            for k, of_class in enumerate(self.classes):
                who = {} if of_class is None else {"class": of_class}
                records.append({**who, "left": names[i], "right": names[j], "strength": float(self._strength[k, i, j])})
        return records

    def to_dict(self) -> dict[tuple[str, str], Any]:
        """Return the strength of each pair of names, strongest first; a list if there are more than two classes."""
        names, one = self.names, len(self.classes) == 1
        return {
            (names[i], names[j]): float(self._strength[0, i, j]) if one else self._strength[:, i, j].tolist()
            for i, j in self.order()
        }

    def __str__(self) -> str:
        names, pairs = self.names, len(self.indices) * (len(self.indices) - 1) // 2
        lines = []
        for i, j in self.order(MAX_LINES):
            each = self._strength[:, i, j]
            lines.append([names[i], names[j], number(float(np.sqrt(np.mean(each**2))), 4)])
        more = f"\n… and {pairs - len(lines):,} more pairs" if pairs > len(lines) else ""
        share = 100 * float(np.mean(self.share))
        note = f"\n{share:.0f} % of the score's variance is interaction, with {self.reference}."
        return table(["left", "right", "strength"], lines, left=2) + more + note

    def __repr__(self) -> str:
        return f"<binfm interactions of {len(self.indices)} features, with {self.reference}>"

    def _repr_html_(self) -> str:
        from binfm.reading.html.notebook import interactions_card

        return interactions_card(self)


def _wanted(reference: Reference, features: Sequence[int | str] | None, names: tuple[str, ...]) -> NDArray[np.intp]:
    """Return the columns requested, or all in use."""
    if features is None:
        wanted = np.flatnonzero(reference.parts.sizes > 0)
    else:
        wanted = np.array([find(key, names) for key in features], dtype=np.intp)
    if len(wanted) > MAX_FEATURES:
        raise ValueError(f"features must name at most {MAX_FEATURES} columns at once, got {len(wanted)}")
    if len(set(wanted.tolist())) < len(wanted):
        raise ValueError("features must be different ones, got one twice")
    return wanted


def _variances(reference: Reference, features: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the variance of each pair's interaction, shape (outputs, features, features).

    With A the deviations β·(u − ū) of a feature's cells, each times the root of its weight, that of f and g is
    |A_f A_gᵀ|². The triangle R of A = QR gives the same |A_f A_gᵀ| with at most m rows, however many cells there are.
    """
    triangles = [_triangle(reference, int(j)) for j in features]
    sizes = [t.shape[1] for t in triangles]
    variances = np.zeros((reference.parts.outputs, len(features), len(features)))
    if not triangles or reference.parts.m == 0:
        return variances
    stacked, begins = np.concatenate(triangles, axis=1), np.cumsum([0, *sizes[:-1]])
    for i, triangle in enumerate(triangles):
        squares = np.square(triangle @ stacked.transpose(0, 2, 1)).sum(axis=1)
        variances[:, i] = np.add.reduceat(squares, begins, axis=1)
        variances[:, i, i] = 0
    symmetric: NDArray[np.float64] = (variances + variances.transpose(0, 2, 1)) / 2
    return symmetric


def _triangle(reference: Reference, feature: int) -> NDArray[np.float64]:
    shares = np.append(reference.weights[reference.parts.of(feature)], reference.absent[feature])
    scaled: NDArray[np.float64] = np.sqrt(np.maximum(shares, 0))[:, None] * reference.deviations(feature)
    if scaled.shape[1] <= scaled.shape[2]:
        return scaled
    return cast("NDArray[np.float64]", np.linalg.qr(scaled, mode="r"))
