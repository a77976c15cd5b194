"""binfm: what `binfm.train(X, y, max_bytes=budget)` gives for each budget. It cross-validates by itself.

The search is called where `binfm.train` calls it, so that what the budgets have in common is tried once. The models are
the same: `tests/python/test_tuning.py` compares them.
"""

from __future__ import annotations

from typing import Any

from binfm._trials import VARIED
from binfm.model import Model
from binfm.training import prepare
from binfm.tuning import Climb, climbing

from pareto.problem import BUDGETS, Problem
from pareto.store import Point

CHOSEN = ("features", *VARIED[:-1])
"""What the page's data says of each model; the columns that it does without are counted, not listed."""


def measure(problem: Problem) -> dict[int, Point | None]:
    data, settings, free = prepare(problem.X, problem.y, searching=True)
    with climbing(data, settings, free, progress=lambda: None) as climb:
        return {budget: _point(problem, climb, data, budget) for budget in BUDGETS}


def _point(problem: Problem, climb: Climb, data: Any, budget: int) -> Point | None:
    chosen = climb.best(budget)
    if chosen is None:
        return None
    model = Model._of(*data.fit(climb.started(chosen, budget)), climb.report(chosen, budget))
    if model.nbytes > budget:
        raise AssertionError(f"a model for {budget} bytes has {model.nbytes}")
    settings = {name: model.search.chosen[name] for name in CHOSEN}
    return Point(problem.test_accuracy(model.predict(problem.X_test)), model.nbytes, settings)
