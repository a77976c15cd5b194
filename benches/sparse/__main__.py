"""Measure the default call on sparse and categorical data beside other systems, and write a page.

Each measurement runs in a process of its own, whose memory is that of one fit.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from multiprocessing import get_context
from pathlib import Path

import machine

from sparse.measure import measure
from sparse.sets import SOURCES, load
from sparse.systems import SYSTEMS

PAGE = Path(__file__).parents[1] / "results" / "sparse.md"


def main() -> None:
    parser = argparse.ArgumentParser(prog="make -C benches sparse", description=__doc__)
    parser.add_argument("--only", nargs="*", choices=list(SOURCES), default=list(SOURCES), metavar="SET")
    parser.add_argument("--systems", nargs="*", choices=list(SYSTEMS), default=list(SYSTEMS), metavar="SYSTEM")
    arguments = parser.parse_args()
    names = [name for name in arguments.only if load(name) is not None]
    if not names:
        parser.error("BINFM_DATA must name a folder with the data sets")
    lines = _head()
    for name in names:
        lines += [f"## {name}", "", f"Split: {SOURCES[name].split}.", "", *_table(name, arguments.systems), ""]
    if set(arguments.only) == set(SOURCES) and set(arguments.systems) == set(SYSTEMS):
        PAGE.write_text("\n".join(lines))


def _head() -> list[str]:
    calls = [f"* {name}: {call}" for name, (call, _) in SYSTEMS.items()]
    return [
        "# Sparse and categorical data",
        "",
        f"`make -C benches sparse`, {date.today()}, {machine.cpu()}, all threads. Settings were compared on held-out "
        "samples inside the training parts, but test figures of ml100k, w8a and a9a were seen between two versions, "
        "which favours binfm slightly there. Bytes are those of the file, for a linear model four per weight, and for "
        "LightGBM those of its pickle. MB is the peak of the process, at least that of the one that started it, 146.",
        "",
        *calls,
        "",
    ]


def _table(name: str, systems: list[str]) -> list[str]:
    rows = []
    for system in systems:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            found = pool.submit(measure, name, system).result()
        print(name, system, found, flush=True)
        rows.append((system, found))
    metrics = [key for key in rows[0][1] if key not in ("bytes", "seconds", "mb")]
    head = f"| | {' | '.join(metrics)} | bytes | fit, s | MB |"
    rule = "|---" + "|---:" * (len(metrics) + 3) + "|"
    cells = [
        f"| {system} | {' | '.join(f'{found[key]:.4f}' for key in metrics)} | {found['bytes']:,} | "
        f"{found['seconds']:.1f} | {found['mb']:,.0f} |"
        for system, found in rows
    ]
    return [head, rule, *cells]


if __name__ == "__main__":
    main()
