"""Run tasks in single-threaded processes and store their results."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

from paper.store import Record, Store

ONE_THREAD = {
    **{f"{pool}_NUM_THREADS": "1" for pool in ("OMP", "OPENBLAS", "MKL", "RAYON")},
    "NPROC": "1",  # XLA's thread pool
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "JAX_PLATFORMS": "cpu",
    "TQDM_DISABLE": "1",  # myFM shows a progress bar
}


@dataclass(frozen=True)
class Task:
    key: str
    run: Callable[..., Record]
    arguments: tuple[Any, ...]


def run(tasks: list[Task], store: Store, processes: int) -> None:
    """Run the tasks whose key is not yet in the store, and store each result as it arrives."""
    missing = [task for task in tasks if task.key not in store.records]
    os.environ.update(ONE_THREAD)  # inherited by the children
    begin = time.perf_counter()
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as executor:
        running: dict[Future[Record], Task] = {executor.submit(t.run, *t.arguments): t for t in missing}
        try:
            for count, future in enumerate(as_completed(running), 1):
                task = running[future]
                store.put(task.key, future.result())
                seconds = time.perf_counter() - begin
                print(f"{seconds:6.0f} s  {count}/{len(missing)}  {task.key}", flush=True)
        finally:
            executor.shutdown(cancel_futures=True)
