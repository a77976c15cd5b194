"""The parser of all commands, and what happens when one fails: a line on standard error and an exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from binfm._core import __version__
from binfm.cli import demo, evaluate, export, inspect, predict, train

FAILED, MISUSED, INTERRUPTED, NOBODY_READS = 1, 2, 130, 141
"""Exit codes: bad data or files; bad arguments; Ctrl-C; a closed pipe, as the shell counts its signal."""

CODES = "exit codes: 0 done, 1 bad data or file, 2 bad arguments, 130 interrupted"


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the arguments, and end."""
        self.exit(MISUSED, f"{self.prog}: {message} (see {self.prog} --help)\n")


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    top = Parser(prog="binfm", description="Nonlinear tabular models of a few hundred bytes.", epilog=CODES)
    top.add_argument("--version", action="version", version=f"binfm {__version__}")
    commands = top.add_subparsers(dest="command", metavar="command", required=True, parser_class=Parser)
    for command in (train, predict, evaluate, inspect, export, demo):
        command.add(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code."""
    args = parser().parse_args(arguments)
    try:
        args.run(args)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _failed("interrupted", INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing is left to be flushed
        return NOBODY_READS
    except Exception as error:
        return _failed(_sentence(error), FAILED)
    return 0


def _failed(message: str, code: int) -> int:
    print(f"binfm: {message}", file=sys.stderr)
    return code


def _sentence(error: Exception) -> str:
    """Return what an error says, in one line."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
