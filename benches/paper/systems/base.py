"""What a system is: a way to fit settings to a table, and what may be chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from paper.choice import Settings
from paper.data import Codes
from paper.plan import Plan

FACTORS = (16, 32, 64, 128)
BINS = (10, 20, 30, 40, 50)
REGULARIZATION = (1e-2, 1e-1, 1e0, 1e1, 1e2)


class NotAvailableError(Exception):
    """A system cannot be used here; the message says why."""


@dataclass(frozen=True)
class Fitted:
    """A trained model: how it predicts codes on one thread, and its bytes."""

    predict: Callable[[NDArray[Any]], NDArray[Any]]
    bytes: int
    parts: dict[str, int] | None = None
    """Where the bytes go, if the system can tell."""


class System:
    name: ClassVar[str]
    label: ClassVar[str]
    package: ClassVar[str]
    """On PyPI."""
    grid: ClassVar[dict[str, Sequence[Any]]] = {}
    """What may be chosen, in the order of choice."""
    start: ClassVar[Settings] = {}
    counted: ClassVar[str] = "file"
    """Where its bytes come from."""

    def check(self) -> None:
        """Raise NotAvailableError where the package is missing."""

    def fit(self, settings: Settings, X: NDArray[Any], y: Codes, classes: int, seed: int, plan: Plan) -> Fitted:
        raise NotImplementedError

    def bits(self, settings: Settings, d: int, classes: int) -> int | None:
        """Return the model's bits by the paper's count, or None where the paper has none."""
        return None


def functions(classes: int) -> int:
    """Return the score functions of one against the rest."""
    return 1 if classes == 2 else classes
