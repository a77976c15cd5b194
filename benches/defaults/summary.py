"""Means over splits, and comparisons over data sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from paper.store import Record

from defaults.sets import CLASSIFICATION, REGRESSION
from defaults.systems import REFERENCE, SYSTEMS, System

HIGHER_IS_BETTER = ("accuracy", "r2")


class Mean(NamedTuple):
    """A figure over the splits; the standard deviation of one split is None."""

    mean: float
    deviation: float | None


class Comparison(NamedTuple):
    """The differences of a figure between two systems over data sets: their mean, and the worst one."""

    mean: float
    worst: float
    where: str
    sets: int


@dataclass(frozen=True)
class Summary:
    """The results of the data sets that were found, by keys such as "banana/0/binfm"."""

    records: dict[str, Record]
    sets: Sequence[str]
    missing: Sequence[str]
    splits: int
    most: int
    """Training samples of a split at most."""

    @property
    def classification(self) -> list[str]:
        return self.among(CLASSIFICATION)

    @property
    def regression(self) -> list[str]:
        return self.among(REGRESSION)

    def among(self, group: Iterable[str]) -> list[str]:
        """Return the data sets of a group that were found."""
        return [data for data in group if data in self.sets]

    @property
    def systems(self) -> list[System]:
        """The systems that have results."""
        return [one for one in SYSTEMS.values() if any(self.of(data, one.name) for data in self.sets)]

    @property
    def failures(self) -> list[str]:
        """What failed, and why; one line per system and reason."""
        where: dict[tuple[str, str], list[str]] = {}
        for key, record in self.records.items():
            data, _, system = key.split("/")
            if data in self.sets and "failed" in record:
                where.setdefault((SYSTEMS[system].label, record["failed"]), []).append(data)
        return [f"{system} on {', '.join(dict.fromkeys(data))}: {why}" for (system, why), data in where.items()]

    @property
    def all(self) -> list[Record]:
        """Every result that was not a failure."""
        return [record for data in self.sets for name in SYSTEMS for record in self.of(data, name).values()]

    def of(self, data: str, system: str) -> dict[int, Record]:
        """Return the results of a system on a data set by split, without failures."""
        found = {seed: self.records.get(f"{data}/{seed}/{system}", {}) for seed in range(self.splits)}
        return {seed: record for seed, record in found.items() if record and "failed" not in record}

    def mean(self, data: str, system: str, figure: str) -> Mean | None:
        values = [record[figure] for record in self.of(data, system).values()]
        if not values:
            return None
        return Mean(float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else None)

    def difference(self, data: str, system: str, other: str, figure: str) -> float | None:
        """Return the mean difference to another system over the splits that both have."""
        ours, theirs = self.of(data, system), self.of(data, other)
        both = [ours[seed][figure] - theirs[seed][figure] for seed in ours if seed in theirs]
        return float(np.mean(both)) if both else None

    def compare(self, group: Iterable[str], system: str, other: str, figure: str) -> Comparison | None:
        """Return the differences to another system over a group of data sets; None if there are none."""
        differences = {data: self.difference(data, system, other, figure) for data in self.among(group)}
        found = {data: value for data, value in differences.items() if value is not None}
        if not found or system == other:
            return None
        choose = min if figure in HIGHER_IS_BETTER else max
        where = choose(found, key=lambda data: found[data])
        return Comparison(float(np.mean(list(found.values()))), found[where], where, len(found))

    def shared(self, group: Iterable[str]) -> list[str]:
        """Return the data sets of a group on which every shown system has results."""
        return [data for data in self.among(group) if all(self.of(data, one.name) for one in self.systems)]

    def average(self, group: Iterable[str], system: str, figure: str) -> float | None:
        """Return the mean of a figure over the shared data sets of a group."""
        means = [found.mean for data in self.shared(group) if (found := self.mean(data, system, figure)) is not None]
        return float(np.mean(means)) if means else None

    def slowdown(self, group: Iterable[str], system: str) -> float | None:
        """Return the fit time relative to the reference's: the geometric mean over a group of data sets."""
        logs = [
            np.log(ours.mean / theirs.mean)
            for data in self.among(group)
            if (ours := self.mean(data, system, "seconds")) and (theirs := self.mean(data, REFERENCE, "seconds"))
        ]
        return float(np.exp(np.mean(logs))) if logs else None
