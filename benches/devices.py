"""Flash, stack and time of models on small processors, next to emlearn's: `make -C benches device-report`.

Flash comes from `size`, stack from the compiler's call graph (on AVR, from the simulator). Time is the cycles (AVR) or
instructions of one prediction, counted by the emulators of tests/c. ijcnn1 has 22 features; pendigits has 16 features
and ten classes; both are read from the folder named by BINFM_DATA. Settings are chosen on the training part only;
accuracy is measured on the test part.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import binfm
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests" / "c"))
import measure  # noqa: E402
from machines import FIRMWARE, TARGETS, Job, Target, run  # noqa: E402

SAMPLES = 20
"""Test samples scored on the emulators."""
CLOCK = 16e6
"""Clock of an Arduino Uno in hertz."""
BUDGETS = (2048, 4096)
FOREST_FLASH = {"avr": 28_000, "cortex-m0": 250_000, "cortex-m3": 250_000, "riscv32": 250_000}
"""Bytes of flash available to a forest: an ATmega328P has 32 KB, the smallest Cortex-M board 256 KB."""
HEAD = ("model", "accuracy %", "processor", "runtime", "model", "flash", "stack", "prediction", "worst", "at 16 MHz")
Split = tuple[Any, Any, Any, Any]


@dataclass(frozen=True)
class Measured:
    """A model on a processor. `runtime` is the code linked to predict; `check` is what `binfm_check` adds."""

    name: str
    accuracy: float
    target: str
    runtime: int
    check: int
    model: int
    stack: int = 0
    unit: str = ""
    """Unit of time; empty if the model does not fit."""
    mean: float = 0.0
    worst: int = 0
    agreement: float = 0.0
    """Percentage of samples for which the device and Python predict the same class."""

    @property
    def flash(self) -> int:
        return self.runtime + self.model

    def cells(self) -> tuple[str, ...]:
        return (
            self.name,
            f"{self.accuracy:.2f}",
            self.target,
            f"{self.runtime:,}" if self.runtime else "",
            f"{self.model:,}",
            f"{self.flash:,}",
            *(self._time() if self.unit else ("", "does not fit", "", "")),
        )

    def _time(self) -> tuple[str, ...]:
        milliseconds = f"{1e3 * self.mean / CLOCK:.2f} ms" if self.unit == "cycles" else ""
        return f"{self.stack:,}", f"{self.mean:,.0f} {self.unit}", f"{self.worst:,}", milliseconds


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        lines = []
        print(_row(HEAD), _row(("---",) * len(HEAD)), sep="\n")
        for line in _measure_all(Path(folder)):
            cells = line.cells() if isinstance(line, Measured) else (line, *[""] * (len(HEAD) - 1))
            print(_row(cells), flush=True)
            lines.append((line, cells))
    _write([line for line, _ in lines if isinstance(line, Measured)], [cells for _, cells in lines])


def _measure_all(folder: Path) -> Iterator[Measured | str]:
    for name, work in (("ijcnn1", _binary), ("pendigits", _digits)):
        split = load(name)
        if split is None:
            yield f"{name}: not found in BINFM_DATA"
        else:
            yield from work(split, folder)


def load(name: str) -> Split | None:
    """Return the training and test parts of a data set, or None if it is missing."""
    path = Path(os.environ.get("BINFM_DATA", "")) / f"{name}.npz"
    if "BINFM_DATA" not in os.environ or not path.exists():
        return None
    with np.load(path) as file:
        X, y, test = file["X"], file["y"], file["split"] == 1
    return X[~test], y[~test], X[test], y[test]


def _binary(split: Split, folder: Path) -> Iterator[Measured]:
    X, y, X_test, y_test = split
    for tilings in (1, 4):
        model = binfm.train(X, y, m=16, b=20, tilings=tilings, regularization=0)
        name = f"ijcnn1, binfm m=16 b=20 tilings={tilings}"
        yield from _models(name, model, X_test, y_test, folder)
    integers = tuple(np.round(1000 * part).astype(np.int16) for part in (X, X_test))
    yield from _forests("ijcnn1", (integers[0], y > 0, integers[1], y_test > 0), folder)


def _digits(split: Split, folder: Path) -> Iterator[Measured]:
    X, y, X_test, y_test = split
    for budget in BUDGETS:
        model = binfm.train(X, y, max_bytes=budget)
        b = max(feature.cells + model.tilings - 1 for feature in model.features)
        name = f"pendigits, binfm ≤ {budget:,} bytes: m={model.m} b={b} tilings={model.tilings}"
        yield from _models(name, model, X_test, y_test, folder)
    yield from _forests("pendigits", (X.astype(np.int16), y, X_test.astype(np.int16), y_test), folder)


# binfm


def _models(name: str, model: binfm.Model, X: Any, y: Any, folder: Path) -> Iterator[Measured]:
    labels = model.predict(X)
    accuracy = 100 * float(np.mean(labels == y))
    job = Job(model.to_bytes(), X[:SAMPLES].astype(np.float32), check=False)
    for target in TARGETS.values():
        (result,), (counts,) = target.run(folder, [job], count=True)
        steps = [count.steps for count in counts]
        predict = measure.flash(target, folder)
        classes = model.classes
        assert classes is not None
        yield Measured(
            name=name,
            accuracy=accuracy,
            target=target.name,
            runtime=predict,
            check=measure.flash(target, folder, "-DCHECK") - predict,
            model=model.nbytes,
            stack=_stack(target, folder, "predict", counts),
            unit=_unit(target),
            mean=float(np.mean(steps)),
            worst=max(steps),
            agreement=100 * float(np.mean(classes[list(result.labels)] == labels[:SAMPLES])),
        )


def _stack(target: Target, folder: Path, function: str, counts: list[Any], **kwargs: Any) -> int:
    if target.name == "avr":
        return max(count.stack for count in counts)
    return measure.stack(target, folder, function, **kwargs)


def _unit(target: Target) -> str:
    return "cycles" if target.name == "avr" else "instructions"


# emlearn


def _forests(name: str, split: Split, folder: Path) -> Iterator[Measured]:
    """Yield forests with the flash budget of each binfm model on a Cortex-M0, and one of ten fully grown trees."""
    runtime = measure.flash(TARGETS["cortex-m0"], folder)
    budgets = BUDGETS if name == "pendigits" else (2048,)
    for budget in budgets:
        forest = _fitting_forest(split, runtime + budget, folder)
        yield from _forest(f"{name}, {_describe(forest)}", forest, split, folder)
    forest = RandomForestClassifier(10, random_state=0).fit(*split[:2])
    yield from _forest(f"{name}, emlearn, 10 fully grown trees", forest, split, folder)


def _describe(forest: Any) -> str:
    return f"emlearn, {forest.n_estimators} trees of {forest.max_leaf_nodes} leaves"


def _fitting_forest(split: Split, flash: int, folder: Path) -> Any:
    """Select the forest within a flash budget by its accuracy on a held-out third, and train it on all samples."""
    X_fit, X_held, y_fit, y_held = train_test_split(*split[:2], test_size=1 / 3, stratify=split[1], random_state=0)
    scores = {}
    for trees in (1, 2, 3, 5, 7, 10, 15, 20, 30):
        for leaves in (4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192):
            if trees * leaves <= flash / 6:  # a leaf takes at least 6 bytes
                forest = RandomForestClassifier(trees, max_leaf_nodes=leaves, random_state=0).fit(X_fit, y_fit)
                _export(forest, folder)
                scores[trees, leaves] = _exported_accuracy(forest, X_held, y_held, folder)
    for trees, leaves in sorted(scores, key=lambda key: -scores[key]):
        forest = RandomForestClassifier(trees, max_leaf_nodes=leaves, random_state=0).fit(*split[:2])
        _export(forest, folder)
        if _forest_flash(TARGETS["cortex-m0"], folder) <= flash:
            return forest
    raise ValueError("no forest fits")


def _export(forest: Any, folder: Path) -> None:
    """Export the forest with emlearn's defaults."""
    import emlearn

    code = emlearn.convert(forest).save(name="forest", include_proba=False)
    (folder / "forest.h").write_text(f"#define FEATURES {forest.n_features_in_}\n{MEMSET}\n{code}\n")
    program = '#include "forest.h"\nint32_t program(const int16_t *x);\n'
    program += "int32_t program(const int16_t *x) { return forest_predict(x, FEATURES); }\n"
    (folder / "program.c").write_text(program)


