"""Tasks that time training, next to the systems that people would use instead."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import binfm

from compare import cases, peers
from compare.available import ready
from compare.cases import SIZES
from compare.peers import Binfm, BinfmTiled, LightGbm, ModernFm, Peer
from compare.timing import alternate

Found = dict[str, Any]
TIMED_THREADS = (1, 2)
THREADS = (*TIMED_THREADS, 3, 7)
"""Numbers of threads that must give the same model."""
MAX_BYTES = 2_048
"""Budget of the search."""
FEW_ROUNDS = min(SIZES.rounds, 2)
"""For fits that take from ten seconds to minutes."""


def fitting(threads: int) -> Found:
    """Fit ijcnn1 with every system."""
    X, y, data = cases.ijcnn1()
    able = [peer for peer in peers.ALL if peer.trains and (threads == 1 or peer.trains_on_threads)]
    fits = _fits(ready(able, threads, SIZES.epochs), X, y, SIZES.rounds)
    return {"data": data, "rows": len(y), "features": X.shape[1], "fits": fits}


def many_classes() -> Found:
    """Fit a wide table of ten classes, with binfm's defaults and with LightGBM."""
    X, y = cases.synthetic(SIZES.many_classes, cases.DIGIT_FEATURES, cases.CLASSES)
    systems = ready([BinfmTiled, LightGbm], 1, SIZES.many_epochs)
    data = f"synthetic, {cases.CLASSES} classes ({len(y):,} × {X.shape[1]})"
    return {"data": data, "fits": _fits(systems, X, y, FEW_ROUNDS)}


def large() -> Found:
    """Fit a long table on one thread and on two, and compare the bytes of the model with those of more threads."""
    X, y = cases.synthetic(SIZES.large)
    systems = {threads: BinfmTiled(threads, SIZES.few_epochs) for threads in THREADS}
    calls = {str(threads): partial(systems[threads].fit, X, y) for threads in TIMED_THREADS}
    best = alternate(calls, FEW_ROUNDS)
    for threads in set(THREADS) - set(TIMED_THREADS):
        systems[threads].fit(X, y)
    models = {system.model.to_bytes() for system in systems.values()}
    seconds = {threads: found.seconds for threads, found in best.items()}
    return {"rows": len(y), "seconds": seconds, "compared": THREADS, "same_model": len(models) == 1}


def sparse() -> Found:
    """Fit one-hot fields with binfm and with the FM of modern-fm, all with as many factors and epochs."""
    X, y = cases.one_hot(SIZES.sparse)
    fits = _fits(ready([Binfm, BinfmTiled, ModernFm], 1, SIZES.few_epochs), X, y, FEW_ROUNDS)
    steps = X.nnz * peers.FACTORS * SIZES.few_epochs
    fits = [{**fit, "ns": 1e9 * fit["seconds"] / steps} for fit in fits]
    return {"rows": len(y), "fields": cases.FIELDS, "columns": X.shape[1], "fits": fits}


def search(threads: int) -> Found:
    """Search the settings for a byte budget; LightGBM's fit on the same samples is the measure of the machine."""
    X, y = cases.synthetic(SIZES.searched, cases.SEARCH_FEATURES)
    calls = {"search": partial(binfm.train, X, y, max_bytes=MAX_BYTES, n_jobs=threads)}
    calls |= {peer.name: partial(peer.fit, X, y) for peer in ready([LightGbm], threads, SIZES.epochs)}
    best = alternate(calls, FEW_ROUNDS)
    found = {"rows": len(y), "features": X.shape[1], "threads": threads, "max_bytes": MAX_BYTES}
    return {**found, "seconds": {name: one.seconds for name, one in best.items()}}


def _fits(systems: Iterable[Peer], X: Any, y: Any, rounds: int) -> list[Found]:
    best = alternate({peer.name: partial(peer.fit, X, y) for peer in systems}, rounds)
    return [{"system": name, "seconds": b.seconds, "repetitions": b.repetitions} for name, b in best.items()]
