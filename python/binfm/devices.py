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

from binfm.export import AT_SCALES, Header, check_limits, device_file

if TYPE_CHECKING:
    from binfm.model import Model

CODES, LEADING, WHOLE, TEXT = range(4)
"""Kinds of a feature in a file; the flag of a file with unused ones; the bit of a feature with a count of its own."""
HAS_UNUSED = 4
OWN_COUNT = 0x80
TOLERANCE = 0.15
"""How far, in proportion, an estimated time may be from the mean over rows that have every feature."""


@dataclass(frozen=True)
class Costs:
    """Cycles or instructions of one prediction, for each part of a model."""

    prediction: float
    feature: float
    """Each feature, used or not."""
    coded: float
    """A feature with edges of one byte, and each of them."""
    code: float
    leading: float
    """One with longer edges; a step of the search among edges of two bytes, and of three or four."""
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
        "ATmega328P", 4842, 6194, 163, "cycles", 8,
        Costs(1100, 57, 222, 4.9, 380, 6.7, 54.5, 799, 412, 20, 1480, 198, 34.9, 61.3, 47),
    ),
    "cortex-m0": Target(
        "Cortex-M0", 2328, 3184, 376, "instructions", 32,
        Costs(227, 16.6, 122, 2.3, 118, 22.4, 32, 154, 50.4, 11, 357, 0, 21, 74.8, 35.8),
    ),
    "cortex-m3": Target(
        "Cortex-M3", 2052, 2910, 352, "instructions", 32,
        Costs(135, 14.9, 90, 1.8, 85, 13.7, 21, 105, 35.8, 9.3, 204, 0, 11.5, 50.2, 24.2),
    ),
    "riscv32": Target(
        "RV32IMAC", 2600, 3542, 336, "instructions", 32,
        Costs(218, 2.3, 97, 1.3, 87, 16, 23, 124, 34.6, 9, 270, 0, 12, 46.8, 26.2),
    ),
}  # fmt: skip


def size_report(model: Model, target: str) -> dict[str, int]:
    """Return what a model takes on a target; see :meth:`binfm.Model.size_report`."""
    if target not in TARGETS:
        raise ValueError(f"target: got {target!r}; accepted are {', '.join(map(repr, TARGETS))}")
    check_limits(model)
    machine = TARGETS[target]
    runtime = machine.predict + machine.check
    blob = device_file(model)
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
    records = list(_records(blob))
    coded = [record for record in records if record.kind == CODES]
    leading = [record for record in records if record.kind == LEADING]
    categories = [record for record in records if record.kind > LEADING]
    present = len(records)
    words = header.functions * math.ceil(header.m / word_bits)
    return Costs(
        prediction=1,
        feature=int.from_bytes(blob[10:14], "little"),
        coded=len(coded),
        code=sum(record.count for record in coded),
        leading=len(leading),
        short_step=sum(record.steps for record in leading if record.width == 2),
        long_step=sum(record.steps for record in leading if record.width > 2),
        category=len(categories),
        level_step=sum(record.steps for record in categories if record.width > 0),
        text=sum(record.count for record in categories if record.kind == TEXT),
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


def _records(blob: bytes) -> Iterator[_Record]:
    """Yield the features that are used, as docs/file-format.md has them."""
    flags, features, functions, usual = (
        *(blob[5], int.from_bytes(blob[10:14], "little")),
        *(int.from_bytes(blob[at : at + 2], "little") for at in (16, 25)),
    )
    at = AT_SCALES + (8 if functions == 1 else 2 * functions)
    used = features
    if flags & HAS_UNUSED:
        size = -(-features // 8)
        used = sum(byte.bit_count() for byte in blob[at : at + size])
        at += size
    for _ in range(used):
        tag, at = blob[at], at + 1
        kind, width, count = tag & 3, tag >> 4, usual
        if kind == CODES:
            width, at = 1, at + (tag >> 6 & 1)
        elif kind == LEADING:
            width = (tag >> 4 & 3) + (tag & 0x30 > 0)
        if kind > LEADING or tag & OWN_COUNT:
            count, at = _count(blob, at)
        yield _Record(kind, width, count)
        at += width * count
        for _ in range(count if kind == TEXT else 0):
            size, at = _count(blob, at)
            at += size


def _count(blob: bytes, at: int) -> tuple[int, int]:
    """Return the count at a place, and what follows it."""
    value = shift = 0
    while blob[at] >= 0x80:
        value |= (blob[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | blob[at] << shift, at + 1
