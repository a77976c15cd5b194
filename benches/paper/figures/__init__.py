"""The paper's figures, drawn by `write`."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

from paper.figures import boundaries, convergence, ladder, sparsity
from paper.figures.style import RC
from paper.summary import Summary

DRAWN = {"boundaries": boundaries, "sparsity": sparsity, "memory": ladder, "convergence": convergence}


def write(summary: Summary, folder: Path) -> None:
    with mpl.rc_context(RC):
        for name, module in DRAWN.items():
            module.draw(summary).savefig(folder / f"{name}.png")
