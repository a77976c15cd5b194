"""Accuracy with default parameters over five random 70/30 splits: `make -C benches accuracy`."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import binfm
import datasets
import machine
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

FLOORS = {
    "banana": 90.0,
    "breast_cancer10": 96.0,
    "breast_cancer": None,
    "segment": 97.3,
    "pendigits": 98.9,
    "ijcnn1": 96.7,
    "circles": 99.9,
    "moons": 99.7,
}
"""Data sets and the accuracy expected with four tilings. breast_cancer is breast_cancer10 without its id column."""
TILINGS = (4, 1)
SEEDS = range(5)

RESULTS = Path(__file__).parent / "results"
HEAD = ("data", "samples", "tilings", "accuracy %", "std", "expected", "", "boosted trees %", "s per fit", "bytes")


@dataclass(frozen=True)
class Measured:
    """Means over the splits; accuracies in percent, `bytes` is the size of the largest file.

    `trees` is the accuracy of scikit-learn's HistGradientBoostingClassifier with its defaults on the same splits.
    """

    data: str
    rows: int
    tilings: int
    accuracy: float
    deviation: float
    expected: float | None
    trees: float | None
    seconds: float
    bytes: int

    @property
    def verdict(self) -> str:
        if self.expected is None:
            return ""
        return "ok" if round(self.accuracy, 2) >= self.expected else "below"

    def cells(self) -> tuple[str, ...]:
        expected = "" if self.expected is None else f"≥ {self.expected:.1f}"
        return (
            self.data,
            f"{self.rows:,}",
            str(self.tilings),
            f"{self.accuracy:.2f}",
            f"{self.deviation:.2f}",
            expected,
            self.verdict,
            "" if self.trees is None else f"{self.trees:.2f}",
            f"{self.seconds:.2f}",
            f"{self.bytes:,}",
        )


def main() -> None:
    print(_row(HEAD), _row(("---",) * len(HEAD)), sep="\n")
    measured = []
    for line in _measure_all():
        cells = line.cells() if isinstance(line, Measured) else (line, "missing", *[""] * (len(HEAD) - 2))
        print(_row(cells), flush=True)
        measured.append((line, cells))
    _write([m for m, _ in measured if isinstance(m, Measured)], [cells for _, cells in measured])


def _measure_all() -> Iterator[Measured | str]:
    """Yield a result per data set and number of tilings, or the name of a missing data set."""
    for name, floor in FLOORS.items():
        table = datasets.load(name)
        if table is None:
            yield name
            continue
        for tilings in TILINGS:
            if tilings == 4:
                yield _measure(name, *table, tilings, floor, _trees(*table))
            else:
                yield _measure(name, *table, tilings, None, None)


def _measure(name: str, X: Any, y: Any, tilings: int, expected: float | None, trees: float | None) -> Measured:
    fits = [_fit(X, y, tilings, seed) for seed in SEEDS]
    accuracy, seconds, size = map(np.array, zip(*fits, strict=True))
    return Measured(
        data=name,
        rows=len(y),
        tilings=tilings,
        accuracy=100 * float(accuracy.mean()),
        deviation=100 * float(accuracy.std(ddof=1)),
        expected=expected,
        trees=trees,
        seconds=float(seconds.mean()),
        bytes=int(size.max()),
    )


def _trees(X: Any, y: Any) -> float:
    scores = []
    for seed in SEEDS:
        X_train, X_test, y_train, y_test = datasets.split(X, y, seed)
        trees = HistGradientBoostingClassifier(random_state=0).fit(X_train, y_train)
        scores.append(trees.score(X_test, y_test))
    return 100 * float(np.mean(scores))


def _fit(X: Any, y: Any, tilings: int, seed: int) -> tuple[float, float, int]:
    """Return accuracy, seconds and bytes of one split. The seed is for the split, not for training."""
    X_train, X_test, y_train, y_test = datasets.split(X, y, seed)
    start = time.perf_counter()
    model = binfm.train(X_train, y_train, tilings=tilings)
    seconds = time.perf_counter() - start
    return float(np.mean(model.predict(X_test) == y_test)), seconds, model.nbytes


def _write(measured: list[Measured], rows: list[tuple[str, ...]]) -> None:
    made = {
        "date": date.today().isoformat(),
        "cpu": machine.cpu(),
        "python": platform.python_version(),
        **{package: version(package) for package in ("binfm", "numpy", "scikit-learn")},
    }
    RESULTS.mkdir(exist_ok=True)
    results = [asdict(m) for m in measured]
    (RESULTS / "accuracy.json").write_text(json.dumps({"made": made, "results": results}, indent=1) + "\n")
    (RESULTS / "accuracy.md").write_text(_page(made, rows))


def _page(made: dict[str, str], rows: list[tuple[str, ...]]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in made.items() if name not in ("date", "cpu"))
    lines = [
        "# Accuracy with default parameters",
        "",
        f"Mean and standard deviation over {len(SEEDS)} stratified random 70/30 splits.",
        f"Written by `make -C benches accuracy` on {made['date']}: {made['cpu']}; {versions}.",
        "",
        _row(HEAD),
        _row(("---", *["---:"] * (len(HEAD) - 1))),
        *map(_row, rows),
    ]
    return "\n".join(lines) + "\n"


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
