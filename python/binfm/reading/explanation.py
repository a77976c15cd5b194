"""Why one sample has its score: `model.explain(row)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from binfm._text import MAX_LINES, figure, number, plain, signed, table
from binfm.reading._cells import Direction, cell_labels, direction_of, names_of, outputs_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm.model import Model
    from binfm.reading._reference import Reference


class Explanation:
    """What each feature of one sample adds to its score. Prints as a table.

    There are two decompositions. The first is in whole numbers: ``(bias + contributions.sum()) * unit`` is the score,
    bit for bit. Absent features add nothing, and a pair is split evenly between its two features. The second is
    relative to the mean: ``mean + shapley.sum() + absent_shapley`` is the score up to rounding. These are the Shapley
    values of the score if features vary independently with the frequencies of `reference`.

    Arrays have one entry for each present feature, and a first axis of classes if there are more than two.

    Examples
    --------
    >>> import numpy as np, binfm
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 3))
    >>> model = binfm.train(X, X[:, 0] * X[:, 2] > 0, b=8, tilings=2)
    >>> why = model.explain([0.7, 0.1, -0.8], X)
    >>> why.names
    ('x0', 'x1', 'x2')
    >>> bool(why.bias + why.contributions.sum() == why.units)
    True
    """

    def __init__(self, model: Model, reference: Reference, table: Any) -> None:
        parts = reference.parts
        self._present, self._values = parts.present(table)
        self._one = parts.outputs == 1
        self.classes = tuple(outputs_of(model))
        """The class of each output; (None,) for the only one."""
        self.indices = parts.feature[self._present]
        """The columns of X that are present."""
        names = names_of(model)
        self.names = tuple(names[j] for j in self.indices)
        """Their names."""
        self.cells = tuple(
            f"{signed(value, 3)} sd" if parts.raw[c] else _cell(model, reference, int(j), int(c))
            for j, c, value in zip(self.indices, self._present, self._values, strict=True)
        )
        """The cell of each of them, or its value in standard deviations if it is used raw."""
        self.unit = parts.unit
        """The unit of the whole numbers: half of the least difference between two scores."""
        self.reference = reference.described
        """The cell frequencies of the mean and the Shapley values."""
        self._direction = direction_of(model)
        self._bias = [scale.bias for scale in parts.scales]
        self._parts = _shares(reference, self._present, self._values)
        self._mean = reference.mean_score
        self._shapley, self._absent = _shapley(reference, self._present, self._values)

    def direction(self, output: int = 0) -> Direction:
        """Return what a higher and a lower score of an output mean, in words."""
        return self._direction if self._one else Direction.toward(self.classes[output])

    @property
    def bias(self) -> Any:
        """What the score begins with: a whole number, or a list with one per class."""
        return self._bias[0] if self._one else list(self._bias)

    @property
    def parts(self) -> NDArray[Any]:
        """Whole numbers: on the diagonal what a feature adds by itself, elsewhere its half of a pair."""
        return self._parts[0] if self._one else self._parts

    @property
    def contributions(self) -> NDArray[Any]:
        """Whole numbers: what each feature adds, the sums of the rows of `parts`."""
        contributions: NDArray[Any] = self.parts.sum(axis=-1)
        return contributions

    @property
    def units(self) -> Any:
        """The score as a whole number of units: ``bias + contributions.sum()``."""
        totals = [bias + plain(parts.sum()) for bias, parts in zip(self._bias, self._parts, strict=True)]
        return totals[0] if self._one else totals

    @property
    def score(self) -> float | NDArray[np.float64]:
        """The score, equal to that of ``decision_function`` bit for bit; one per class."""
        totals = [float(total) * self.unit for total in ([self.units] if self._one else self.units)]
        return totals[0] if self._one else np.array(totals)

    @property
    def mean(self) -> float | NDArray[np.float64]:
        """Mean score of the reference."""
        return float(self._mean[0]) if self._one else self._mean

    @property
    def shapley(self) -> NDArray[np.float64]:
        """What each present feature moves the score from the mean, in units of the score."""
        return self._shapley[0] if self._one else self._shapley

    @property
    def absent_shapley(self) -> float | NDArray[np.float64]:
        """The sum of the Shapley values of all absent features."""
        return float(self._absent[0]) if self._one else self._absent

    def to_records(self) -> list[dict[str, Any]]:
        """Return a dict for each class and present feature."""
        records = []
        for k, of_class in enumerate(self.classes):
            who = {} if of_class is None else {"class": of_class}
            whole = self._parts[k].sum(axis=-1)
            for i, (name, cell) in enumerate(zip(self.names, self.cells, strict=True)):
                parts = {"contribution": plain(whole[i]), "shapley": float(self._shapley[k, i])}
                records.append({**who, "feature": name, "cell": cell, **parts})
        return records

    def to_dict(self) -> dict[str, Any]:
        """Return bias, score, mean and what each present feature adds."""
        return {
            "unit": self.unit,
            "bias": self.bias,
            "score": self.score if self._one else np.asarray(self.score).tolist(),
            "mean": self.mean if self._one else self._mean.tolist(),
            "contributions": dict(zip(self.names, self.contributions.T.tolist(), strict=True)),
            "shapley": dict(zip(self.names, self.shapley.T.tolist(), strict=True)),
        }

    def shown(self) -> int:
        """Return the output that is printed and drawn: that of the highest score."""
        return 0 if self._one else int(np.argmax(np.asarray(self.score)))

    def __str__(self) -> str:
        k = self.shown()
        whole, moved = self._parts[k].sum(axis=-1), self._shapley[k]
        order = np.argsort(-np.abs(moved), kind="stable")
        shown, rest = order[:MAX_LINES], order[MAX_LINES:]
        lines = [[self.names[i], self.cells[i], figure(whole[i]), signed(moved[i])] for i in shown]
        if len(rest):
            lines.append([f"{len(rest):,} others", "", figure(whole[rest].sum()), signed(moved[rest].sum())])
        lines.append(["bias, mean", "", figure(self._bias[k]), signed(self._mean[k])])
        if self._absent[k] != 0:
            lines.append(["absent features", "", "0", signed(self._absent[k])])
        total = self._bias[k] + whole.sum()
        lines.append(["score", "", figure(total), signed(float(total) * self.unit)])
        text = table(["feature", "cell", "units", "from the mean"], lines, left=2)
        of_class = "" if self._one else f"Score of class {self.classes[k]}. "
        return f"{text}\n{of_class}One unit is {number(self.unit, 4)}. The mean is over {self.reference}."

    def __repr__(self) -> str:
        return f"<binfm explanation of a sample with {len(self.names)} features present>"

    def _repr_html_(self) -> str:
        from binfm.reading.html.notebook import explanation_card

        return explanation_card(self)


def _cell(model: Model, reference: Reference, j: int, c: int) -> str:
    return cell_labels(model._feature(j), reference.kind(j))[c - int(reference.parts.begins[j])]


def _shares(reference: Reference, present: NDArray[np.intp], values: NDArray[np.float32]) -> NDArray[Any]:
    """Return own parts on the diagonal and half of each pair elsewhere, shape (outputs, present, present)."""
    parts = reference.parts
    both, own = parts.pairs(present, present), parts.own[:, present]
    shares = both // 2 if parts.whole else both * np.multiply.outer(values, values).astype(np.float64) / 2
    each = np.arange(len(present))
    shares[:, each, each] = own if parts.whole else own * values
    return shares


def _shapley(
    reference: Reference, present: NDArray[np.intp], values: NDArray[np.float32]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the Shapley values of the present features and the sum of those of the absent ones.

    With independent features, that of f is its main effect plus half of each of its interactions:
    main_f(c_f) + ½ d_f · Σ_{g≠f} d_g with d = β · (u − ū).
    """
    parts = reference.parts
    where = parts.feature[present]
    beta = np.sqrt(np.array([float(s.pairs) for s in parts.scales]) * parts.unit)[:, None, None]
    deviations = -reference.means
    deviations[:, where] += parts.factors[:, present] * values[:, None]
    deviations = beta * deviations
    others = deviations.sum(axis=1, keepdims=True) - deviations
    main = reference.absent_main.copy()
    main[:, where] += reference.before[:, present] * values
    moved = main + np.einsum("kfm,kfm->kf", deviations, others) / 2
    gone = np.ones(parts.features, bool)
    gone[where] = False
    return moved[:, where], moved[:, gone].sum(axis=1)
