"""Targets: class labels to class numbers, and numbers for regression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from binfm._inputs import as_numbers, plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

Labels = tuple[str, list[Any]]

REGRESSION: Labels = ("none", [])


def encode_classes(y: Any) -> tuple[NDArray[np.float64], Labels]:
    """Return the number of each row's class and the sorted class labels."""
    array = _target(y, "y")
    labels = _distinct(array)
    if len(labels[1]) < 2:
        raise ValueError(f"y: got one class ({labels[1][0]!r}); accepted are two or more")
    return class_numbers(array, labels, "y"), labels


def class_numbers(y: Any, labels: Labels, name: str) -> NDArray[np.float64]:
    """Return the number of each row's class among known labels."""
    array = _target(y, name)
    known = as_array(labels)
    if array.dtype == object and known.dtype.kind == "U":
        array = np.array([str(v) for v in array])
    try:
        found = np.clip(np.searchsorted(known, array), 0, len(known) - 1)
        wrong = known[found] != array
    except (TypeError, ValueError):
        raise TypeError(f"{name}: got labels of dtype {array.dtype}; training had {known.dtype}") from None
    if np.any(wrong):
        raise ValueError(f"{name}: got label {array[wrong].tolist()[0]!r}; accepted are those of training")
    return found.astype(np.float64)


def regression_target(y: Any, name: str) -> NDArray[np.float64]:
    """Return finite float64 targets."""
    array = plain(as_numbers(_target(y, name), name), np.float64)
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: got NaN or infinity; accepted are finite numbers")
    return array


def as_array(labels: Labels) -> NDArray[Any]:
    """Return the labels as the array that `model.classes` shows."""
    kind, values = labels
    dtype = {"int": np.int64, "float": np.float64, "bool": np.bool_, "text": np.str_}[kind]
    return np.array(values, dtype=dtype)


def _target(y: Any, name: str) -> NDArray[Any]:
    array = np.asarray(y)
    if array.ndim != 1:
        raise ValueError(f"{name}: got a {array.ndim}-D array of shape {array.shape}; accepted is a 1-D array")
    return array


def _distinct(y: NDArray[Any]) -> Labels:
    kind = y.dtype.kind
    if kind == "O":
        if not all(isinstance(v, str) for v in y):
            if not all(isinstance(v, int | float | np.number | np.bool_) for v in y):
                raise TypeError("y: got mixed or missing labels; accepted are all numbers, all booleans or all strings")
            return _distinct(np.array(y.tolist()))
        return "text", sorted(set(y))
    if kind == "f" and not np.isfinite(y).all():
        raise ValueError("y: got NaN or infinity; accepted are finite labels")
    if kind == "u" and y.size and y.max() > np.iinfo(np.int64).max:
        raise ValueError(f"y: got label {y.max()}; accepted are whole numbers below 2**63")
    names = {"i": "int", "u": "int", "f": "float", "b": "bool", "U": "text"}
    if kind not in names:
        raise TypeError(f"y: got dtype {y.dtype}; accepted are integers, floats, booleans and strings")
    return names[kind], np.unique(y).tolist()
