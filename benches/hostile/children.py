"""Each damaged file is read in a child process of its own, which may crash or hang."""

from __future__ import annotations

import hashlib
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hostile.systems import System

SECONDS = 10
"""After this a child hangs."""
MEMORY = 6 << 30
"""Bytes of address space, so that a length of many gigabytes ends the child and not the machine."""

REFUSED, OK = 10, 11
"""How a child ends that raised an error, and one that predicted."""


def outcome(system: System, file: Path, X: Any) -> tuple[str, bytes]:
    """Return "predicted" with a hash of the predictions, "refused", "hung", or the signal that ended the child."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receive)
        _child(system, file, X, send)
    os.close(send)
    status, hung = _wait(child)
    with os.fdopen(receive, "rb") as pipe:
        digest = pipe.read()
    if hung:
        return "hung", b""
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name, b""
    ended = os.waitstatus_to_exitcode(status)
    if ended == OK:
        return "predicted", digest
    return ("refused" if ended == REFUSED else f"exit {ended}"), b""


def _child(system: System, file: Path, X: Any, send: int) -> None:
    """Read and predict, then end at once: the parent's buffers and threads are not the child's."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        predictions = system.predict(file, X)
    except BaseException as error:
        # PyO3's panic is no Exception: a program that catches errors does not catch it.
        os._exit(REFUSED if isinstance(error, Exception) else 12)
    os.write(send, hashlib.sha256(predictions.tobytes()).digest())
    os._exit(OK)


def _wait(child: int) -> tuple[int, bool]:
    end = time.monotonic() + SECONDS
    pause = 0.0005
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status, False
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            return os.waitpid(child, 0)[1], True
        time.sleep(pause)
        pause = min(pause * 1.5, 0.02)


def flips(blob: bytes, count: int) -> Iterator[bytes]:
    """Yield files with one bit flipped, at places that are spread evenly; the bit goes round."""
    for i in range(count):
        at = i * len(blob) // count
        yield blob[:at] + bytes([blob[at] ^ 1 << i % 8]) + blob[at + 1 :]


def cuts(blob: bytes, count: int) -> Iterator[bytes]:
    """Yield files that end early, at places that are spread evenly."""
    for i in range(count):
        yield blob[: i * len(blob) // count]


def tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
