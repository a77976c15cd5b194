"""Timing: best of alternating repetitions, very short calls, and peak memory in a child process."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from timeit import Timer
from typing import Any

from compare.peers import Call

POOLS = ("OMP", "OPENBLAS", "MKL", "RAYON")
"""Thread pools, each configured by an environment variable that is read once."""
PATIENCE = 15.0
"""Seconds after which a system that has run twice skips the remaining rounds."""
PAUSE = 0.005
"""Seconds between two systems, so that the idle threads of the first stop spinning."""
SHORT = 0.02
"""Total seconds of the repetitions of a short call."""


@dataclass(frozen=True)
class Best:
    """The fastest of several repetitions."""

    seconds: float
    repetitions: int


def alternate(calls: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Best]:
    """Run each call once per round, so that noise affects all of them."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            if len(times[name]) >= 2 and sum(times[name]) > PATIENCE:
                continue
            time.sleep(PAUSE)
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    return {name: Best(min(taken), len(taken)) for name, taken in times.items()}


def alternate_short(calls: Mapping[str, Call], rounds: int) -> dict[str, Best]:
    """Like `alternate`, for calls of microseconds, each repeated often enough to time."""
    timers = {name: Timer("f(x)", globals={"f": f, "x": x}) for name, (f, x) in calls.items()}
    numbers = {name: _number(timer) for name, timer in timers.items()}
    best = alternate({name: partial(timer.timeit, numbers[name]) for name, timer in timers.items()}, rounds)
    return {name: Best(found.seconds / numbers[name], found.repetitions) for name, found in best.items()}


def _number(timer: Timer) -> int:
    """Return how many calls take about SHORT seconds."""
    number = 1
    while (taken := timer.timeit(number)) < SHORT / 4:
        number *= 4
    return max(1, round(number * SHORT / taken))


def peak_memory() -> int:
    """Return the peak resident set size of this process in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def in_child(task: str, **arguments: Any) -> Any:
    """Run a task of `compare.measure` in a new process whose pools have `threads` threads (default 1).

    The parent must hold no data: on Linux a child's peak starts at its parent's size.
    """
    pools = {f"{pool}_NUM_THREADS": str(arguments.get("threads", 1)) for pool in POOLS}
    done = subprocess.run(
        [sys.executable, "-m", "compare.measure", task, json.dumps(arguments)],
        cwd=Path(__file__).parent.parent,
        env={**os.environ, **pools, "TQDM_DISABLE": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])
