"""Which features a model needs most, so that the others need not cost it bytes.

Backward elimination: a small model is trained on all features, those it needs least are left out, and so on with the
rest. A model needs a feature as much as its loss rises when that column of the validation samples is shuffled.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from binfm.search.trials import evaluate

if TYPE_CHECKING:
    from binfm import _core
    from binfm.data.dataset import Dataset
    from binfm.params import Params
    from binfm.search.fitter import Fitter
    from binfm.search.pool import WorkerPool
    from binfm.search.trials import Fold

SHARE = 1 / 3
"""Share of the features that is left out at a time."""
MAX_FEATURES = 1_000
"""With more, ranking would take longer than the search."""
MAX_SAMPLES = 2_000
"""Samples to shuffle, at most."""


def rank_features(fold: Fold, params: Params, fitter: Fitter, pool: WorkerPool) -> list[int]:
    """Return the columns of a dense table, the least needed first; an empty list if ranking them is not possible."""
    table = fold.valid.table
    if isinstance(table, tuple) or not 1 < table.shape[1] <= MAX_FEATURES:
        return []
    valid = fold.valid.take(np.arange(min(MAX_SAMPLES, len(table))))
    rest = list(range(table.shape[1]))
    order: list[int] = []
    while len(rest) > 1:
        without = params.replace(leave_out=tuple(sorted(order)))
        model = pool.map(lambda params: fitter.fit(fold.train, params), [without])[0]
        losses = pool.map(_LossWithout(model, valid), rest)
        rest = [column for _, column in sorted(zip(losses, rest, strict=True))]
        dropped = max(1, round(SHARE * len(rest)))
        order, rest = order + rest[:dropped], rest[dropped:]
    return order + rest


class _LossWithout:
    """The loss of a model if a column carries no information."""

    def __init__(self, model: _core.Model, valid: Dataset) -> None:
        self.model, self.valid = model, valid

    def __call__(self, column: int) -> float:
        table = np.array(self.valid.table)
        table[:, column] = np.random.default_rng(column).permutation(table[:, column])
        return evaluate(self.model, replace(self.valid, table=table)).loss
