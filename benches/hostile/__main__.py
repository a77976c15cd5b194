"""Damage files, read each in a child, count what happens, write benches/results/hostile.md."""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import machine

from hostile import children
from hostile.measure import COUNT, DAMAGE, measure
from hostile.systems import SYSTEMS

RESULTS = Path(__file__).parents[1] / "results"

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
