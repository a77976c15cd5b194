"""Run the whole comparison, each task in its own process, and write speed.json and speed.md."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import machine

from compare import cases, peers, report
from compare.cases import SIZES
from compare.peers import Peer
from compare.timing import in_child


def main() -> None:
    results = {"made": _made(), "versions": _versions(), **_constants(), **_measured()}
    if not cases.QUICK:
        report.write(results)
    print(report.page(results))


def _measured() -> dict[str, Any]:
    scoring = {threads: _run("scoring", threads=int(threads)) for threads in "12"}
    fitting = {threads: _run("fitting", threads=int(threads)) for threads in "12"}
    missing = {**scoring["1"]["missing"], **fitting["1"]["missing"]}
    available = [peer for peer in peers.ALL if peer.name not in missing]
    return {
        "missing": missing,
        "scoring": scoring,
        "fitting": fitting,
        "two_cores": _run("two_cores", threads=2),
        "growth": _run("growth"),
        "inputs": [{**one, **_run("input_memory", kind=one["kind"])} for one in _run("inputs")],
        "memory": {peer.name: _memory(peer) for peer in available},
        "wide": {peer.name: _wide(peer) for peer in peers.WIDE if peer in available},
    }


def _memory(peer: type[Peer]) -> dict[str, Any]:
    name, features = peer.name, cases.FEATURES
    found = {}
    if peer.trains:
        found["fit"] = _try("fit_memory", name=name, rows=SIZES.trained, features=features, epochs=SIZES.epochs)
    if peer.scores:
        found["score"] = _try("score_memory", name=name, rows=SIZES.memory, features=features)
    return found


def _wide(peer: type[Peer]) -> dict[str, Any]:
    shape = {"name": peer.name, "rows": SIZES.wide, "features": cases.WIDE_FEATURES}
    fit = _try("fit_memory", **shape, epochs=SIZES.few_epochs)
    return {"settings": peer.settings(SIZES.few_epochs), "fit": fit, "score": _try("score_memory", **shape)}


def _run(task: str, **arguments: Any) -> Any:
    start = time.monotonic()
    print(f"{task} {arguments or ''} ", end="", file=sys.stderr, flush=True)
    found = in_child(task, **arguments)
    print(f"{time.monotonic() - start:.0f} s", file=sys.stderr)
    return found


def _try(task: str, **arguments: Any) -> Any:
    """Run a task of one peer; a failure is recorded as its result."""
    try:
        return _run(task, **arguments)
    except subprocess.CalledProcessError as error:
        return {"missing": f"failed ({error.returncode})"}


def _constants() -> dict[str, Any]:
    return {
        "quick": cases.QUICK,
        "sizes": asdict(SIZES),
        "factors": peers.FACTORS,
        "classes": cases.CLASSES,
        "wide_features": cases.WIDE_FEATURES,
        "systems": {peer.name: peer.settings(SIZES.epochs) for peer in peers.ALL},
    }


def _made() -> dict[str, Any]:
    return {
        "date": date.today().isoformat(),
        "cpu": machine.cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
    }


def _versions() -> dict[str, str]:
    packages: Iterable[str] = dict.fromkeys(peer.package for peer in peers.ALL)
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


if __name__ == "__main__":
    main()