def _forest_flash(target: Target, folder: Path) -> int:
    return measure.flash(target, folder, f"-I{folder}", *QUIET, source=folder / "program.c")


MEMSET = """#include <stddef.h>
__attribute__((noinline, weak)) void *memset(void *at, int value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) { ((volatile unsigned char *)at)[i] = (unsigned char)value; }
    return at;
}"""
"""gcc calls memset to clear the votes, and bare machines have no C library."""
QUIET = ("-Wno-error", "-w")
"""Code generated by emlearn has unused arguments."""


def _forest(name: str, forest: Any, split: Split, folder: Path) -> Iterator[Measured]:
    """Yield a forest on each processor; if it does not fit, only its size."""
    _, _, X, y = split
    _export(forest, folder)
    labels = forest.predict(X)
    for target in TARGETS.values():
        flash = _forest_flash(target, folder)
        accuracy = 100 * _exported_accuracy(forest, X, y, folder)
        if flash > FOREST_FLASH[target.name]:
            yield Measured(name, accuracy, target.name, runtime=0, check=0, model=flash)
            continue
        counts, predicted = _run_forest(target, X[:SAMPLES], folder)
        steps = [count.steps for count in counts]
        stack = _stack(target, folder, "program", counts, source=folder / "program.c", options=[f"-I{folder}", *QUIET])
        yield Measured(
            name,
            accuracy,
            target.name,
            runtime=0,
            check=0,
            model=flash,
            stack=stack,
            unit=_unit(target),
            mean=float(np.mean(steps)),
            worst=max(steps),
            agreement=100 * float(np.mean(forest.classes_[list(predicted)] == labels[:SAMPLES])),
        )


