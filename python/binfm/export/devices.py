"""What a model needs on a small processor: flash, memory and time, known before anything is compiled.

Sizes were measured with Debian 12's compilers at ``-Os``. A prediction's time is a sum over the parts of the model; the
cost of each part was fitted to models of many shapes, counted by simavr (cycles) and qemu (instructions).
``benches/device_costs.py`` fits them; ``tests/c`` compares all figures with compilers and emulators.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from binfm import _core
from binfm._checks import listed
from binfm.export.c import check_limits, device_file

if TYPE_CHECKING:
    from binfm.model import Model

TOLERANCE = 0.15
"""How far, in proportion, an estimated time may be from the mean over rows with every feature."""


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
    """A feature with longer edges; a step of the search among edges of two bytes, and of three or four."""
    short_step: float
    long_step: float
    category: float
    category_step: float
    """A step of the search among listed categories."""
    text: float
    """To skip a text category."""
    output: float
    word: float
    """A pass over the active rows, which counts as many bits of each as fit into a word, and one more. For each pass: a
    present feature, and an active row."""
    start: float
    row: float
    column: float
    """A bit of a row: of w, or a factor."""


@dataclass(frozen=True)
class Target:
    """A processor: flash of `binfm_predict` and of `binfm_check` on top, their stack, and what a prediction costs."""

    title: str
    predict: int
    check: int
    stack: int
    unit: str
    word_bits: int
    costs: Costs


TARGETS = {
    "avr": Target(
        "ATmega328P", 4930, 2874, 176, "cycles", 8,
        Costs(920, 96.4, 280, 0, 283, 0, 87.8, 804, 407, 22.7, 1240, 284, 22.4, 62.7, 58.8),
    ),
    "cortex-m0": Target(
        "Cortex-M0", 2500, 1288, 456, "instructions", 32,
        Costs(149, 43.1, 135, 0, 142, 7.7, 24, 133, 46.7, 10.9, 264, 173, 11.7, 72.4, 13),
    ),
    "cortex-m3": Target(
        "Cortex-M3", 2208, 1200, 432, "instructions", 32,
        Costs(97.3, 34.8, 93, 0, 105, 0.428, 13.3, 89.6, 31.7, 9.36, 125, 139, 8.56, 46.8, 8.37),
    ),
    "riscv32": Target(
        "RV32IMAC", 2828, 1328, 464, "instructions", 32,
        Costs(165, 21.7, 99.5, 0, 96.4, 7.12, 19.3, 109, 32.9, 8.56, 183, 191, 6.43, 48.1, 10.6),
    ),
}  # fmt: skip


def size_report(model: Model, target: str) -> dict[str, int]:
    """Return what a model needs on a target; see :meth:`binfm.Model.size_report`."""
    if target not in TARGETS:
        raise ValueError(f"target must be {listed(tuple(TARGETS))}, got {target!r}")
    check_limits(model)
    machine = TARGETS[target]
    runtime = machine.predict + machine.check
    size = len(device_file(model))
    return {
        "flash": runtime + size,
        "runtime": runtime,
        "predict": machine.predict,
        "check": machine.check,
        "model": size,
        "row": 4 * model.n_features,
        "active": 4 * (model.n_features + 2),
        "stack": machine.stack,
        machine.unit: round(steps(model, machine)),
    }


def steps(model: Model, machine: Target) -> float:
    """Return the estimated cycles or instructions of a prediction in which every feature is present."""
    parts = count_parts(model, machine.word_bits)
    return math.fsum(cost * part for cost, part in zip(astuple(machine.costs), astuple(parts), strict=True))


def count_parts(model: Model, word_bits: int) -> Costs:
    """Return how many of each part a model has."""
    stored = [_Stored(*each) for each in _core.layout(model._core)[1]]
    coded = [feature for feature in stored if feature.kind == "code"]
    leading = [feature for feature in stored if feature.kind == "leading"]
    categories = [feature for feature in stored if feature.kind in ("whole", "text")]
    present, outputs = len(stored), model._core.outputs
    columns = outputs * (model.m + model.w_bits)
    words = math.ceil(columns / (word_bits + 1))
    return Costs(
        prediction=1,
        feature=model.n_features,
        coded=len(coded),
        code=sum(feature.count for feature in coded),
        leading=len(leading),
        short_step=sum(feature.steps for feature in leading if feature.width == 2),
        long_step=sum(feature.steps for feature in leading if feature.width > 2),
        category=len(categories),
        category_step=sum(feature.steps for feature in categories if feature.width > 0),
        text=sum(feature.count for feature in categories if feature.kind == "text"),
        output=outputs,
        word=words,
        start=words * present,
        row=words * present * model.tilings,
        column=columns,
    )


@dataclass(frozen=True)
class _Stored:
    """A feature in the file: its kind, and how many edges or categories of how many bytes it has."""

    kind: str
    width: int
    count: int

    @property
    def steps(self) -> float:
        """Steps of a binary search among them."""
        return math.log2(self.count + 1)
