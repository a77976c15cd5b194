"""Accuracy by m, b and tilings, varied one at a time: `make -C benches settings`. docs/choosing.md shows the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import binfm
import datasets
import machine
import numpy as np

SETS = ("phoneme", "magic", "spambase", "satimage", "pendigits")
SEEDS = range(5)
VARIED: dict[str, tuple[int, ...]] = {"m": (2, 4, 8, 16, 32, 64), "b": (8, 12, 20, 36, 64), "tilings": (1, 2, 4, 8)}
"""Values to try, with the other parameters at their defaults."""
PAGE = Path(__file__).parent / "results" / "settings.md"


def main() -> None:
    tables = {name: datasets.load(name) for name in SETS}
    found = {name: table for name, table in tables.items() if table is not None}
    lines = [f"| | {' | '.join(found)} |", f"|---|{'---:|' * len(found)}"]
    for name, values in VARIED.items():
        for value in values:
            cells = [_measure(*table, **{name: value}) for table in found.values()]
            lines.append(f"| {name} = {value} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    head = f"Accuracy in % and file size in bytes, means over {len(SEEDS)} stratified 70/30 splits. {machine.cpu()}."
    PAGE.write_text("\n".join(["# Accuracy by m, b and tilings", "", head, "", *lines]) + "\n")


def _measure(X: Any, y: Any, **settings: int) -> str:
    accuracy, size = [], []
    for seed in SEEDS:
        X_train, X_test, y_train, y_test = datasets.split(X, y, seed)
        model = binfm.train(X_train, y_train, regularization=0, **settings)
        accuracy.append(np.mean(model.predict(X_test) == y_test))
        size.append(model.nbytes)
    return f"{100 * np.mean(accuracy):.1f} ({np.mean(size):,.0f})"


if __name__ == "__main__":
    main()
