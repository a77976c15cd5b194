"""Run the comparison, each task in its own process, and write speed.json and speed.md.

With --only, the named parts are measured and printed, and nothing is written.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
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
    only = _arguments().only
    results = {"made": _made(), "versions": _versions(), **_constants(), **_measured(only or list(PARTS))}
    if not (cases.QUICK or only):
        report.write(results)
    print(report.page(results))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make -C benches bench-peers", description=__doc__)
    parser.add_argument("--only", nargs="*", choices=list(PARTS), default=[], metavar="PART")
    return parser.parse_args()


def _measured(parts: list[str]) -> dict[str, Any]:
    missing = _run("missing")
    available = [peer for peer in peers.ALL if peer.name not in missing]
    return {"missing": missing, **{name: PARTS[name](available) for name in parts}}


def _on_threads(task: str) -> dict[str, Any]:
    return {threads: _run(task, threads=int(threads)) for threads in "12"}


def _inputs() -> list[dict[str, Any]]:
    return [{**one, **_run("input_memory", kind=one["kind"])} for one in _run("inputs")]


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


PARTS: dict[str, Callable[[list[type[Peer]]], Any]] = {
    "scoring": lambda _: _on_threads("scoring"),
    "fitting": lambda _: _on_threads("fitting"),
    "many_classes": lambda _: _run("many_classes"),
    "large": lambda _: _run("large"),
    "sparse": lambda _: _run("sparse"),
    "search": lambda _: _run("search", threads=2),
    "two_cores": lambda _: _run("two_cores", threads=2),
    "growth": lambda _: _run("growth"),
    "inputs": lambda _: _inputs(),
    "frames": lambda _: _try("frames"),
    "sparse_scoring": lambda _: _run("sparse_scoring"),
    "memory": lambda available: {peer.name: _memory(peer) for peer in available},
    "wide": lambda available: {peer.name: _wide(peer) for peer in peers.WIDE if peer in available},
}
"""The parts of the comparison by name, as functions of the systems that work here."""


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
