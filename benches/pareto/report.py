"""The page `benches/results/pareto.md`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pareto.problem import BUDGETS, FOLDS, SEEDS
from pareto.summary import Cell, Summary
from pareto.systems import COMPETITORS, MAJORITY, REFERENCE

CLOSE = 0.5
"""Points of accuracy that a data set may be behind without being listed."""
NONE = "–"

INTRODUCTION = """\
# Test accuracy by bytes

The best that each system can do within a number of bytes, in percent of the test rows: means over {splits} stratified
random 70/30 splits, the same for all, or as many of them as are measured. Settings are chosen on the training part
alone; the test part is scored once. Written by `make pareto`; every model's settings and bytes are in
[pareto.json](pareto.json).

![Accuracy against bytes, a panel a data set](pareto.png)
"""

CHOICE = f"""\
## How settings were chosen

`binfm.train(X, y, max_bytes=N)` chooses for itself. For the others, {FOLDS}-fold cross-validation of the training part:
all candidates on one fold, then twice the neighbours of each budget's best, then each budget's four best on the other
folds. A fit serves all budgets, because it is cut after every few rounds (splits, weights). What counts is the bytes of
the model of the whole training part; a budget gets the settings and the cut of the best mean accuracy over the folds
among those that fit.

* hessboost: rounds × (depth 1, 2, 3, 6 or 3, 5, 8, 12, 20, 40 leaves) × learning rate 0.2, 0.45, 0.9 × three pairs of
  its ToaD penalties, in proportion to the rows. Near the best also other rates, penalties, depths and leaves, 32 bins,
  less λ, capped leaf values (which then are shared). Inputs are rounded to float16, which halves its thresholds, or
  not, where that is better.
* LightGBM: rounds × 2, 3, 5, 8, 12, 20, 31, 48 leaves × learning rate 0.2, 0.45, 0.9. Near the best also other rates
  and leaves, 63 and 23 bins, more and less λ, other least rows of a leaf.
