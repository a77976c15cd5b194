"""What each cell of each feature adds to the score: `model.effects()`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from binfm._text import MAX_LINES, few, figure, number, plain, signed, table
from binfm.reading._cells import SCORE, Cells, Direction, direction_of, names_of, outputs_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm.model import Model
    from binfm.reading._reference import Reference


@dataclass(frozen=True)
class FeatureEffects:
    """The effects of one feature. Prints as a table.

    Arrays have one entry per cell, and a first axis of classes if there are more than two. The cell of missing values,
    if there is one, is the last.

    Examples
    --------
    >>> import numpy as np, binfm
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 3))
    >>> model = binfm.train(X, X[:, 0] * X[:, 2] > 0, b=8, tilings=2)
    >>> effect = model.effects(X)["x0"]
    >>> effect.kind, len(effect.cells), len(effect.to_records())
    ('numeric', 7, 7)
    """

    index: int
    """Column of X."""
    name: str
    kind: str
    """``"numeric"``, ``"categorical"`` or ``"unused"``."""
    cells: tuple[str, ...]
    """What each cell holds: an interval, a category or ``"missing"``.

    Of ``"5 to 7"`` the 7 is in the next cell, unless X was given and holds whole numbers or dates there."""
    own: NDArray[Any]
    """What a cell adds by itself: whole multiples of `unit`, or floats if the weights are."""
    effect: NDArray[np.float64]
    """Main effect of each cell in units of the score: its own part and its mean part with the others, centered."""
    weight: NDArray[np.float64]
    """Weight of each cell in the mean on which the effects are centered."""
    absent: float | NDArray[np.float64]
    """Main effect of an absent value: an unseen category, a zero of a sparse table, NaN without a cell of its own."""
    absent_weight: float
    strength: float | NDArray[np.float64]
    """Standard deviation of the main effect."""
    unit: float
    classes: tuple[Any, ...] = (None,)
    """The class of each output; (None,) for the only one."""
    bounds: tuple[tuple[float, float], ...] = field(default=(), repr=False)
    """The interval of each cell of a numeric feature: from the first number to below the second."""
    count: NDArray[np.int64] | None = field(default=None, repr=False)
    """Samples of X in each cell; None without X."""
    direction: Direction = field(default=SCORE, repr=False)
    """What a higher and a lower score mean, in words."""
    axis: Cells = field(default_factory=lambda: Cells(()), repr=False)
    """The cells as pictures need them."""

    def to_records(self) -> list[dict[str, Any]]:
        """Return a dict for each class and cell."""
        intervals = dict(enumerate(self.bounds))
        records = []
        for k, of_class in enumerate(self.classes):
            own, effect = np.atleast_2d(self.own)[k], np.atleast_2d(self.effect)[k]
            for c, cell in enumerate(self.cells):
                low, high = intervals.get(c, (None, None))
                parts = {"own": plain(own[c]), "effect": float(effect[c]), "weight": float(self.weight[c])}
                where = {"feature": self.name, "cell": cell, "low": low, "high": high}
                records.append({**({} if of_class is None else {"class": of_class}), **where, **parts})
        return records

    def __str__(self) -> str:
        of_class = ["class"] if self.classes != (None,) else []
        lines = [
            [
                *(str(record[name]) for name in of_class),
                record["cell"],
                figure(record["own"]),
                signed(record["effect"]),
                f"{record['weight']:.3f}",
            ]
            for record in self.to_records()
        ]
        head = [*of_class, self.name, "own", "effect", "weight"]
        return table(head, lines, left=len(of_class) + 1, most=MAX_LINES)

    def _repr_html_(self) -> str:
        from binfm.reading.html.notebook import feature_card

        return feature_card(self)


class Effects:
    """The effects of all features, in the order of the columns. Prints as a summary.

    ``effects[j]`` and ``effects["name"]`` are the :class:`FeatureEffects` of one column.

    Examples
    --------
    >>> import numpy as np, binfm
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 3))
    >>> model = binfm.train(X, X[:, 0] * X[:, 2] > 0, b=8, tilings=2)
    >>> effects = model.effects(X)
    >>> effects.names
    ('x0', 'x1', 'x2')
    >>> sorted(effects.to_records()[0])
    ['cell', 'effect', 'feature', 'high', 'low', 'own', 'weight']
    """

    def __init__(self, model: Model, reference: Reference) -> None:
        self._model, self._reference, self._names = model, reference, names_of(model)
        self._classes = tuple(outputs_of(model))
        self.reference = reference.described
        """The cell frequencies on which the effects are centered."""
        self.direction = direction_of(model)
        """What a higher and a lower score mean, in words: ``direction.up`` and ``direction.down``."""

    @property
    def unit(self) -> float:
        """The unit of the whole numbers `own` and `bias`: half of the least difference between two scores."""
        return self._reference.parts.unit

    @property
    def bias(self) -> Any:
        """Score of a sample in which everything is absent: a whole multiple of `unit`, one per class."""
        return self._squeezed([scale.bias for scale in self._reference.parts.scales])

    @property
    def mean(self) -> Any:
        """Mean score, on which the effects are centered."""
        return self._squeezed(self._reference.mean_score)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return self._names

    @property
    def classes(self) -> tuple[Any, ...]:
        """The class of each output; (None,) for the only one."""
        return self._classes

    @property
    def is_counted(self) -> bool:
        """Whether samples of X are counted."""
        return self._reference.is_counted

    @property
    def strength(self) -> NDArray[np.float64]:
        """Standard deviation of each feature's main effect, shape (features,) or (classes, features)."""
        strength: NDArray[np.float64] = self._squeezed(np.sqrt(np.maximum(self._reference.variances, 0)))
        return strength

    def order(self) -> list[int]:
        """Return the features in use, the strongest first (by root mean square over classes)."""
        total = (np.atleast_2d(self.strength) ** 2).mean(axis=0)
        used = self._reference.parts.sizes > 0
        return [int(j) for j in np.argsort(-total, kind="stable") if used[j]]

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[FeatureEffects]:
        return (self[j] for j in range(len(self)))

    def __getitem__(self, key: int | str) -> FeatureEffects:
        j = find(key, self._names)
        reference, where = self._reference, self._reference.parts.of(j)
        feature = self._model._feature(j)
        axis = Cells.of(feature, reference.kind(j), reference.counts_of(j))
        return FeatureEffects(
            index=j,
            name=self._names[j],
            kind=feature.kind,
            cells=axis.labels,
            own=self._squeezed(reference.parts.own[:, where]),
            effect=self._squeezed(reference.main[:, where]),
            weight=reference.weights[where],
            absent=self._squeezed(reference.absent_main[:, j]),
            absent_weight=float(reference.absent[j]),
            strength=self._squeezed(np.atleast_2d(self.strength)[:, j]),
            unit=self.unit,
            classes=self._classes,
            bounds=axis.bounds,
            count=axis.counts,
            direction=self.direction,
            axis=axis,
        )

    def to_records(self) -> list[dict[str, Any]]:
        """Return a dict for each feature, class and cell, ready for a dataframe."""
        return [record for feature in self for record in feature.to_records()]

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return the cells of each feature, with lists of their own parts, effects and weights."""
        return {
            f.name: {
                "cells": list(f.cells),
                "own": f.own.tolist(),
                "effect": f.effect.tolist(),
                "weight": f.weight.tolist(),
            }
            for f in self
        }

    def __str__(self) -> str:
        lines = [summary(self[j]) for j in self.order()[:MAX_LINES]]
        left_out = len(self.order()) - len(lines)
        text = table(["feature", "cells", "strength", "lowest", "", "highest", ""], lines)
        more = f"\n… and {left_out:,} more" if left_out else ""
        return f"{text}{more}\nCentered with {self.reference}. Strength is the standard deviation of the effect."

    def __repr__(self) -> str:
        return f"<binfm effects of {len(self)} features, centered with {self.reference}>"

    def _repr_html_(self) -> str:
        from binfm.reading.html.notebook import effects_card

        return effects_card(self)

    def _squeezed(self, values: Any) -> Any:
        return values[0] if len(self._classes) == 1 else values


def find(key: int | str, names: tuple[str, ...]) -> int:
    """Return the column of a number or name."""
    if isinstance(key, str):
        if key not in names:
            raise KeyError(f"feature must be one of {few(names)}, got {key!r}")
        return names.index(key)
    if not -len(names) <= key < len(names):
        raise IndexError(f"feature must be from 0 to {len(names) - 1}, got {key}")
    return int(key) % len(names)


def summary(feature: FeatureEffects) -> list[str]:
    """Return name, number of cells, strength, and the cells of the lowest and the highest effect with their effects."""
    effect = np.atleast_2d(feature.effect)
    ends = []
    for at in (effect.argmin(), effect.argmax()):
        k, c = np.unravel_index(at, effect.shape)
        of_class = "" if feature.classes[k] is None else f"{feature.classes[k]}: "
        ends += [of_class + feature.cells[c], signed(effect[k, c])]
    strength = float(np.sqrt(np.mean(np.square(feature.strength))))
    return [feature.name, str(len(feature.cells)), number(strength, 4), *ends]
