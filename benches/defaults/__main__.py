"""Measure the default call of each system on every data set, then write a page and a picture.

Results are kept in a file, so that an interrupted run resumes. binfm is measured again when its code has changed, the
others only with --again. Only a run over all data sets writes defaults.md and defaults.png; any other one writes them
into the folder `partial`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from paper.pool import Task, run
from paper.store import Record, Store

from defaults import page, picture, sets
from defaults.measure import measure
from defaults.sets import SETS
from defaults.summary import Summary
from defaults.systems import OPTIONAL, SYSTEMS, Binfm

RESULTS = Path(__file__).parents[1] / "results"
PARTIAL = RESULTS / "partial"
QUICK_SETS = ("banana", "segment", "phoneme+N", "diabetes", "friedman1", "wages")
QUICK_SAMPLES = 1_000


def main() -> None:
    arguments = _arguments()
    quick = arguments.quick
    names = arguments.only or (QUICK_SETS if quick else SETS)
    splits, most = (1, QUICK_SAMPLES) if quick else (sets.SPLITS, sets.MOST_SAMPLES)
    folder = PARTIAL if quick or arguments.only else RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    store = _store(quick, names, arguments.again)
    systems = [name for name in SYSTEMS if name != OPTIONAL or arguments.ebm]
    wanted = {data: _tasks(data, systems, splits, most) for data in names}
    missing = [data for data, tasks in wanted.items() if _is_missing(data, tasks, store)]
    found = [data for data in names if data not in missing]
    run([task for data in found for task in wanted[data]], store, processes=1)
    summary = Summary(store.records, found, missing, splits, most)
    (folder / "defaults.md").write_text(page.page(summary))
    picture.draw(summary).savefig(folder / "defaults.png")
    print(f"{folder / 'defaults.md'}, defaults.png")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make -C benches defaults", description=__doc__)
    parser.add_argument("--only", nargs="*", choices=SETS, default=[], metavar="SET")
    parser.add_argument("--again", nargs="*", choices=list(SYSTEMS), default=[], metavar="SYSTEM")
    parser.add_argument("--ebm", action="store_true", help="measure interpret's EBM, too, which is slow")
    parser.add_argument("--quick", action="store_true", help="a smoke test: few data sets, one split of few samples")
    return parser.parse_args()


def _store(quick: bool, names: Sequence[str], again: Sequence[str]) -> Store:
    """Return the results that still hold; a smoke test starts without any."""
    if quick:
        (PARTIAL / "defaults.json").unlink(missing_ok=True)
        return Store(PARTIAL / "defaults.json")
    store = Store(RESULTS / "defaults.json")
    build = SYSTEMS[Binfm.name].version
    store.records = {key: record for key, record in store.records.items() if _holds(key, record, names, again, build)}
    return store


def _holds(key: str, record: Record, names: Sequence[str], again: Sequence[str], build: str) -> bool:
    data, _, system = key.split("/")
    if data not in names:
        return True
    changed = system == Binfm.name and record.get("version") != build
    return not (changed or system in again or "failed" in record)


def _tasks(data: str, systems: Sequence[str], splits: int, most: int) -> list[Task]:
    """Return the measurements of a data set; the systems take turns."""
    return [
        Task(f"{data}/{seed}/{name}", measure, (data, seed, name, most))
        for seed in range(splits)
        for name in (systems if seed % 2 == 0 else systems[::-1])
        if data not in SYSTEMS[name].skips
    ]


def _is_missing(data: str, tasks: list[Task], store: Store) -> bool:
    """Whether something is left to measure, but the data set cannot be found."""
    return any(task.key not in store.records for task in tasks) and sets.load(data) is None


if __name__ == "__main__":
    main()
