"""Damage files, read each in a child, count what happens, write benches/results/hostile.md."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import machine

from hostile import children
from hostile.systems import SYSTEMS, System, problem

RESULTS = Path(__file__).parents[1] / "results"
COUNT = int(os.environ.get("HOSTILE_FILES", "1000"))
"""Files of each kind."""

DAMAGE: dict[str, Callable[[bytes, int], Iterator[bytes]]] = {
    "one bit flipped": children.flips,
    "cut short": children.cuts,
}


def measure(system: System, kind: str) -> Counter[str]:
    """Return how often each outcome came; a process that only imports the package starts the children."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_measure, (SYSTEMS.index(system), kind))


def _measure(number: int, kind: str) -> Counter[str]:
    system, X = SYSTEMS[number], problem()[0]
    system.is_there()
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"model.{system.suffix}")
        writer = os.fork()  # training starts threads, which children of this process must not inherit
        if writer == 0:
            system.write(file)
            os._exit(0)
        os.waitpid(writer, 0)
        blob = file.read_bytes()
        whole = children.outcome(system, file, X)
        assert whole[0] == "predicted", f"{system.name}: the whole file is {whole[0]}"
        found["bytes"] = len(blob)
        for damaged in DAMAGE[kind](blob, COUNT):
            file.write_bytes(system.repair(damaged) if system.repair and len(damaged) > 10 else damaged)
            what, digest = children.outcome(system, file, X)
            if what == "predicted":
                what = "same" if digest == whole[1] else "different"
            found[what] += 1
    return found


COLUMNS = ("refused", "same", "different", "crashed", "hung")


def row(title: str, kind: str, found: Counter[str]) -> str:
    """Return a line of the table; crashes are told by their signals."""
    size = found.pop("bytes")
    total = sum(found.values())
    crashes = {name: n for name, n in found.items() if name not in ("refused", "same", "different", "hung")}
    signals = ", ".join(f"{name} {n}" for name, n in sorted(crashes.items()))
    cells: list[Any] = [found["refused"], found["same"], found["different"], signals or 0, found["hung"]]
    return f"| {title} | {size:,} | {kind} | {total:,} | " + " | ".join(str(cell) for cell in cells) + " |"


def page(rows: list[str]) -> str:
    head = ["file", "bytes", "damage", "files", *COLUMNS]
    return "\n".join(
        [
            f"Measured {date.today()} on {machine.cpu()} by `make hostile-peers`.",
            "",
            f"A model of each package is trained on the same 1,000 rows and its file damaged in {COUNT:,} ways of each",
            "kind, at places spread evenly over the file. Each file is read, and 1,000 rows are predicted, in a child",
            f"process of its own with {children.MEMORY >> 30} GB of address space.",
            "",
            "*refused*: an error that a program can catch. *same*, *different*: it loaded, and the predictions were",
            "those of the whole file, bit for bit, or others. *crashed*: the process died, with the signals that ended",
            f"it (exit 12: a panic, which `except Exception` lets by). *hung*: not done after {children.SECONDS} s.",
            "",
            "In the rows with the checksum repaired the file is as a hostile hand would make it: refused, or",
            "another model, as good as any.",
            "",
            "| " + " | ".join(head) + " |",
            "|---|---:|---|---:|---:|---:|---:|---:|---:|",
            *rows,
            "",
        ]
    )


def main() -> None:
    rows = []
    for system in SYSTEMS:
        if not system.is_there():
            children.tell(f"{system.name}: not installed")
            continue
        for kind in DAMAGE:
            rows.append(row(system.title(), kind, measure(system, kind)))
            children.tell(rows[-1])
    (RESULTS / "hostile.md").write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
