"""Load each damaged file in a separate child process, which may crash or hang."""

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
"""Timeout after which a child counts as hung."""
MEMORY = 6 << 30
"""Bytes of address space, so that a huge length field kills the child and not the machine."""

REFUSED, OK = 10, 11
"""Exit codes of a child that raised an error, and of one that predicted."""


def outcome(system: System, file: Path, X: Any) -> tuple[str, bytes]:
    """Return "predicted" with a hash of the predictions, "refused", "hung", or the signal that killed the child."""
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
    code = os.waitstatus_to_exitcode(status)
    if code == OK:
        return "predicted", digest
    return ("refused" if code == REFUSED else f"exit {code}"), b""


def _child(system: System, file: Path, X: Any, send: int) -> None:
    """Load and predict, then exit at once, without flushing the parent's buffers or joining its threads."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        predictions = system.predict(file, X)
    except BaseException as error:
        # PyO3's PanicException is not an Exception, so `except Exception` does not catch it.
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
    """Yield files with one bit flipped, at evenly spread bytes, cycling through the bits."""
    for i in range(count):
        at = i * len(blob) // count
        yield blob[:at] + bytes([blob[at] ^ 1 << i % 8]) + blob[at + 1 :]


def truncations(blob: bytes, count: int) -> Iterator[bytes]:
    """Yield files truncated at evenly spread positions."""
    for i in range(count):
        yield blob[: i * len(blob) // count]


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
