"""The columns of a model as a table: what each was read as, and what became of it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from binfm._text import MAX_LINES, table

if TYPE_CHECKING:
    from binfm.attributes import Feature
    from binfm.data.dataset import Dataset

HEAD = ("feature", "type", "cells", "missing", "dropped")


class ColumnFacts(NamedTuple):
    """What training knows about a column, and a saved model does not."""

    type: str
    """``"number"``, ``"date"`` or ``"category"``."""
    missing: int | None
    """Number of missing values."""
    dropped: str
    """Why the model does without it, if it does."""


def column_facts(dataset: Dataset, leave_out: tuple[int, ...]) -> tuple[ColumnFacts, ...]:
    """Return what is known about the columns of the samples to train on; those of zero weight do not count."""
    from binfm.data.arrays import missing_counts

    dataset = dataset.weighted()
    missing = missing_counts(dataset.table).tolist()
    categorical, dropped = set(dataset.categorical), set(leave_out)
    of = cache(ColumnFacts)  # a million sparse columns have few different ones
    facts = []
    for j, count in enumerate(missing):
        kind = "category" if j in categorical else "date" if j in dataset.dates else "number"
        constant = "all missing" if count == len(dataset) else "constant" if kind != "category" else "one category"
        facts.append(of(kind, count, "left out" if j in dropped else constant))
    return tuple(facts)


class Features(tuple["Feature", ...]):
    """The features of a model, in the order of the columns. Prints as a table.

    Examples
    --------
    >>> import numpy as np, binfm
    >>> X = np.random.default_rng(0).normal(size=(500, 3)) * [1, 1, 0]
    >>> X[::10, 0] = np.nan
    >>> print(binfm.train(X, X[:, 1] > 0, m=4).features)
    feature  type    cells  missing   dropped
    0        number     17       50
    1        number     17        0
    2        number      0        0  constant
    """

    __slots__ = ()

    def __str__(self) -> str:
        lines = [[_cell(record[name]) for name in HEAD] for record in self.to_records()]
        return table(HEAD, lines, left=2, most=MAX_LINES)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from binfm.reading.html.notebook import features_card

        return features_card(self)

    def to_records(self) -> list[dict[str, Any]]:
        """Return a dict for each feature.

        Its keys are ``feature`` (name or number), ``type``, ``cells`` (of a category: how many there are), ``missing``
        (None if the model was loaded) and ``dropped`` (why the model does without it; empty if it does not).
        """
        return [
            {
                "feature": j if feature.name is None else feature.name,
                "type": feature.type,
                "cells": feature.cells,
                "missing": feature.missing,
                "dropped": feature.dropped,
            }
            for j, feature in enumerate(self)
        ]


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else value
