"""The table of `make -C benches engine`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import machine
from pages import table

from engine.builds import Build
from engine.parts import MOST_SAMPLES
from engine.summary import Line, Paired

HEAD = (
    "data", "splits",
    "accuracy %, baseline", "current", "difference", "±",
    "log loss, baseline", "current", "difference", "±",
    "fit, s, baseline", "current", "ratio",
)  # fmt: skip


def row(line: Line) -> tuple[str, ...]:
    return (
        line.name,
        str(line.splits),
        *_figure(line.accuracy, 2),
        *_figure(line.log_loss, 4),
        *(f"{seconds:.2f}" for seconds in line.seconds),
        f"{line.speed:.2f}",
    )


def page(lines: Sequence[Line], missing: Sequence[str], baseline: Build, current: Build, inside: bool) -> str:
    """Return the whole page in Markdown; the last line is the mean."""
    settings = ", ".join(f"{name}={value}" for name, value in current.params.items()) or "the defaults"
    where = "the training part (a random 75 %) of each data set" if inside else "each data set"
    text = [
        "# Two builds on the same splits",
        "",
        f"Random 75/25 splits of {where}, at most {MOST_SAMPLES:,} training samples. Differences are current minus",
        "baseline; ± is the standard error of their mean over the splits. Fit times are compared as current ÷",
        "baseline, and the mean of these ratios is geometric.",
        f"Baseline: {baseline.identity}, the defaults. Current build: {current.identity}, {settings}.",
        f"Written by `make -C benches engine` on {date.today()}: {machine.cpu()}.",
        "",
        *table(HEAD, map(row, lines)),
    ]
    text += ["", f"Not measured, as the data is missing: {', '.join(missing)}."] if missing else []
    return "\n".join(text) + "\n"


def _figure(paired: Paired, digits: int) -> tuple[str, ...]:
    plain, signed = f".{digits}f", f"+.{digits}f"
    means = (format(paired.baseline, plain), format(paired.current, plain))
    return (*means, format(paired.difference, signed), format(paired.error, plain))
