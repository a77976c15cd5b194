"""Damage the files of one package and count the outcomes."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path

from hostile import children
from hostile.systems import SYSTEMS, System, problem

COUNT = int(os.environ.get("HOSTILE_FILES", "1000"))
"""Number of files per kind of damage."""

DAMAGE: dict[str, Callable[[bytes, int], Iterator[bytes]]] = {
    "one bit flipped": children.flips,
    "truncated": children.truncations,
}


def measure(system: System, kind: str) -> Counter[str]:
    """Return the count of each outcome. The children are forked from a process that only imports the package."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_measure, (SYSTEMS.index(system), kind))


def _measure(number: int, kind: str) -> Counter[str]:
    system, X = SYSTEMS[number], problem()[0]
    system.is_installed()
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"model.{system.suffix}")
        writer = os.fork()  # training starts threads, which children of this process must not inherit
        if writer == 0:
            system.write(file)
            os._exit(0)
        os.waitpid(writer, 0)
        blob = file.read_bytes()
        intact = children.outcome(system, file, X)
        assert intact[0] == "predicted", f"{system.name}: the intact file is {intact[0]}"
        found["bytes"] = len(blob)
        for damaged in DAMAGE[kind](blob, COUNT):
            file.write_bytes(system.repair(damaged) if system.repair and len(damaged) > 10 else damaged)
            outcome, digest = children.outcome(system, file, X)
            if outcome == "predicted":
                outcome = "same" if digest == intact[1] else "different"
            found[outcome] += 1
    return found
