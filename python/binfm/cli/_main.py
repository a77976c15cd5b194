"""The parser of all commands, and how they fail: with one line on standard error and an exit code."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

from binfm._core import __version__
from binfm.cli import demo, evaluate, export, inspect, predict, train
from binfm.cli._messages import warn

FAILED, USAGE, NO_MEMORY, INTERRUPTED, CLOSED_PIPE = 1, 2, 3, 130, 141
"""Exit codes: bad data or files; bad arguments; too little memory; Ctrl-C; a closed pipe (128 + SIGPIPE)."""

EXIT_CODES = (
    "exit codes: 0 success, 1 bad data or file, 2 bad arguments, 3 out of memory, 130 interrupted, "
    "141 the output was closed"
)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, and whose help lists the exit codes."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"epilog": EXIT_CODES, **settings})

    def error(self, message: str) -> NoReturn:
        """Print what is wrong with the arguments, and exit."""
        self.exit(USAGE, f"{self.prog}: {message} (see {self.prog} --help)\n")


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    top = Parser(prog="binfm", description="Nonlinear tabular models of a few hundred bytes.")
    top.add_argument("--version", action="version", version=f"binfm {__version__}")
    commands = top.add_subparsers(dest="command", metavar="command", required=True, parser_class=Parser)
    for command in (train, predict, evaluate, inspect, export, demo):
        command.add(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code."""
    args = parser().parse_args(arguments)
    warnings.showwarning = warn
    try:
        args.run(args)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _failed("interrupted", INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that nothing is left to flush
        return CLOSED_PIPE
    except MemoryError as error:
        return _failed(str(error) or "out of memory", NO_MEMORY)
    except Exception as error:
        return _failed(_sentence(error), FAILED)
    return 0


def _failed(message: str, code: int) -> int:
    print(f"binfm: {message}", file=sys.stderr)
    return code


def _sentence(error: Exception) -> str:
    """Return the message of an error, in one line."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
