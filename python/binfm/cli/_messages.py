"""What commands say: reports as text or JSON, and errors in the words of the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


def on_terminal() -> bool:
    """Return whether somebody looks at standard error, where bars are drawn."""
    return sys.stderr.isatty()


def tell(report: dict[str, Any], as_json: bool) -> None:
    """Print a report to standard output: a line an entry, or JSON."""
    if as_json:
        print(json.dumps(report, default=_plain, ensure_ascii=False))
        return
    width = max(len(name) for name in report)
    for name, value in report.items():
        print(f"{name:<{width}}  {_text(value)}")


@contextmanager
def naming(data: str, target: str | None = None) -> Iterator[None]:
    """Name the file and the column where an error speaks of X and y."""
    try:
        yield
    except (ValueError, TypeError) as error:
        message = str(error)
        for word, name in (("X: ", f"{data}: "), ("y: ", f"{data}: column {target!r}: " if target else f"{data}: ")):
            if message.startswith(word):
                raise type(error)(name + message[len(word) :]) from None
        raise


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no place in a report")


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, np.ndarray | list | tuple):
        return ", ".join(map(str, value))
    return str(value)
