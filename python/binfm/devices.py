"""What a model takes on a small processor: flash, memory and time, known before anything is compiled.

Sizes were measured with Debian 12's compilers at ``-Os``. A prediction's time is a sum over the parts of the model; the
cost of each part was fitted to models of many shapes, counted by simavr (cycles) and qemu (instructions).
``benches/device_costs.py`` fits them; ``tests/c`` compares all figures with compilers and emulators.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from binfm.export import Header, check_limits

if TYPE_CHECKING:
    from binfm.model import Model

TOLERANCE = 0.15
"""How far, in proportion, an estimated time may be from the mean over rows that have every feature."""


@dataclass(frozen=True)
class Costs:
    """Cycles or instructions of one prediction, for each part of a model."""

    prediction: float
    feature: float
    """Each feature, used or not."""
    numeric: float
    byte_edge: float
    """An edge of one byte; a step of the search among edges of two bytes, and of three or four."""
    short_step: float
    long_step: float
    category: float
    level_step: float
    """A step of the search among categories that are listed."""
    text: float
    """To step over a text category."""
    function: float
    word: float
    """For each score function: as many factors as are counted at a time; a present feature; an active row; a factor."""
    start: float
    row: float
    factor: float


@dataclass(frozen=True)
class Target:
    """A processor: flash of `binfm_predict` and of `binfm_check` besides, their stack, and what a prediction costs."""

    title: str
    predict: int
    check: int
    stack: int
    unit: str
    word_bits: int
    costs: Costs


TARGETS = {
    "avr": Target(
        "ATmega328P", 4274, 4004, 152, "cycles", 8,
        Costs(614, 89, 193, 0, 23, 127, 699, 433, 26, 1430, 173, 36, 61.4, 55),
    ),
    "cortex-m0": Target(
        "Cortex-M0", 1840, 1688, 368, "instructions", 32,
        Costs(90, 12, 98, 0, 16, 44, 127, 51, 13, 392, 0, 18, 75.3, 37),
    ),
    "cortex-m3": Target(
        "Cortex-M3", 1616, 1546, 344, "instructions", 32,
        Costs(57, 10, 75, 1, 7.5, 35, 89, 35, 11, 214, 0, 9, 50.5, 25),
    ),
    "riscv32": Target(
        "RV32IMAC", 2080, 1880, 320, "instructions", 32,
        Costs(131, 5, 71, 0, 10, 41, 107, 35, 10, 282, 0, 11, 46.9, 27),
    ),
}  # fmt: skip


def size_report(model: Model, target: str) -> dict[str, int]:
    """Return what a model takes on a target; see :meth:`binfm.Model.size_report`."""
    if target not in TARGETS:
        raise ValueError(f"target: got {target!r}; accepted are {', '.join(map(repr, TARGETS))}")
    check_limits(model)
    machine = TARGETS[target]
    runtime = machine.predict + machine.check
    blob = model.to_bytes(names=False)
    return {
        "flash": runtime + len(blob),
        "runtime": runtime,
        "model": len(blob),
        "row": 4 * model.n_features,
        "active": 4 * (model.n_features + 2),
        "stack": machine.stack,
        machine.unit: round(steps(blob, machine)),
    }


def steps(blob: bytes, machine: Target) -> float:
    """Return the estimated cycles or instructions of a prediction where every feature is present."""
    parts = count_parts(blob, machine.word_bits)
    return math.fsum(cost * part for cost, part in zip(astuple(machine.costs), astuple(parts), strict=True))


def count_parts(blob: bytes, word_bits: int) -> Costs:
    """Return how many of each part a model has."""
    header = Header.of(blob)
    records = list(_records(blob, header.functions))
    numeric = [record for record in records if record.kind == 1]
    categories = [record for record in records if record.kind > 1]
    present = len(numeric) + len(categories)
    words = header.functions * math.ceil(header.m / word_bits)
    return Costs(
        prediction=1,
        feature=len(records),
        numeric=len(numeric),
        byte_edge=sum(record.count for record in numeric if record.width == 1),
        short_step=sum(record.steps for record in numeric if record.width == 2),
        long_step=sum(record.steps for record in numeric if record.width > 2),
        category=len(categories),
        level_step=sum(record.steps for record in categories if record.width > 0),
        text=sum(record.count for record in categories if record.kind == 3),
        function=header.functions,
        word=words,
        start=words * present,
        row=words * present * header.tilings,
        factor=header.functions * header.m,
    )


@dataclass(frozen=True)
class _Record:
    """A feature in the file: its kind, and how many edges or levels of how many bytes it has."""

    kind: int
    width: int
    count: int

    @property
    def steps(self) -> float:
        return math.log2(self.count + 1)


def _records(blob: bytes, functions: int) -> Iterator[_Record]:
    at = 25 + 8 * functions
    for _ in range(int.from_bytes(blob[10:14], "little")):
        tag, at = blob[at], at + 1
        kind, width, count = tag & 3, tag >> 4, 0
        if kind > 0:
            count, at = _count(blob, at)
        yield _Record(kind, width, count)
        at += width * count
        for _ in range(count if kind == 3 else 0):
            size, at = _count(blob, at)
            at += size


def _count(blob: bytes, at: int) -> tuple[int, int]:
    """Return the count at a place, and what follows it."""
    value = shift = 0
    while blob[at] >= 0x80:
        value |= (blob[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | blob[at] << shift, at + 1
