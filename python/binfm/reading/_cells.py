"""Names of features and cells."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from binfm.attributes import Feature
    from binfm.model import Model

MISSING = "missing"
ABSENT = "absent"


def names_of(model: Model) -> tuple[str, ...]:
    """Return the column names, or x0, x1, … if training had none."""
    names = getattr(model, "feature_names", None)
    return tuple(f"x{j}" for j in range(model.n_features)) if names is None else tuple(names)


def outputs_of(model: Model) -> list[Any]:
    """Return the class of each output; None for the only one of two classes or of regression."""
    classes = model.classes
    return [None] if classes is None or len(classes) == 2 else classes.tolist()


def cell_labels(feature: Feature) -> list[str]:
    """Return what each cell holds; that of missing values comes last."""
    if feature.kind == "categorical":
        labels = [str(category) for category in feature.categories]
    elif feature.kind == "numeric":
        edges = _short(feature.edges.tolist())
        labels = [f"[{low}, {high})" for low, high in zip(["-inf", *edges], [*edges, "inf"], strict=True)]
    elif feature.kind == "raw":
        labels = ["value"]
    else:
        labels = []
    return labels if feature.missing_row is None else [*labels, MISSING]


def bounds(feature: Feature) -> list[tuple[float, float]]:
    """Return the interval of each cell of a numeric feature: from the first number to below the second."""
    edges = feature.edges.tolist()
    return list(zip([-math.inf, *edges], [*edges, math.inf], strict=True))


def _short(edges: list[float]) -> list[str]:
    """Return edges with as few digits as distinguish them, but at least three."""
    for digits in range(3, 10):
        texts = [f"{edge:.{digits}g}" for edge in edges]
        if len(set(texts)) == len(texts):
            break
    return texts if edges else []
