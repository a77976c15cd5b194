"""Fail each large allocation of each job in turn, in a process of its own, and count how the processes end.

Run with `failing.c` preloaded: `python sweep.py [--quick] [--every N] [--only TEXT]`. Exits with 1 if a process died,
or an error other than MemoryError was raised.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import jobs

LEAST = (64 << 10) + 1
"""Bytes from which an allocation fails: numpy crashes without the 65,536 bytes in which it converts numbers."""
SECONDS = 60
"""After which a process counts as hung."""

OUTCOMES = {0: "finished", 10: "MemoryError", 11: "another error"}


def allocations(job: Callable[[], object]) -> int:
    """Return the number of large allocations of a job, which has run once before: some happen only then."""
    library.failing_begin(-1, LEAST)
    job()
    return int(library.failing_end())


def outcome(job: Callable[[], object], number: int) -> str:
    """Run a job in another process, where one allocation fails."""
    child = os.fork()
    if child == 0:
        os._exit(_run(job, number))
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return OUTCOMES.get(os.waitstatus_to_exitcode(status), "another error")


def _run(job: Callable[[], object], number: int) -> int:
    signal.alarm(SECONDS)
    library.failing_begin(number, LEAST)
    try:
        job()
    except MemoryError:
        return 10
    except BaseException as error:
        library.failing_end()
        print(f"allocation {number}: {type(error).__name__}: {error}", file=sys.stderr)
        return 11
    return 0


def sweep(name: str, job: Callable[[], object], every: int) -> Counter[str]:
    """Fail every so manieth allocation of a job."""
    job()
    count = allocations(job)
    found = Counter(outcome(job, number) for number in range(0, count, every))
    print(f"{name}: {count} allocations, {dict(sorted(found.items()))}", flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="a few jobs only")
    parser.add_argument("--every", type=int, default=1, help="fail every so manieth allocation")
    parser.add_argument("--only", default="", help="text in the names of jobs")
    options = parser.parse_args()
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name, job in jobs.all_jobs(Path(folder), options.quick):
            if options.only in name:
                total += sweep(name, job, options.every)
    print(f"all: {dict(sorted(total.items()))}")
    return 0 if set(total) <= {"finished", "MemoryError"} else 1


library = ctypes.CDLL(None)  # what is preloaded
library.failing_begin.argtypes = [ctypes.c_long, ctypes.c_size_t]
library.failing_end.restype = ctypes.c_long

if __name__ == "__main__":
    sys.exit(main())
