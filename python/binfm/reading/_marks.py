"""What pictures write beside cells: the same in matplotlib and on the HTML page."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from binfm.reading._cells import first_whole, written

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm.reading._cells import Cells


def ticks(cells: Cells, most: int) -> list[tuple[float, str]]:
    """Return places and labels along the bins of a numeric feature, of which the i-th reaches from i to i + 1.

    Two bins are labeled by what they hold, and so are bins of one whole number each. Others are labeled at some of the
    edges between them.
    """
    bins = len(cells.bounds)
    edges = [high for _, high in cells.bounds[:-1]]
    first = first_whole(edges, cells.kind)
    one_each = first is not None and all(b - a == 1 for a, b in pairwise(first))
    if bins <= 2 or one_each:
        return [(i + 0.5, cells.labels[i]) for i in spread(bins, most)]
    at = spread(len(edges), most)
    values = [edges[i] for i in at] if first is None else [float(first[i]) for i in at]
    return [(i + 1.0, text) for i, text in zip(at, written(values, cells.kind), strict=True)]


def spread(count: int, most: int) -> range:
    """Return some of the numbers below `count`, evenly spread, up to a maximum."""
    step = max(1, -(-count // most))
    return range((count - 1) % step // 2 if count else 0, count, step)


def leading(cells: Cells, effect: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """Return the categories to show: the most frequent first if X was given, else the strongest, the highest first.

    `effect` has one row per class; its first row sorts the strongest.
    """
    if cells.counts is not None:
        return np.argsort(-cells.counts, kind="stable")[:most]
    strongest = np.argsort(-np.abs(effect).max(axis=0, initial=0), kind="stable")[:most]
    return strongest[np.argsort(-effect[0, strongest], kind="stable")]


def not_shown(cells: Cells, shown: int) -> str:
    """Return a note on categories that a picture leaves out; nothing if it has them all."""
    left = len(cells.labels) - shown
    which = "strongest" if cells.counts is None else "most frequent"
    return f"the {shown} {which}; {left:,} more not shown" if left > 0 else ""


def counted(cells: Cells, c: int, label: str) -> str:
    """Return the label of a cell with its number of samples, if that is known."""
    return label if cells.counts is None else f"{label} ({cells.counts[c]:,})"
