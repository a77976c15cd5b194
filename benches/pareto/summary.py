"""Means over splits and data sets, for the table and the plot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pareto.problem import BUDGETS, DATA, SEEDS, UNLIMITED
from pareto.store import Entry, Point, Store
from pareto.systems import COMPETITORS, MAJORITY, REFERENCE, System


@dataclass(frozen=True)
class Cell:
    """A system on a data set at a budget: mean accuracy in percent over the splits.

    Of those, `fitting` have a model; the others count with the accuracy of the most frequent class.
    """

    accuracy: float
    fitting: int
    splits: int

    @property
    def fits(self) -> bool:
        return self.fitting == self.splits


@dataclass(frozen=True)
class Summary:
    """Results, missing data sets and unavailable systems."""

    store: Store
    missing: list[str]
    unavailable: dict[str, str]

    @cached_property
    def systems(self) -> list[System]:
        """The competitors measured on at least one data set."""
        measured = {system for _, _, system in self.store.entries}
        return [system for system in COMPETITORS if system.name in measured]

    @cached_property
    def sets(self) -> list[str]:
        """The data sets on which all systems were measured."""
        return [data for data in DATA if all(self.seeds_at(data, budget) for budget in BUDGETS)]

    def seeds(self, data: str) -> list[int]:
        """Return the splits of a data set on which all systems were measured."""
        names = [system.name for system in (*self.systems, REFERENCE, MAJORITY)]
        return [seed for seed in SEEDS if all((data, seed, name) in self.store.entries for name in names)]

    def seeds_at(self, data: str, budget: int) -> list[int]:
        """Return the splits on which all systems were measured at this budget."""
        systems, entries = self.systems, self.store.entries
        return [
            s for s in self.seeds(data) if all(budget in entries[data, s, system.name].points for system in systems)
        ]

    def entries(self, data: str, system: System) -> list[Entry]:
        return [self.store.entries[data, seed, system.name] for seed in self.seeds(data)]

    def cell(self, data: str, system: System, budget: int) -> Cell:
        """Return the mean over the splits that were measured at this budget."""
        entries = self.store.entries
        seeds = self.seeds_at(data, budget)
        points = [entries[data, seed, system.name].points[budget] for seed in seeds]
        most_frequent = [entries[data, seed, MAJORITY.name].points[UNLIMITED] for seed in seeds]
        shown = [point or other for point, other in zip(points, most_frequent, strict=True)]
        fitting = sum(point is not None for point in points)
        return Cell(100 * float(np.mean([point.accuracy for point in shown if point])), fitting, len(points))

    def unlimited(self, data: str, system: System) -> list[Point]:
        """Return the points of a system without budgets, one per split."""
        points = [entry.points[UNLIMITED] for entry in self.entries(data, system)]
        return [point for point in points if point]

    def accuracy(self, data: str, system: System) -> float:
        """Return the mean accuracy in percent of a system without budgets."""
        return 100 * float(np.mean([point.accuracy for point in self.unlimited(data, system)]))

    def shared(self, budget: int) -> list[str]:
        """Return the data sets on which every system has a model in every split."""
        return [data for data in self.sets if all(self.cell(data, system, budget).fits for system in self.systems)]

    def average(self, system: System, budget: int, sets: list[str]) -> float | None:
        if not sets:
            return None
        return float(np.mean([self.cell(data, system, budget).accuracy for data in sets]))

    def averages(self, system: System) -> list[float | None]:
        """Return the average over all data sets at each budget."""
        return [self.average(system, budget, self.sets) for budget in BUDGETS]
