"""The page `benches/results/pareto.md`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from pages import NONE, table

from pareto.problem import BUDGETS, FOLDS, SEEDS
from pareto.summary import Cell, Summary
from pareto.systems import COMPETITORS, MAJORITY, REFERENCE

CLOSE = 0.5
"""Points of accuracy by which binfm may trail without being listed."""

INTRODUCTION = """\
# Test accuracy by model size

The best test accuracy of each system within a byte budget, in percent: means over {splits} stratified random 70/30
splits, the same for all systems, or over those measured so far. Settings are chosen on the training part only; the test
part is scored once. Written by `make -C benches pareto`; the settings and size of every model are in
[pareto.json](pareto.json).

![Accuracy against bytes, one panel per data set](pareto.png)
"""

CHOICE = f"""\
## How settings were chosen

`binfm.train(X, y, max_bytes=N)` chooses its own settings. For the others, {FOLDS}-fold cross-validation of the training
part: all candidates on one fold, then two rounds of neighbors of each budget's best, then each budget's four best on
the other folds. One fit serves all budgets, because it is cut after every few rounds (splits, weights). Sizes are those
of the model fitted on the whole training part; each budget gets the settings and the cut with the best mean accuracy
over the folds among those that fit.

* hessboost: rounds × (depth 1, 2, 3, 6 or 3, 5, 8, 12, 20, 40 leaves) × learning rate 0.2, 0.45, 0.9 × three pairs of
  ToaD penalties, proportional to the number of samples. Around the best: other rates, penalties, depths and leaves, 32
  bins, smaller λ, capped leaf values (which can then be shared). Inputs are rounded to float16, which halves the
  thresholds, unless float32 is better.
* LightGBM: rounds × 2, 3, 5, 8, 12, 20, 31, 48 leaves × learning rate 0.2, 0.45, 0.9. Around the best: other rates and
  leaves, 63 and 23 bins, larger and smaller λ, other minimum leaf sizes.
* Decision tree: splits × Gini or entropy × minimum leaf size × best-first growth or cost-complexity pruning.
* Logistic regression: C × L2 (one softmax) or L1 (one-vs-rest) × number of weights kept.
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
            f"Where a system has no model that small ({NONE} below), the most frequent class is counted instead.",
            f"{REFERENCE.label} without a limit: {reference:.1f}.",
            "",
            _table(["bytes ≤", *_budget_names()], every),
            "",
            "Over only those data sets on which every system has a model that small:",
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
    note = (
        f"**Bold**: the best. {NONE}: no model that small. *: not in all splits, the most frequent class in the others."
    )
    note += _fewer_splits(summary)
    return "\n".join(["## Each data set", "", note, "", _table(["data", "bytes ≤", *_budget_names()], rows), ""])


def _fewer_splits(summary: Summary) -> str:
    """Note the budgets at which fewer splits were measured than at others."""
    counts = [
        (len(summary.seeds_at(data, budget)), f"{data} at {budget:,}")
        for data in summary.sets
        for budget in BUDGETS
        if summary.seeds_at(data, budget) != summary.seeds(data)
    ]
    kinds = sorted({count for count, _ in counts})
    notes = [f"{count} of {len(SEEDS)} splits: {', '.join(at for n, at in counts if n == count)}." for count in kinds]
    return "".join(f"\n{line}" for line in notes)


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
    """Make the highest bold; several if they are equal after rounding."""
    best = max((float(text.rstrip("*")) for text in texts if text), default=None)
    bold = [text is not None and float(text.rstrip("*")) == best for text in texts]
    return [f"**{text}**" if best_one else text or NONE for text, best_one in zip(texts, bold, strict=True)]


def _behind(summary: Summary) -> str:
    """List where binfm trails the best of the others by more than CLOSE points."""
    if summary.systems[:1] != [COMPETITORS[0]]:
        return ""
    rows = [row for data in summary.sets for budget in BUDGETS if (row := _behind_row(summary, data, budget))]
    head = ["data", "bytes ≤", "binfm", "best", "by", "system"]
    return "\n".join([f"## Where binfm trails by more than {CLOSE} points", "", _table(head, rows), ""])


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
    head = ["data", MAJORITY.label, REFERENCE.label, "packed, bytes", "text file, bytes"]
    return "\n".join(["## Without a limit", "", _table(head, rows), ""])


def _counted(summary: Summary) -> str:
    versions = {entry.system: f"{entry.version}, {entry.date}" for entry in summary.store.entries.values()}
    shown = [system for system in (*COMPETITORS, REFERENCE) if system.name in versions]
    lines = [f"* {s.label} ({s.package} {versions[s.name]}). {s.counted}" for s in shown]
    return "\n".join(["## How bytes are counted", "", *lines, ""])


def _budget_names() -> list[str]:
    return [f"{budget:,}" for budget in BUDGETS]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(table(head, rows))
