"""Threads that train models side by side."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from threading import Event
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

GLANCE = 0.05
"""Seconds between looks for Ctrl-C: a lock that is waited for does not hear it on every system."""


class Crew:
    """A thread for each job. Results come in the order of the items, whoever is first.

    Ctrl-C is heard by the caller at once. What still runs then ends after its epoch, with nobody waiting for it.
    """

    def __init__(self, n_jobs: int | None, progress: Callable[[], object]) -> None:
        self._pool = ThreadPoolExecutor(_workers(n_jobs), thread_name_prefix="binfm")
        self._progress = progress
        self._over = Event()

    def is_over(self, *_: object) -> bool:
        """Return whether work is to end; a callback for training."""
        return self._over.is_set()

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Return the result of each item, in order."""
        futures = [self._pool.submit(work, item) for item in items]
        waiting: set[Future[Result]] = set(futures)
        while waiting:
            done, waiting = wait(waiting, GLANCE, FIRST_EXCEPTION)
            for future in done:
                future.result()
                self._progress()
        return [future.result() for future in futures]

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._pool.shutdown(wait=error[0] is None, cancel_futures=True)


def _workers(n_jobs: int | None) -> int:
    """Return the number of threads that the core would use."""
    named = os.environ.get("RAYON_NUM_THREADS", "").strip()
    if n_jobs is None and named.isdecimal() and int(named) > 0:
        return int(named)
    if n_jobs is None or n_jobs == -1:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return n_jobs
