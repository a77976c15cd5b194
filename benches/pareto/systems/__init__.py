"""The systems, one module each, whose function `measure` maps a problem to a point per budget."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from pareto.problem import Problem
from pareto.store import Point


class NotAvailableError(Exception):
    """The system cannot be measured with the installed packages."""


@dataclass(frozen=True)
class System:
    """A competitor: its module in this package, its PyPI package, and how its bytes are counted."""

    name: str
    label: str
    package: str
    counted: str

    def measure(self, problem: Problem) -> dict[int, Point | None]:
        """Measure. The package is imported only here, so that the other systems do not need it."""
        try:
            module = import_module(f"pareto.systems.{self.name}")
        except ImportError as error:
            raise NotAvailableError(str(error)) from None
        points: dict[int, Point | None] = module.measure(problem)
        return points

    @property
    def version(self) -> str:
        try:
            return version(self.package)
        except PackageNotFoundError:
            return str(import_module(self.package).__version__)


COMPETITORS = (
    System("binfm", "binfm", "binfm", "The complete file: `model.nbytes`."),
    System(
        "hessboost",
        "hessboost compact",
        "hessboost",
        "The complete file: the length of `booster.to_compact().save_raw()`.",
    ),
    System(
        "lightgbm",
        "LightGBM packed",
        "lightgbm",
        "It has no compact format, so this counts the smallest that a competent engineer could build: no header; trees "
        "in preorder, one bit per node to tell leaves from splits; features and thresholds by rank in tables of those "
        "in use, or in place if that is smaller; 2 bytes per distinct threshold, or 1 if the feature holds integers "
        "from 0 to 255; 1 byte per leaf. It is scored with its own floats, so rounding costs it nothing.",
    ),
    System(
        "tree",
        "decision tree packed",
        "scikit-learn",
        "Like LightGBM, but a leaf takes the bits of a class number.",
    ),
    System(
        "linear",
        "logistic regression",
        "scikit-learn",
        "2 bytes per weight and intercept, standardization folded in, one class fewer than there are. Or the smallest "
        "weights are dropped, and one bit per weight marks the others. It is scored with floats.",
    ),
)
REFERENCE = System(
    "reference",
    "LightGBM 100×31",
    "lightgbm",
    "100 rounds of 31 leaves, otherwise its defaults: packed as above, and its own text file.",
)
MAJORITY = System("majority", "most frequent class", "scikit-learn", "1 byte.")
SYSTEMS = {system.name: system for system in (*COMPETITORS, REFERENCE, MAJORITY)}
