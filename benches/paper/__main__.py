"""Run the missing measurements, then write the page and the figures."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

from paper import agenda, figures, page
from paper.data import NAMES, load
from paper.plan import FULL, QUICK
from paper.pool import run
from paper.store import Store
from paper.summary import Summary
from paper.systems import NotAvailableError, system

RESULTS = Path(__file__).parents[1] / "results" / "paper"


def main() -> None:
    arguments = _arguments()
    plan = QUICK if arguments.quick else FULL
    plan = replace(plan, splits=arguments.splits or plan.splits)
    folder = RESULTS / "quick" if arguments.quick else RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    found = {name: data for name in arguments.data if (data := load(name, plan.most_rows)) is not None}
    missing = [name for name in arguments.data if name not in found]
    unavailable = _unavailable()
    names = [name for name in agenda.MEASURED if name not in unavailable]
    sets = list(found)
    store = Store(folder / "results.json")
    store.drop(arguments.again)
    processes = arguments.processes
    run(agenda.accuracies(sets, names, plan), store, processes)
    run(agenda.ladders(sets, names, plan, store), store, processes)
    run([*agenda.sizes(sets, names, plan), *agenda.curves(sets, plan), *agenda.probes(sets, plan)], store, processes)
    run(agenda.times(sets, names, plan, store), store, 1)
    store.put("made", page.made())
    summary = Summary(store, plan, found, missing, unavailable)
    figures.write(summary, folder)
    (folder / "README.md").write_text(page.page(summary))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make -C benches paper", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two splits of few samples")
    parser.add_argument("--again", nargs="*", choices=agenda.MEASURED, default=[], metavar="SYSTEM")
    parser.add_argument("--data", nargs="*", choices=NAMES, default=NAMES, metavar="SET")
    parser.add_argument("--splits", type=int, help="number of splits, if not all")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def _unavailable() -> dict[str, str]:
    """Return the systems that are unavailable here, with the reasons."""
    reasons = {}
    for name in agenda.MEASURED:
        try:
            system(name).check()
        except NotAvailableError as error:
            reasons[name] = str(error)
    return reasons


if __name__ == "__main__":
    main()
