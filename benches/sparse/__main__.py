"""Measure the default call on sparse and categorical data beside other systems, and write a page.

Each measurement runs in a process of its own, whose memory is that of one fit.
"""

from __future__ import annotations

import argparse
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import machine
import numpy as np

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
        f"`make -C benches sparse`, {date.today()}, {machine.cpu()}, all threads. Test samples are scored once, and no "
        "setting is chosen by them. Bytes are those of the file, for a linear model four per weight, and for LightGBM "
        "those of its pickle. MB is the peak of the process.",
        "",
        *calls,
        "",
    ]


def _table(name: str, systems: list[str]) -> list[str]:
    rows = []
    for system in systems:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            found = pool.submit(_measure, name, system).result()
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


def _measure(name: str, system: str) -> dict[str, Any]:
    part = load(name)
    assert part is not None
    start = time.perf_counter()
    score, size = SYSTEMS[system][1](part)
    seconds = time.perf_counter() - start
    scores = np.asarray(score(part.X_test), np.float64)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {**_figures(part.is_ratings, scores, part.y_test), "bytes": size, "seconds": seconds, "mb": peak}


def _figures(is_ratings: bool, scores: Any, y: Any) -> dict[str, float]:
    if is_ratings:
        return {"RMSE": float(np.sqrt(np.mean((scores - y) ** 2)))}
    from sklearn.metrics import roc_auc_score

    losses = np.logaddexp(0, -np.where(y, 1, -1) * scores)
    return {"AUC": float(roc_auc_score(y, scores)), "log loss": float(np.mean(losses))}


if __name__ == "__main__":
    main()
