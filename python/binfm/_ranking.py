"""Which features a model needs most, so that the others need not cost it bytes.

Backward elimination: a small model is trained on all features, those that it misses least are left out, and so on with
what is left. A model misses a feature by what its loss rises when that column of the validation rows is shuffled.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from binfm._trials import judge

if TYPE_CHECKING:
    from binfm import _core
    from binfm._crew import Crew
    from binfm._inputs import Settings
    from binfm._problem import Problem
    from binfm._trials import Fold

SHARE = 1 / 3
"""Share of the features that is left out at a time."""
MOST_FEATURES = 1_000
"""With more, ranking would take longer than the search."""
MOST_ROWS = 2_000
"""Rows to shuffle, at most."""


def order_of_need(fold: Fold, settings: Settings, crew: Crew) -> list[int]:
    """Return the columns of a dense table, the one that is needed least first; none where that is not known."""
    table = fold.valid.table
    if isinstance(table, tuple) or not 1 < table.shape[1] <= MOST_FEATURES:
        return []
    valid = fold.valid.take(np.arange(min(MOST_ROWS, len(table))))
    rest = list(range(table.shape[1]))
    order: list[int] = []
    while len(rest) > 1:
        wanted = replace(settings, leave_out=tuple(sorted(order)), n_jobs=1)
        model = crew.map(lambda wanted: fold.train.fit(wanted, crew.is_over)[0], [wanted])[0]
        losses = crew.map(_LossWithout(model, valid), rest)
        rest = [column for _, column in sorted(zip(losses, rest, strict=True))]
        gone = max(1, round(SHARE * len(rest)))
        order, rest = order + rest[:gone], rest[gone:]
    return order + rest


class _LossWithout:
    """The loss of a model when a column tells nothing."""

    def __init__(self, model: _core.Model, valid: Problem) -> None:
        self.model, self.valid = model, valid

    def __call__(self, column: int) -> float:
        table = np.array(self.valid.table)
        table[:, column] = np.random.default_rng(column).permutation(table[:, column])
        return judge(self.model, replace(self.valid, table=table)).loss
