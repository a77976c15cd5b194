"""The page `benches/results/paper/README.md`."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from datetime import date
from importlib.metadata import version

import binfm
import machine

from paper import checks, prose, tables
from paper.plan import FULL
from paper.store import Record
from paper.summary import Summary
from paper.systems import LABELS

PACKAGES = ("numpy", "scikit-learn", "jax", "optax", "modern-fm", "myfm")
FIGURES = {
    "boundaries": "Decision boundaries on circles, moons and banana",
    "sparsity": "Share of samples in which a one-hot feature is zero, for banana, pendigits and ijcnn",
    "memory": "Accuracy against memory for FM, SEFM, DFM and Binarized FM",
    "convergence": "Training loss per epoch with Adagrad and SGD, on banana and ijcnn",
}


def page(summary: Summary) -> str:
    return "\n".join(_parts(summary))


def made() -> Record:
    """Return date, machine and versions of the run."""
    packages = {package: version(package) for package in PACKAGES}
    return {
        "date": date.today().isoformat(),
        "cpu": machine.cpu(),
        "python": platform.python_version(),
        "binfm": binfm.__version__,
        **packages,
    }


def _parts(summary: Summary) -> Iterator[str]:
    yield _introduction(summary)
    yield "## Summary\n"
    yield prose.REACHED
    yield checks.reached(summary)
    yield prose.AGAINST
    yield checks.against_the_paper(summary)
    yield prose.WHY
    yield tables.strengths(summary)
    yield tables.roundings(summary)
    yield "Prediction time, with all systems in the same run on one core:\n"
    yield checks.speed(summary)
    yield "## Table 1: memory\n"
    yield prose.TABLE_1
    yield tables.memory_formulas(summary)
    yield "## Table 2: accuracy, time and memory\n"
    yield prose.TABLE_2
    yield tables.accuracies(summary)
    yield prose.TIMES
    yield tables.times(summary)
    yield prose.MEMORY
    yield tables.memory(summary)
    yield "## Table 3: scaling\n"
    yield prose.TABLE_3
    yield tables.scaling(summary)
    yield "## Other FM implementations\n"
    yield prose.OTHERS.format(splits=summary.plan.few_splits)
    yield tables.others(summary)
    yield "## Figures\n"
    for name, title in FIGURES.items():
        yield f"![{title}]({name}.png)\n"
        yield prose.CAPTIONS[name]
    yield prose.PROTOCOL.format(
        splits=summary.plan.splits,
        folds=summary.plan.folds,
        samples=summary.plan.choice_samples,
        choice_epochs=summary.plan.choice_epochs,
        epochs=summary.plan.epochs,
        nfm_epochs=summary.plan.nfm_epochs,
        nfm_steps=summary.plan.nfm_steps,
    )


def _introduction(summary: Summary) -> str:
    made = summary.store.records["made"]
    packages = ", ".join(f"{name} {version}" for name, version in made.items() if name not in ("date", "cpu"))
    lines = [prose.INTRODUCTION, f"{made['date']}, {made['cpu']}, {packages}.\n"]
    if summary.plan.epochs != FULL.epochs:
        lines.append("**A smoke test with few splits of few samples: its figures mean nothing.**\n")
    if summary.plan.splits < FULL.splits:
        lines.append(
            f"**{summary.plan.splits} splits; the paper has {FULL.splits}. `make -C benches paper` adds the rest.**\n"
        )
    lines += [f"* {data}: missing. {prose.MISSING}" for data in summary.missing]
    lines += [f"* {LABELS[name]}: not available ({why})." for name, why in summary.unavailable.items()]
    lines += [f"* {data.name}: {data.source}." for data in summary.data.values()]
    return "\n".join([*lines, ""])
