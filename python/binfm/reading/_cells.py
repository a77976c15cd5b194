"""Names of features and cells, and what a higher score means."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from binfm._text import dates, numbers
from binfm.data.kinds import ValueKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from binfm.attributes import Feature
    from binfm.model import Model

MISSING = "missing"
ABSENT = "absent"


class Direction(NamedTuple):
    """What a higher and a lower score mean, in words."""

    up: str
    down: str

    @classmethod
    def toward(cls, label: Any) -> Direction:
        """Return that of a class."""
        named = label if isinstance(label, str | bool) else f"class {label}"
        return cls(f"more likely {named}", f"less likely {named}")


SCORE = Direction("higher score", "lower score")
"""What is said where the model is not known."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one feature, as pictures need them; that of missing values comes last."""

    labels: tuple[str, ...]
    """What each cell holds."""
    bounds: tuple[tuple[float, float], ...] = ()
    """The interval of each cell of a numeric feature: from the first number to below the second."""
    kind: ValueKind = field(default_factory=ValueKind)
    """What the numbers are."""
    counts: NDArray[np.int64] | None = None
    """Samples of X in each cell; None without X."""

    @classmethod
    def of(cls, feature: Feature, kind: ValueKind, counts: NDArray[np.int64] | None) -> Cells:
        """Describe the cells of a feature."""
        intervals = tuple(bounds(feature)) if feature.kind == "numeric" else ()
        return cls(tuple(cell_labels(feature, kind)), intervals, kind, counts)


def names_of(model: Model) -> tuple[str, ...]:
    """Return the column names, or x0, x1, … if training had none."""
    names = getattr(model, "feature_names", None)
    return tuple(f"x{j}" for j in range(model.n_features)) if names is None else tuple(names)


def outputs_of(model: Model) -> list[Any]:
    """Return the class of each output; None for the only one of two classes or of regression."""
    classes = model.classes
    return [None] if classes is None or len(classes) == 2 else classes.tolist()


def direction_of(model: Model) -> Direction:
    """Return what a higher score means; of any one class, if there are more than two."""
    classes = model.classes
    if classes is None:
        return Direction("higher prediction", "lower prediction")
    return Direction.toward(classes.tolist()[1] if len(classes) == 2 else "that class")


def cell_labels(feature: Feature, kind: ValueKind) -> list[str]:
    """Return what each cell holds; that of missing values comes last."""
    if feature.kind == "categorical":
        labels = [str(category) for category in feature.categories]
    elif feature.kind == "numeric":
        labels = _intervals(feature.edges.tolist(), kind)
    elif feature.kind == "raw":
        labels = ["value"]
    else:
        labels = []
    return labels if feature.missing_row is None else [*labels, MISSING]


def bounds(feature: Feature) -> list[tuple[float, float]]:
    """Return the interval of each cell of a numeric feature: from the first number to below the second."""
    edges = feature.edges.tolist()
    return list(zip([-math.inf, *edges], [*edges, math.inf], strict=True))


def written(values: Sequence[float], kind: ValueKind) -> list[str]:
    """Return values of a column as their owner writes them; different values look different."""
    return dates(values) if kind.is_date else numbers(values)


def first_whole(edges: Sequence[float], kind: ValueKind) -> list[int] | None:
    """Return the first whole number of the cell above each edge; None if cells cannot be told apart by those."""
    if not kind.is_whole or not all(map(math.isfinite, edges)):
        return None
    first = [math.ceil(edge) for edge in edges]
    return first if all(a < b for a, b in pairwise(first)) else None


def _intervals(edges: list[float], kind: ValueKind) -> list[str]:
    """Return the interval of each cell in words; of whole numbers, its first and last."""
    if not edges:
        return ["any value"]
    first = first_whole(edges, kind)
    if first is None:
        lows = highs = written(edges, kind)
        below = "<"
    else:
        if kind.is_flag and first == [1]:
            return ["0", "1"]
        texts = written([*first, *(low - 1 for low in first)], kind)
        lows, highs = texts[: len(edges)], texts[len(edges) :]
        below = "≤"
    middle = [a if a == b else f"{a} to {b}" for a, b in zip(lows, highs[1:], strict=False)]
    return [f"{below} {highs[0]}", *middle, f"≥ {lows[-1]}"]
