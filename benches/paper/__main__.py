"""Measure what is missing, then write the page and the figures."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from paper import tasks
from paper.data import NAMES, load
from paper.plan import FULL, QUICK, Plan
from paper.pool import Task, run
from paper.store import Store
from paper.systems import OTHERS, TABLE, NotAvailableError, system

RESULTS = Path(__file__).parents[1] / "results" / "paper"
MEASURED = (*TABLE, "unscaled", *OTHERS)
FAMILY = ("fm", "sefm", "dfm", "bfm1", "bfm4")
LADDERS = ("circles", "moons", "banana", "segment", "pendigits", "ijcnn")
SIZED = ("banana", "pendigits", "ijcnn")
CONVERGENCE = ("banana", "ijcnn")
RATES = {"adagrad": (0.01, 0.02, 0.05), "sgd": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)}
"""Step sizes of the figure of convergence; each optimizer is drawn with the one that ends lowest."""


def main() -> None:
    arguments = _arguments()
    plan = QUICK if arguments.quick else FULL
    folder = RESULTS / "quick" if arguments.quick else RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    found = {name: data for name in arguments.data if (data := load(name, plan.most_rows)) is not None}
    unavailable = _unavailable()
    names = [name for name in MEASURED if name not in unavailable]
    store = Store(folder / "results.json")
    store.drop(arguments.again)
    _measure(list(found), names, plan, store, arguments.processes)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make paper", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two splits of few rows")
    parser.add_argument("--again", nargs="*", choices=MEASURED, default=[], metavar="SYSTEM", help="measure again")
    parser.add_argument("--data", nargs="*", choices=NAMES, default=NAMES, metavar="SET")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def _unavailable() -> dict[str, str]:
    reasons = {}
    for name in MEASURED:
        try:
            system(name).check()
        except NotAvailableError as error:
            reasons[name] = str(error)
    return reasons


def _measure(sets: list[str], names: list[str], plan: Plan, store: Store, processes: int) -> None:
    main_part = [
        Task(f"accuracy/{data}/{name}/{seed}", tasks.accuracy, (data, name, seed, plan))
        for data in sets
        for name in names
        for seed in range(plan.splits)
    ]
    run(main_part, store, processes)
    run(_ladders(sets, names, plan, store), store, processes)
    run(_small(sets, names, plan), store, processes)
    run(_times(sets, names, plan, store), store, 1)


def _ladders(sets: list[str], names: list[str], plan: Plan, store: Store) -> list[Task]:
    return [
        Task(f"ladder/{data}/{name}/{seed}", tasks.ladder, (data, name, _settings(store, data, name, seed), seed, plan))
        for data in LADDERS
        for name in FAMILY
        for seed in range(plan.ladder_splits)
        if data in sets and name in names
    ]


def _small(sets: list[str], names: list[str], plan: Plan) -> list[Task]:
    sizes = [
        Task(f"size/{data}/{name}", tasks.size, (data, name, plan))
        for data in SIZED
        for name in FAMILY
        if data in sets and name in names
    ]
    curves = [
        Task(f"convergence/{data}/{optimizer}/{rate}", tasks.convergence, (data, optimizer, rate, plan))
        for data in CONVERGENCE
        for optimizer, rates in RATES.items()
        for rate in rates
        if data in sets
    ]
    return sizes + curves


def _times(sets: list[str], names: list[str], plan: Plan, store: Store) -> list[Task]:
    timed = [name for name in names if name not in OTHERS]
    each = [
        Task(f"times/{data}", tasks.times, (data, {name: _settings(store, data, name, 0) for name in timed}, plan))
        for data in sets
    ]
    wide = [name for name in timed if name not in ("nfm-ids", "unscaled")]
    return [*each, Task("times/webspam", tasks.webspam_times, (wide, plan))]


def _settings(store: Store, data: str, name: str, seed: int) -> Any:
    return store.records[f"accuracy/{data}/{name}/{seed}"]["settings"]


if __name__ == "__main__":
    main()