* Decision tree: splits × Gini or entropy × least rows of a leaf × best split first or cost-complexity pruning.
* Logistic regression: C × squares (one softmax) or absolute values (a function a class) × weights kept.
"""


def page(summary: Summary) -> str:
    parts = [
        INTRODUCTION.format(splits=len(SEEDS)),
        _absent(summary),
        _averages(summary),
        _each_set(summary),
        _behind(summary),
        _unlimited(summary),
        _counted(summary),
        CHOICE,
    ]
    return "\n".join(part for part in parts if part)


def _absent(summary: Summary) -> str:
    lines = [f"* {data}: missing." for data in summary.missing]
    lines += [f"* {name}: not available ({why})." for name, why in summary.unavailable.items()]
    return "\n".join([*lines, ""]) if lines else ""


def _averages(summary: Summary) -> str:
    every = _average_rows(summary, lambda budget: summary.sets)
    shared = _average_rows(summary, summary.shared)
    counts = [str(len(summary.shared(budget))) for budget in BUDGETS]
    reference = np.mean([summary.accuracy(data, REFERENCE) for data in summary.sets]) if summary.sets else float("nan")
    return "\n".join(
        [
            f"## Average over {len(summary.sets)} data sets",
            "",
            f"Where a system has no model that small ({NONE} below), the most frequent class stands in for it.",
            f"{REFERENCE.label} without a limit: {reference:.1f}.",
            "",
            _table(["bytes ≤", *_budget_names()], every),
            "",
            "The same over only those data sets on which every system has a model that small:",
            "",
            _table(["bytes ≤", *_budget_names()], [["data sets", *counts], *shared]),
            "",
        ]
    )


def _average_rows(summary: Summary, sets: Callable[[int], list[str]]) -> list[list[str]]:
    columns = [[summary.average(system, budget, sets(budget)) for system in summary.systems] for budget in BUDGETS]
    texts = [_with_best([None if value is None else f"{value:.1f}" for value in column]) for column in columns]
    return [[system.label, *row] for system, row in zip(summary.systems, zip(*texts, strict=True), strict=True)]


def _each_set(summary: Summary) -> str:
    rows = [row for data in summary.sets for row in _set_rows(summary, data)]
    note = f"**Bold**: the best. {NONE}: no model that small. *: not in all splits; the most frequent class stands in."
    note += _fewer_splits(summary)
    return "\n".join(["## Each data set", "", note, "", _table(["data", "bytes ≤", *_budget_names()], rows), ""])


def _fewer_splits(summary: Summary) -> str:
    """Say where fewer splits were measured than of the same set at other budgets."""
    counts = [
        (len(summary.seeds_at(data, budget)), f"{data} at {budget:,}")
        for data in summary.sets
        for budget in BUDGETS
        if summary.seeds_at(data, budget) != summary.seeds(data)
    ]
    kinds = sorted({count for count, _ in counts})
    said = [f"{count} of {len(SEEDS)} splits: {', '.join(at for n, at in counts if n == count)}." for count in kinds]
    return "".join(f"\n{line}" for line in said)


def _set_rows(summary: Summary, data: str) -> list[list[str]]:
    cells = [[summary.cell(data, system, budget) for system in summary.systems] for budget in BUDGETS]
    texts = [_with_best([_text(cell) for cell in column]) for column in cells]
    splits = len(summary.seeds(data))
    name = data if splits == len(SEEDS) else f"{data} ({splits} of {len(SEEDS)} splits)"
    names = [name, *[""] * (len(summary.systems) - 1)]
    rows = zip(names, summary.systems, zip(*texts, strict=True), strict=True)
    return [[name, system.label, *row] for name, system, row in rows]


def _text(cell: Cell) -> str | None:
    if cell.fitting == 0:
        return None
    return f"{cell.accuracy:.1f}" + ("" if cell.fits else "*")


def _with_best(texts: Sequence[str | None]) -> list[str]:
    """Make the highest bold, all of them where rounded figures are equal."""
    best = max((float(text.rstrip("*")) for text in texts if text), default=None)
    bold = [text is not None and float(text.rstrip("*")) == best for text in texts]
    return [f"**{text}**" if best_one else text or NONE for text, best_one in zip(texts, bold, strict=True)]


def _behind(summary: Summary) -> str:
    """List where binfm is more than CLOSE behind the best of the others."""
    if summary.systems[:1] != [COMPETITORS[0]]:
        return ""
    rows = [row for data in summary.sets for budget in BUDGETS if (row := _behind_row(summary, data, budget))]
    head = ["data", "bytes ≤", "binfm", "best", "by", "which"]
    return "\n".join([f"## Where binfm is more than {CLOSE} behind", "", _table(head, rows), ""])


def _behind_row(summary: Summary, data: str, budget: int) -> list[str] | None:
    binfm, *others = summary.systems
    ours = summary.cell(data, binfm, budget)
    best, label = max(((summary.cell(data, s, budget), s.label) for s in others), key=lambda pair: pair[0].accuracy)
    difference = best.accuracy - ours.accuracy
    if difference <= CLOSE:
        return None
    return [data, f"{budget:,}", _text(ours) or NONE, f"{best.accuracy:.1f}", f"{difference:.1f}", label]


def _unlimited(summary: Summary) -> str:
    rows = []
    for data in summary.sets:
        points = summary.unlimited(data, REFERENCE)
        packed, file = (np.mean([point.bytes for point in points]), np.mean([p.settings["file"] for p in points]))
        accuracies = [f"{summary.accuracy(data, system):.1f}" for system in (MAJORITY, REFERENCE)]
        rows.append([data, *accuracies, f"{packed:,.0f}", f"{file:,.0f}"])
    head = ["data", MAJORITY.label, REFERENCE.label, "its bytes, packed", "its text file"]
    return "\n".join(["## Without a limit", "", _table(head, rows), ""])


def _counted(summary: Summary) -> str:
    versions = {entry.system: f"{entry.version}, {entry.date}" for entry in summary.store.entries.values()}
    shown = [system for system in (*COMPETITORS, REFERENCE) if system.name in versions]
    lines = [f"* {s.label} ({s.package} {versions[s.name]}). {s.counted}" for s in shown]
    return "\n".join(["## How bytes are counted", "", *lines, ""])


def _budget_names() -> list[str]:
    return [f"{budget:,}" for budget in BUDGETS]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))
