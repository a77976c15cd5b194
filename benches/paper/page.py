"""The page `benches/results/paper/README.md`."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from datetime import date
from importlib.metadata import version

import binfm
import machine

from paper import checks, tables
from paper.summary import Summary

PACKAGES = ("numpy", "scikit-learn", "jax", "optax", "modern-fm", "myfm")


def page(summary: Summary) -> str:
    return "\n".join(_parts(summary))


def made() -> dict[str, str]:
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
    yield "## What it shows\n"
    yield checks.reached(summary)
    yield checks.against_the_paper(summary)
    yield checks.speed(summary)
    yield "## Table 1\n"
    yield tables.memory_formulas(summary)
    yield "## Table 2\n"
    yield tables.accuracies(summary)
    yield tables.times(summary)
    yield tables.memory(summary)
    yield "## Table 3\n"
    yield tables.scaling(summary)
    yield "## Other people's FMs\n"
    yield tables.others(summary)
    yield "## Figures\n"
    for name in ("boundaries", "sparsity", "memory", "convergence"):
        yield f"![{name}]({name}.png)\n"


def _introduction(summary: Summary) -> str:
    return "# The paper, measured again\n"
