"""binfm: the result of `binfm.train(X, y, max_bytes=budget)` for each budget. It cross-validates by itself.

This calls the search below `binfm.train`, so that trials are shared between budgets. The models are identical, which
`tests/python/test_search.py` verifies.
"""

from __future__ import annotations

from typing import Any

from binfm.params import Params
from binfm.search import Search
from binfm.search.halving import SuccessiveHalving, successive_halving
from binfm.search.trials import VARIED
from binfm.training import Trainer, read_data

from pareto.problem import BUDGETS, Problem
from pareto.store import Point

CHOSEN = ("features", *VARIED[:-1])
"""Settings stored with each model; of its features only the number is stored."""


def measure(problem: Problem) -> dict[int, Point | None]:
    params = Params.of({"max_bytes": max(BUDGETS)})
    data, _ = read_data(problem.X, problem.y, None, None, params)
    with successive_halving(data, params.resolve(len(data), False), progress=lambda: None) as halving:
        return {budget: _point(problem, halving, data, budget) for budget in BUDGETS}


def _point(problem: Problem, halving: SuccessiveHalving, data: Any, budget: int) -> Point | None:
    chosen = halving.best(budget)
    if chosen is None:
        return None
    params, search = halving.with_best_init(chosen, budget), Search.of(halving.trials, chosen, budget, halving.metric)
    model = Trainer(data, params).fit(data, None, params, search=search)
    if model.nbytes > budget:
        raise AssertionError(f"a model for {budget} bytes has {model.nbytes}")
    settings = {name: model.search.chosen[name] for name in CHOSEN}
    return Point(problem.test_accuracy(model.predict(problem.X_test)), model.nbytes, settings)
