"""Base class of the systems: how to fit settings to data, and which settings to choose from."""

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
    """The system is unavailable, for the reason in the message."""


@dataclass(frozen=True)
class Fitted:
    """A trained model: a function that predicts class codes on one thread, and its size in bytes."""

    predict: Callable[[NDArray[Any]], NDArray[Any]]
    bytes: int
    parts: dict[str, int] | None = None
    """Bytes by part, if the system reports them."""


class System:
    name: ClassVar[str]
    label: ClassVar[str]
    package: ClassVar[str]
    """Name on PyPI."""
    grid: ClassVar[dict[str, Sequence[Any]]] = {}
    """Values to choose from, in the order in which parameters are chosen."""
    start: ClassVar[Settings] = {}
    counted: ClassVar[str] = "file"
    """What its size is based on."""

    def check(self) -> None:
        """Raise NotAvailableError if the package is missing."""

    def fit(self, settings: Settings, X: NDArray[Any], y: Codes, classes: int, seed: int, plan: Plan) -> Fitted:
        raise NotImplementedError

    def bits(self, settings: Settings, d: int, classes: int) -> int | None:
        """Return the model's bits by the paper's formula, or None if the paper has none."""
        return None


def outputs(classes: int) -> int:
    """Return the number of outputs in one-vs-rest."""
    return 1 if classes == 2 else classes
