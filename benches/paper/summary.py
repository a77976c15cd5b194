"""Means of the results over the splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paper.data import Dataset
from paper.plan import Plan
from paper.store import Record, Store
from paper.systems import TABLE

SHAPE = "webspam-shape"
"""Synthetic data of webspam's shape, used if the data set is missing."""


@dataclass(frozen=True)
class Mean:
    """Accuracy in percent and its standard deviation, bits by the paper's formula, and bytes, over `splits` splits."""

    accuracy: float
    deviation: float
    bits: float
    bytes: float
    splits: int


@dataclass
class Summary:
    store: Store
    plan: Plan
    data: dict[str, Dataset]
    missing: Sequence[str]
    unavailable: dict[str, str]
    made: dict[str, str] = field(default_factory=dict)

    @property
    def systems(self) -> list[str]:
        """The systems of Table 2 that were measured."""
        return [name for name in TABLE if name not in self.unavailable]

    def records(self, data: str, system: str, splits: int | None = None) -> list[Record]:
        keys = (f"accuracy/{data}/{system}/{seed}" for seed in range(splits or self.plan.splits))
        return [self.store.records[key] for key in keys if key in self.store.records]

    def mean(self, data: str, system: str, splits: int | None = None) -> Mean | None:
        records = self.records(data, system, splits)
        if not records:
            return None
        accuracy, bits, size = (np.array([each[what] for each in records]) for what in ("accuracy", "bits", "bytes"))
        deviation = accuracy.std(ddof=1) if len(records) > 1 else 0.0
        return Mean(float(accuracy.mean()), float(deviation), float(bits.mean()), float(size.mean()), len(records))

    def memory(self, data: str, system: str) -> float | None:
        """Return the bits of a system relative to FM, both by the paper's formulas."""
        if data == SHAPE:
            bits = self.times(SHAPE).get("bits", {})
            return bits[system] / bits["fm"] if system in bits and "fm" in bits else None
        ours, fm = self.mean(data, system), self.mean(data, "fm")
        return None if ours is None or fm is None else ours.bits / fm.bits

    def bytes(self, data: str, system: str) -> float | None:
        if data == SHAPE:
            return self.times(SHAPE).get("bytes", {}).get(system)
        found = self.mean(data, system)
        return None if found is None else found.bytes

    def times(self, data: str) -> dict[str, Any]:
        return self.store.records.get(f"times/{data}", {})

    def ms(self, data: str, system: str) -> float | None:
        return self.times(data).get("ms", {}).get(system)

    @property
    def timed(self) -> list[str]:
        shape = [] if "webspam" in self.data or not self.times(SHAPE) else [SHAPE]
        return [data for data in self.data if self.times(data)] + shape