def _run_forest(target: Target, X: Any, folder: Path) -> tuple[list[Any], bytes]:
    machine = "avr.c" if target.name == "avr" else "semihosting.c"
    sources = [HERE / "forest.c", FIRMWARE / machine]
    elf = target.compile(folder, sources, "forest.elf", f"-I{folder}", f"-I{FIRMWARE}", *QUIET)
    (folder / "input").write_bytes(struct.pack("<H", len(X)) + X.astype("<i2").tobytes())
    (folder / "output").write_bytes(b"")
    return target.emulate(folder, elf, True), (folder / "output").read_bytes()


def _exported_accuracy(forest: Any, X: Any, y: Any, folder: Path) -> float:
    """Return the accuracy of the exported code, which may differ from the Python model's."""
    host = folder / "forest_host"
    run(["gcc", "-O1", f"-I{folder}", f"-I{FIRMWARE}", *QUIET, HERE / "forest.c", FIRMWARE / "host.c", "-o", host])
    chunks = [X[at : at + 60_000] for at in range(0, len(X), 60_000)]
    predicted = b"".join(run([host], input=struct.pack("<H", len(c)) + c.astype("<i2").tobytes()) for c in chunks)
    return float(np.mean(forest.classes_[np.frombuffer(predicted, np.uint8)] == y))


# Results page


def _write(measured: list[Measured], rows: list[tuple[str, ...]]) -> None:
    made = {
        "date": date.today().isoformat(),
        **{package: version(package) for package in ("binfm", "emlearn", "scikit-learn")},
        **{target.name: run([target.compiler, "--version"]).decode().split("\n")[0] for target in TARGETS.values()},
    }
    results = [asdict(m) | {"flash": m.flash} for m in measured]
    folder = HERE / "results"
    folder.mkdir(exist_ok=True)
    (folder / "devices.json").write_text(json.dumps({"made": made, "results": results}, indent=1) + "\n")
    (folder / "devices.md").write_text(_page(made, measured, rows))


def _page(made: dict[str, str], measured: list[Measured], rows: list[tuple[str, ...]]) -> str:
    checks = {m.target: m.check for m in measured if m.check}
    lines = [
        "# Models on small processors",
        "",
        f"Written by `make -C benches device-report` on {made['date']}. Compiled with `-Os`. Flash and stack are in",
        f"bytes; times are the mean and worst of {SAMPLES} test samples. `runtime` is the code linked to predict;",
        "`binfm_check` adds",
        ", ".join(f"{size:,} bytes ({target})" for target, size in checks.items()) + ".",
        "",
        "emlearn compiles a forest to code, so it has no separate runtime. Its accuracy is that of the exported code.",
        "Forests with a limited number of leaves had the most accurate exported code on held-out samples among those",
        "that take no more flash on a Cortex-M0 than a binfm model of 2,048 or 4,096 bytes with its runtime.",
        "",
        _row(HEAD),
        _row(("---", "---:", "---", *["---:"] * (len(HEAD) - 3))),
        *map(_row, rows),
        "",
        "; ".join(f"{what}: {which}" for what, which in made.items() if what != "date"),
    ]
    return "\n".join(lines) + "\n"


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
