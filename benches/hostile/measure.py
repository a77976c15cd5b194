"""Damage the files of one package and count what happens to its children."""

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
