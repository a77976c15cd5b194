"""Threads that train models side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from threading import Event
from typing import TypeVar

from binfm import _core

Item = TypeVar("Item")
Result = TypeVar("Result")

POLL_SECONDS = 0.05
"""How often to check for Ctrl-C, which does not interrupt waiting for a lock on every system."""


class WorkerPool:
    """A pool of threads that returns results in the order of the items, whichever is done first.

    Ctrl-C stops the caller at once. What is still running then ends after its epoch, and nobody waits for it.
    """

    def __init__(self, n_jobs: int | None, progress: Callable[[], object]) -> None:
        self._pool = ThreadPoolExecutor(_core.threads(n_jobs), thread_name_prefix="binfm")
        self._progress = progress
        self._over = Event()

    def is_over(self, *_: object) -> bool:
        """Return whether to stop working; a callback for training."""
        return self._over.is_set()

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Return the result for each item, in order."""
        futures = [self._pool.submit(work, item) for item in items]
        waiting: set[Future[Result]] = set(futures)
        while waiting:
            done, waiting = wait(waiting, POLL_SECONDS, FIRST_EXCEPTION)
            for future in done:
                future.result()
                self._progress()
        return [future.result() for future in futures]

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._pool.shutdown(wait=error[0] is None, cancel_futures=True)
