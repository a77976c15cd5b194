"""All measurements, as tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paper import tasks
from paper.plan import Plan
from paper.pool import Task
from paper.store import Store
from paper.systems import OTHERS, TABLE

MEASURED = (*TABLE, "unscaled", "quantile", *OTHERS)
FAMILY = ("fm", "sefm", "dfm", "bfm1", "bfm4")
LADDERS = ("circles", "moons", "banana", "segment", "pendigits", "ijcnn")
"""The paper's figure has webspam in place of banana."""
SIZED = ("banana", "pendigits", "ijcnn")
CONVERGENCE = ("banana", "ijcnn")
STRENGTHS = (1e-5, 1e-3, 1e-2, 1e-1)
"""λ per step, which is the unit of the paper's objective."""
DECIMALS = (1, 2, 3)
RATES = {"adagrad": (0.01, 0.02, 0.05, 0.1), "sgd": (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)}
"""Step sizes of the convergence figure, which shows the one with the lowest final loss for each optimizer."""


def accuracies(sets: Sequence[str], names: Sequence[str], plan: Plan) -> list[Task]:
    """Return one task per split, data set and system, ordered by split so that partial results cover everything."""
    return [
        Task(f"accuracy/{data}/{name}/{seed}", tasks.accuracy, (data, name, seed, plan))
        for seed in range(plan.splits)
        for data in sets
        for name in names
        if seed < plan.few_splits or name not in OTHERS
    ]


def ladders(sets: Sequence[str], names: Sequence[str], plan: Plan, store: Store) -> list[Task]:
    return [
        Task(f"ladder/{data}/{name}/{seed}", tasks.ladder, (data, name, settings(store, data, name, seed), seed, plan))
        for data in LADDERS
        for name in FAMILY
        for seed in range(plan.few_splits)
        if data in sets and name in names
    ]


def sizes(sets: Sequence[str], names: Sequence[str], plan: Plan) -> list[Task]:
    return [
        Task(f"size/{data}/{name}", tasks.size, (data, name, plan))
        for data in SIZED
        for name in FAMILY
        if data in sets and name in names
    ]


def curves(sets: Sequence[str], plan: Plan) -> list[Task]:
    return [
        Task(f"convergence/{data}/{optimizer}/{rate}", tasks.convergence, (data, optimizer, rate, plan))
        for data in CONVERGENCE
        for optimizer, rates in RATES.items()
        for rate in rates
        if data in sets
    ]


def probes(sets: Sequence[str], plan: Plan) -> list[Task]:
    """Return experiments, on the first split, on why a system differs from the paper's."""
    strengths = [
        Task(f"strength/{data}/{name}/{each}", tasks.strength, (data, name, each, plan))
        for data in ("segment", "pendigits", "ijcnn")
        for name in ("fm", "dfm")
        for each in STRENGTHS
        if data in sets
    ]
    roundings = [
        Task(f"rounding/{data}/{decimals}", tasks.rounding, (data, decimals, plan))
        for data in ("banana", "segment")
        for decimals in DECIMALS
        if data in sets
    ]
    return strengths + roundings


def times(sets: Sequence[str], names: Sequence[str], plan: Plan, store: Store) -> list[Task]:
    """Return one task per data set, in which all systems alternate; synthetic data stands in for webspam."""
    timed = [name for name in names if name not in (*OTHERS, "quantile")]
    each = [
        Task(f"times/{data}", tasks.times, (data, {name: settings(store, data, name, 0) for name in timed}, plan))
        for data in sets
    ]
    wide = [name for name in timed if name not in ("nfm-ids", "unscaled")]
    return [*each, Task("times/webspam-shape", tasks.shape_times, (wide, plan))]


def settings(store: Store, data: str, name: str, seed: int) -> Any:
    """Return the settings chosen on a split."""
    return store.records[f"accuracy/{data}/{name}/{seed}"]["settings"]
