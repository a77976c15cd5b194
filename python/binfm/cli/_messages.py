"""What commands print: reports as text or JSON, and errors in terms of the command line."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from binfm._progress import Reporter


def add_progress(parser: argparse.ArgumentParser) -> None:
    """Add the choice of how progress is shown."""
    parser.add_argument(
        "--progress",
        choices=("auto", "json", "no"),
        default="auto",
        help="what to show on standard error: a bar if it is a terminal, a line of JSON per step, or nothing",
    )


def progress_of(choice: str) -> bool | Reporter:
    """Return how progress is shown."""
    return _print_record if choice == "json" else choice == "auto" and on_terminal()


def _print_record(record: dict[str, Any]) -> None:
    print(json.dumps(record), file=sys.stderr, flush=True)


def on_terminal() -> bool:
    """Return whether standard error, where bars are drawn, is a terminal."""
    return sys.stderr.isatty()


def tell(report: dict[str, Any], as_json: bool) -> None:
    """Print a report to standard output: a line per entry, or JSON."""
    if as_json:
        named = {_snake_case(name): value for name, value in report.items()}
        print(json.dumps(named, default=_plain, ensure_ascii=False))
        return
    width = max(len(name) for name in report)
    for name, value in report.items():
        print(f"{name:<{width}}  {_text(value)}")


@contextmanager
def naming(data: str, target: str | None = None) -> Iterator[None]:
    """Name the file and the column in errors that begin with X or y."""
    names = {"X": data, "y": f"{data}: column {target!r}" if target else data}
    try:
        yield
    except (ValueError, TypeError) as error:
        word, rest = str(error)[:1], str(error)[1:]
        if word in names and rest[:1] in (" ", ":"):
            raise type(error)(names[word] + rest) from None
        raise


def warn(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning in one line; takes the place of `warnings.showwarning`."""
    print(f"binfm: warning: {' '.join(str(message).split())}", file=sys.stderr)


def _snake_case(name: str) -> str:
    return re.sub(r"\W+", "_", name).strip("_").lower()


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"a report cannot hold {type(value).__name__}")


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, np.ndarray | list | tuple):
        return ", ".join(map(str, value))
    return str(value)
