"""Means over the splits of a data set, and over data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Record = dict[str, Any]


@dataclass(frozen=True)
class Paired:
    """A figure of two builds: both means, the mean of the differences and its standard error."""

    baseline: float
    current: float
    difference: float
    error: float


@dataclass(frozen=True)
class Line:
    """One data set, or the mean over all. Accuracies are in percent; `speed` is current ÷ baseline."""

    name: str
    splits: int
    accuracy: Paired
    log_loss: Paired
    seconds: tuple[float, float]
    speed: float


def summarize(name: str, baseline: Sequence[Record], current: Sequence[Record]) -> Line:
    """Pair the results of two builds on the same splits."""
    seconds = [float(np.mean([one["seconds"] for one in records])) for records in (baseline, current)]
    return Line(
        name=name,
        splits=len(baseline),
        accuracy=_paired(baseline, current, "accuracy", scale=100),
        log_loss=_paired(baseline, current, "log_loss"),
        seconds=(seconds[0], seconds[1]),
        speed=seconds[1] / seconds[0],
    )


def average(lines: Sequence[Line]) -> Line:
    """Return the mean over data sets, each of which counts the same; of the ratios, the geometric mean."""
    before, after = np.mean([line.seconds for line in lines], axis=0).tolist()
    return Line(
        name="mean",
        splits=min(line.splits for line in lines),
        accuracy=_mean([line.accuracy for line in lines]),
        log_loss=_mean([line.log_loss for line in lines]),
        seconds=(before, after),
        speed=float(np.exp(np.mean([np.log(line.speed) for line in lines]))),
    )


def _paired(baseline: Sequence[Record], current: Sequence[Record], figure: str, scale: float = 1) -> Paired:
    before, after = (scale * np.array([one[figure] for one in records]) for records in (baseline, current))
    difference = after - before
    error = difference.std(ddof=1) / np.sqrt(len(difference)) if len(difference) > 1 else np.nan
    return Paired(float(before.mean()), float(after.mean()), float(difference.mean()), float(error))


def _mean(figures: Sequence[Paired]) -> Paired:
    """Return the means; the error is that of a mean of independent differences."""
    baseline, current, difference = (
        float(np.mean([getattr(one, name) for one in figures])) for name in ("baseline", "current", "difference")
    )
    error = float(np.sqrt(np.sum([one.error**2 for one in figures]))) / len(figures)
    return Paired(baseline, current, difference, error)
