"""Damage files, load each in a child process, count the outcomes and write benches/results/hostile.md."""

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
    """Return a line of the table; crashes are listed by signal."""
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
            f"Measured {date.today()} on {machine.cpu()} by `make -C benches hostile-peers`.",
            "",
            "Each package trains a model on the same 1,000 samples, and its file is damaged in",
            f"{COUNT:,} ways of each kind, at positions spread evenly over the file. Each file is loaded, and 1,000",
            f"samples are predicted, in a separate process limited to {children.MEMORY >> 30} GB of address space.",
            "",
            "*refused*: an error that a program can catch. *same*, *different*: the file loaded, and its predictions",
            "were bit for bit those of the intact file, or not. *crashed*: the process died, listed by signal (exit",
            f"12: a panic, which `except Exception` does not catch). *hung*: still running after {children.SECONDS} s.",
            "",
            "Where the checksum is repaired, the file is what an attacker would produce: it is either refused or a",
            "valid but different model.",
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
        if not system.is_installed():
            children.log(f"{system.name}: not installed")
            continue
        for kind in DAMAGE:
            rows.append(row(system.title(), kind, measure(system, kind)))
            children.log(rows[-1])
    (RESULTS / "hostile.md").write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
