"""Threads that train models side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from binfm import _core

Item = TypeVar("Item")
Result = TypeVar("Result")

POLL_SECONDS = 0.05
"""How often to check for Ctrl-C, which does not interrupt waiting for a lock on every system."""


class WorkerPool:
    """A pool of threads that returns results in the order of the items, whichever is done first.

    Ctrl-C stops the caller at once. What is still running then is asked to stop, and nobody waits for it.
    """

    def __init__(self, n_jobs: int | None, stop: _core.Stop, progress: Callable[[int], object]) -> None:
        self._pool = ThreadPoolExecutor(_core.threads(n_jobs), thread_name_prefix="binfm")
        self._stop = stop
        self._progress = progress

    def map(
        self, work: Callable[[Item], Result], items: Iterable[Item], costs: Sequence[int] | None = None
    ) -> list[Result]:
        """Return the result for each item, in order.

        If costs are given, the most expensive items come first, so that no thread is left with one at the end, and
        progress is told the cost of each item that is done.
        """
        items = list(items)
        order = sorted(range(len(items)), key=lambda i: -costs[i] if costs else i)
        numbers = {self._pool.submit(work, items[i]): i for i in order}
        waiting: set[Future[Result]] = set(numbers)
        while waiting:
            done, waiting = wait(waiting, POLL_SECONDS, FIRST_EXCEPTION)
            for future in done:
                future.result()
                if costs:
                    self._progress(costs[numbers[future]])
        return [future.result() for future in sorted(numbers, key=lambda future: numbers[future])]

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._pool.shutdown(wait=error[0] is None, cancel_futures=True)
