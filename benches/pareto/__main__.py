"""Run the missing measurements, then write the table and the plot.

With --only, the named systems are measured again and the others are left alone.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from datetime import date
from pathlib import Path

from pareto import plot, report
from pareto.problem import DATA, Problem, problems
from pareto.store import Entry, Point, Store
from pareto.summary import Summary
from pareto.systems import SYSTEMS, NotAvailableError, System

RESULTS = Path(__file__).parents[1] / "results"
DIGITS = 6


def main() -> None:
    arguments = _arguments()
    store = Store(RESULTS / "pareto.json")
    names = arguments.only or list(SYSTEMS)
    unavailable: dict[str, str] = {}
    missing = []
    for data in arguments.data:
        splits = problems(data)
        if splits is None:
            missing.append(data)
            continue
        if arguments.only:
            store.drop(data, names)
        for problem in splits:
            _measure_all(problem, [SYSTEMS[name] for name in names if name not in unavailable], store, unavailable)
    summary = Summary(store, missing, unavailable)
    (RESULTS / "pareto.md").write_text(report.page(summary))
    plot.draw(summary).savefig(RESULTS / "pareto.png")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make -C benches pareto", description=__doc__)
    parser.add_argument("--only", nargs="*", choices=list(SYSTEMS), default=[], metavar="SYSTEM")
    parser.add_argument("--data", nargs="*", choices=DATA, default=DATA, metavar="SET")
    return parser.parse_args()


def _measure_all(problem: Problem, systems: list[System], store: Store, unavailable: dict[str, str]) -> None:
    for system in systems:
        if (problem.name, problem.seed, system.name) in store.entries:
            continue
        print(f"{problem.name}, split {problem.seed}: {system.label}", flush=True)
        try:
            store.put(_measure(problem, system))
        except NotAvailableError as error:
            unavailable[system.name] = str(error)
            print(f"  not available: {error}", flush=True)


def _measure(problem: Problem, system: System) -> Entry:
    start = time.perf_counter()
    points = {budget: _rounded(point) for budget, point in system.measure(problem).items()}
    seconds = round(time.perf_counter() - start, 1)
    today = date.today().isoformat()
    entry = Entry(problem.name, problem.seed, system.name, system.version, today, seconds, points)
    shown = ["–" if p is None else f"{100 * p.accuracy:.1f}" for p in points.values()]
    print(f"  {' '.join(shown)}  ({seconds:.0f} s)", flush=True)
    return entry


def _rounded(point: Point | None) -> Point | None:
    if point is None:
        return None
    validated = None if point.validated is None else round(point.validated, DIGITS)
    return replace(point, accuracy=round(point.accuracy, DIGITS), validated=validated)


if __name__ == "__main__":
    main()
