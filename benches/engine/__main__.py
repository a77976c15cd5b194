"""Compare the accuracy and the fit time of this build with those of another one, on the same splits.

Results are kept in a file, so that an interrupted run resumes. Only a run over all data sets, with the defaults,
writes engine.md.
"""

from __future__ import annotations

import argparse
import ast
import sys
from pathlib import Path
from typing import Any

from paper.store import Record, Store

from engine.builds import CURRENT, Build
from engine.page import page
from engine.parts import SETS
from engine.summary import Line, average, summarize

RESULTS = Path(__file__).parents[1] / "results"
SPLITS = 5


def main() -> None:
    arguments = _arguments()
    baseline = Build("baseline", arguments.baseline.resolve())
    current = Build("current", CURRENT, dict(arguments.param))
    store = Store(arguments.store)
    found = {data: _measure(data, baseline, current, store, arguments) for data in arguments.sets}
    lines = [line for line in found.values() if line is not None]
    if not lines:
        sys.exit("none of the data sets was found; BINFM_DATA names the folder to read them from")
    missing = [data for data, line in found.items() if line is None]
    text = page([*lines, average(lines)], missing, baseline, current, arguments.inside)
    print(text)
    if tuple(arguments.sets) == SETS and not (arguments.inside or arguments.param):
        (RESULTS / "engine.md").write_text(text)


def _measure(data: str, baseline: Build, current: Build, store: Store, arguments: argparse.Namespace) -> Line | None:
    """Measure both builds on all splits of a data set; None if it is missing."""
    records: dict[str, list[Record]] = {"baseline": [], "current": []}
    for seed in range(arguments.splits):
        pair = (baseline, current)
        for build in pair if seed % 2 == 0 else pair[::-1]:  # so that neither is always the first
            record = _stored(data, seed, arguments.inside, build, store)
            if record is None:
                print(f"{data}: missing", file=sys.stderr)
                return None
            records[build.name].append(record)
    return summarize(data, records["baseline"], records["current"])


def _stored(data: str, seed: int, inside: bool, build: Build, store: Store) -> Record | None:
    """Return a result from the store, or measure it and put it there."""
    key = build.key(data, seed, inside)
    if key not in store.records:
        record = build.measure(data, seed, inside)
        if "missing" in record:
            return None
        store.put(key, record)
        shown = f"{100 * record['accuracy']:.2f} %, {record['seconds']:.2f} s"
        print(f"{data}, split {seed}, {build.name}: {shown}", file=sys.stderr, flush=True)
    return store.records[key]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make -C benches engine", description=__doc__)
    parser.add_argument("--baseline", type=Path, required=True, help="folder to put first in PYTHONPATH")
    parser.add_argument("--sets", nargs="*", choices=SETS, default=SETS, metavar="SET")
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument(
        "--param",
        type=_param,
        action="append",
        default=[],
        help="name=value for the current build; not loss=hinge, which has no log loss",
    )
    parser.add_argument("--inside", action="store_true", help="split only the training part of each data set")
    parser.add_argument("--store", type=Path, default=RESULTS / "engine.json", help="file of the results")
    return parser.parse_args()


def _param(text: str) -> tuple[str, Any]:
    """Read name=value; a value that is no Python literal is a string."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"a parameter must be name=value, got {text!r}")
    try:
        return name, ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return name, value


if __name__ == "__main__":
    main()
