"""binfm: one call a budget. It cross-validates by itself."""

from __future__ import annotations

import binfm

from pareto.problem import BUDGETS, Problem
from pareto.store import Point
from pareto.systems import NotAvailableError


def measure(problem: Problem) -> dict[int, Point | None]:
    return {budget: _point(problem, budget) for budget in BUDGETS}


def _point(problem: Problem, budget: int) -> Point | None:
    try:
        model = binfm.train(problem.X, problem.y, max_bytes=budget)
    except TypeError as error:
        if "max_bytes" not in str(error):
            raise
        raise NotAvailableError("binfm.train has no max_bytes") from None
    except ValueError as error:
        print(f"  {budget:,} bytes: {error}", flush=True)  # names the smallest size for this data
        return None
    size = len(model.to_bytes())
    if size > budget:
        raise AssertionError(f"binfm.train(max_bytes={budget}) returned a model of {size} bytes")
    return Point(problem.test_accuracy(model.predict(problem.X_test)), size, _settings(model))


def _settings(model: binfm.Model) -> dict[str, object]:
    """Return what was chosen, for the record."""
    names = ("features", "m", "b", "tilings", "binning", "loss", "learning_rate", "epochs")
    return {name: model.search.chosen[name] for name in names}
