"""Targets: class labels to class numbers, and numbers for regression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from binfm._checks import number, sized
from binfm.data.arrays import as_numbers, contiguous

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Labels(NamedTuple):
    """The sorted class labels; of kind "none", and empty, for regression."""

    kind: str
    """``"int"``, ``"float"``, ``"bool"``, ``"text"`` or ``"none"``."""
    values: list[Any]

    def as_array(self) -> NDArray[Any]:
        """Return the labels as `model.classes` shows them."""
        dtype = {"int": np.int64, "float": np.float64, "bool": np.bool_, "text": np.str_}[self.kind]
        return np.array(self.values, dtype=dtype)


REGRESSION = Labels("none", [])
FEW_SAMPLES = 10
MANY_CLASSES = 100
MANY_FRACTIONS = 10
"""More classes than this, with fewer than ten samples each, look like numbers to predict; of fractions either is enough
to look like it."""


def learn_labels(y: Any, classes: Any) -> Labels:
    """Return the sorted labels of `classes`, or else of y."""
    if len(sized("y", y)) == 0:
        raise ValueError("y must have at least one value, got none")
    return check_labels(distinct_labels(y if classes is None else classes))


def distinct_labels(y: Any) -> Labels:
    """Return the sorted labels of y, however many they are."""
    return _distinct(_one_dimensional(y, "y"))


def joined_labels(a: Labels, b: Labels) -> Labels:
    """Return the sorted labels of two parts of y."""
    if not a.values or not b.values:
        return b if b.values else a
    if a.kind != b.kind and {a.kind, b.kind} != {"int", "float"}:
        raise TypeError(f"y must have labels of one type, got {a.kind} and {b.kind}")
    kind = a.kind if a.kind == b.kind else "float"
    values = {*a.values, *b.values}
    return Labels(kind, sorted(map(float, values) if kind == "float" else values))


def check_labels(labels: Labels) -> Labels:
    """Return labels of two or more classes."""
    if len(labels.values) < 2:
        raise ValueError(f"y must have at least two classes, got one class: {labels.values[0]!r}")
    return labels


def refuse_numbers(labels: Labels, samples: int) -> None:
    """Refuse labels that look like numbers to predict."""
    reason = why_numbers(labels, samples)
    if reason:
        raise ValueError(
            f"y must hold classes, got {reason}; pass loss='squared' (or use BinFMRegressor) to predict numbers, or "
            "loss='logistic' if they are classes"
        )


def why_numbers(labels: Labels, samples: int) -> str:
    """Return what makes labels look like numbers to predict; nothing if they do not."""
    classes = len(labels.values)
    are_rare = samples < FEW_SAMPLES * classes
    fraction = next((value for value in labels.values if labels.kind == "float" and value % 1), None)
    if fraction is not None and (are_rare or classes > MANY_FRACTIONS):
        return f"fractions such as {fraction}"
    if labels.kind in ("int", "float") and are_rare and classes > MANY_CLASSES:
        return f"{classes:,} different numbers in {samples:,} samples"
    return ""


def read_target(y: Any, labels: Labels, name: str, loss: str = "") -> NDArray[np.float64]:
    """Return y as numbers: those of the classes in `labels`, or its own for regression."""
    if labels.kind != "none":
        return _class_numbers(y, labels, name)
    numbers = _numbers(y, name)
    if loss == "poisson" and numbers.size and numbers.min() < 0:
        raise ValueError(f"{name} must not be negative with loss 'poisson', got {numbers.min():g}")
    return numbers


def refuse_zeros(y: NDArray[np.float64], loss: str) -> None:
    """Refuse targets whose mean has no logarithm, if that is what scores are."""
    if loss == "poisson" and not y.any():
        raise ValueError("y must have a number above 0 with loss 'poisson', got zeros only")


def weights_of_classes(class_weight: Any, labels: Labels, target: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weight of each sample's class: the same total for all, or those of a dict."""
    numbers = target.astype(np.intp)
    if isinstance(class_weight, str) and class_weight == "balanced":
        counts = np.bincount(numbers)
        balanced: NDArray[np.float64] = len(target) / ((counts > 0).sum() * counts[numbers])
        return balanced
    if not isinstance(class_weight, Mapping):
        raise TypeError(
            f"class_weight must be None, 'balanced' or a dict of weights by class label, got {class_weight!r}"
        )
    unknown = [label for label in class_weight if label not in labels.values]
    if unknown:
        raise ValueError(f"class_weight must only have labels of y, got {unknown[0]!r}")
    weights = np.array([number("class_weight", class_weight.get(label, 1.0)) for label in labels.values])
    if not (np.isfinite(weights).all() and weights.min() >= 0):
        raise ValueError(f"class_weight must have finite weights of at least 0, got {class_weight!r}")
    return weights[numbers]


def _class_numbers(y: Any, labels: Labels, name: str) -> NDArray[np.float64]:
    array = _one_dimensional(y, name)
    known = labels.as_array()
    if array.dtype == object and known.dtype.kind == "U":
        array = np.array([str(v) for v in array])
    try:
        found = np.clip(np.searchsorted(known, array), 0, len(known) - 1)
        wrong = known[found] != array
    except (TypeError, ValueError):
        raise TypeError(f"{name} must have labels of dtype {known.dtype}, as in training, got {array.dtype}") from None
    if np.any(wrong):
        raise ValueError(f"{name} must only have labels seen in training, got {array[wrong].tolist()[0]!r}")
    return found.astype(np.float64)


def _numbers(y: Any, name: str) -> NDArray[np.float64]:
    array = contiguous(as_numbers(_one_dimensional(y, name), name), np.float64)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    return array


def _one_dimensional(y: Any, name: str) -> NDArray[Any]:
    array = np.asarray(y)
    if array.ndim != 1:
        raise ValueError(f"{name} must be a 1-D array, got a {array.ndim}-D array of shape {array.shape}")
    return array


def _distinct(y: NDArray[Any]) -> Labels:
    kind = y.dtype.kind
    if kind == "O":
        if not all(isinstance(v, str) for v in y):
            if not all(isinstance(v, int | float | np.number | np.bool_) for v in y):
                raise TypeError("y must be all numbers, all booleans or all strings, got mixed or missing labels")
            return _distinct(np.array(y.tolist()))
        return Labels("text", sorted(set(y)))
    if kind == "f" and not np.isfinite(y).all():
        raise ValueError("y must be finite, got NaN or infinity")
    if kind == "u" and y.size and y.max() > np.iinfo(np.int64).max:
        raise ValueError(f"y must have labels below 2**63, got {y.max()}")
    names = {"i": "int", "u": "int", "f": "float", "b": "bool", "U": "text"}
    if kind not in names:
        raise TypeError(f"y must be integers, floats, booleans or strings, got dtype {y.dtype}")
    return Labels(names[kind], np.unique(y).tolist())
