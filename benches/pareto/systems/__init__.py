"""The systems: a module each, with a function `measure` from a problem to a point a budget."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from pareto.problem import Problem
from pareto.store import Point


class NotAvailableError(Exception):
    """What is installed cannot be measured."""


@dataclass(frozen=True)
class System:
    """A competitor: its module here, the package it comes from, and how its bytes are counted."""

    name: str
    label: str
    package: str
    counted: str

    def measure(self, problem: Problem) -> dict[int, Point | None]:
        """Measure; the package is imported only now, so that others can do without it."""
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
    System("binfm", "binfm", "binfm", "The file, everything included: `model.nbytes`."),
    System(
        "hessboost",
        "hessboost compact",
        "hessboost",
        "The file, everything included: the length of `booster.to_compact().save_raw()`.",
    ),
    System(
        "lightgbm",
        "LightGBM packed",
        "lightgbm",
        "It has no small format, so the least that a competent engineer could build is counted. No header. Trees in "
        "preorder, a bit a node to tell leaves from splits. Features and thresholds by rank in tables of those in use, "
        "or in place where that is smaller. 2 bytes a distinct threshold, 1 where the feature holds whole numbers from "
        "0 to 255. 1 byte a leaf. It is scored with its own floats: rounding costs it nothing here.",
    ),
    System(
        "tree",
        "decision tree packed",
        "scikit-learn",
        "As LightGBM, but a leaf takes the bits of a class number.",
    ),
    System(
        "linear",
        "logistic regression",
        "scikit-learn",
        "2 bytes a weight and intercept, standardisation folded in, one class less than there are. Or the smallest "
        "weights are dropped, and a bit a weight says which. It is scored with floats.",
    ),
)
REFERENCE = System(
    "reference",
    "LightGBM 100×31",
    "lightgbm",
    "100 rounds of 31 leaves, other settings as they come: packed as above, and its own text file.",
)
MAJORITY = System("majority", "most frequent class", "scikit-learn", "1 byte.")
SYSTEMS = {system.name: system for system in (*COMPETITORS, REFERENCE, MAJORITY)}
