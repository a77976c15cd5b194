"""What a few hundred bytes can learn: ``python -m binfm.demo`` prints a table and draws ``demo.png``."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import binfm
from binfm._text import table

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

SAMPLES = 3_000
"""Samples of a data set, training and test together."""
TRAIN_SHARE = 0.7
TINY = {"m": 4, "b": 16}
"""Parameters of the small model next to the default one."""
SCORED_SAMPLES = 1_000_000
"""Samples scored to measure the time; enough to keep all cores busy."""

FIGURE_FILE = "demo.png"
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
"""The colors of Okabe and Ito, safe for the color-blind."""
MARKERS = "os^D"
RESOLUTION = 400
"""Pixels along a side of a panel."""
POINTS = 300
"""Test samples drawn in a panel; more would hide the regions."""


@dataclass(frozen=True)
class Split:
    """A data set, split into training and test part."""

    name: str
    X: Floats
    y: Ints
    X_test: Floats
    y_test: Ints


@dataclass(frozen=True)
class Result:
    """A model and what was measured on the test part."""

    split: Split
    label: str
    model: binfm.Model
    accuracy: float
    training_ms: float
    million_per_second: float


def circles(rng: np.random.Generator) -> tuple[NDArray[Any], Ints]:
    """Return a noisy circle around another of half its radius."""
    y = rng.integers(2, size=SAMPLES)
    angle = rng.uniform(0, 2 * np.pi, SAMPLES)
    return _polar(np.where(y == 0, 1.0, 0.5), angle) + rng.normal(0, 0.1, (SAMPLES, 2)), y


def moons(rng: np.random.Generator) -> tuple[NDArray[Any], Ints]:
    """Return two interleaved half circles."""
    y = rng.integers(2, size=SAMPLES)
    upper = _polar(1.0, rng.uniform(0, np.pi, SAMPLES))
    X = np.where(y[:, None] == 0, upper, [1.0, 0.5] - upper)
    return X + rng.normal(0, 0.15, (SAMPLES, 2)), y


def banana(rng: np.random.Generator) -> tuple[NDArray[Any], Ints]:
    """Return a crescent between a blob and a wider crescent that overlap it."""
    y = rng.integers(2, size=SAMPLES)
    outer = rng.random(SAMPLES) < 0.6
    radius = np.select([y == 0, outer], [1.2, 2.1], 0.2)
    angle = rng.uniform(0.1, 1.2, SAMPLES) * np.pi
    return _polar(radius, angle) + rng.normal(0, 0.28, (SAMPLES, 2)), y


def pinwheel(rng: np.random.Generator) -> tuple[NDArray[Any], Ints]:
    """Return four spiral arms, one class each."""
    y = rng.integers(4, size=SAMPLES)
    radius = rng.uniform(0.15, 2.0, SAMPLES)
    angle = y * np.pi / 2 + 1.1 * radius + rng.normal(0, 0.16, SAMPLES)
    return _polar(radius, angle) + rng.normal(0, 0.05, (SAMPLES, 2)), y


def main() -> None:
    """Train, print the table, draw the figure."""
    results = [result for split in _splits() for result in _measure(split)]
    print(_table(results))
    print()
    _draw([result for result in results if result.label == "default"])


def _polar(radius: NDArray[Any] | float, angle: NDArray[Any]) -> NDArray[Any]:
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def _splits() -> list[Split]:
    rng = np.random.default_rng(0)
    cut = int(SAMPLES * TRAIN_SHARE)
    splits = []
    for make in (circles, moons, banana, pinwheel):
        X, y = make(rng)
        X = X.astype(np.float32)
        splits.append(Split(make.__name__, X[:cut], y[:cut], X[cut:], y[cut:]))
    return splits


def _measure(split: Split) -> list[Result]:
    tiny = ", ".join(f"{name}={value}" for name, value in TINY.items())
    return [_result(split, "default", {}), _result(split, tiny, TINY)]


def _result(split: Split, label: str, parameters: dict[str, Any]) -> Result:
    start = time.perf_counter()
    model = binfm.train(split.X, split.y, **parameters)
    training_ms = 1e3 * (time.perf_counter() - start)
    accuracy = float(np.mean(model.predict(split.X_test) == split.y_test))
    return Result(split, label, model, accuracy, training_ms, _speed(model, split.X))


def _speed(model: binfm.Model, X: Floats) -> float:
    """Return millions of samples scored per second, the best of three runs."""
    many = np.resize(X, (SCORED_SAMPLES, X.shape[1]))
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        model.decision_function(many)
        seconds.append(time.perf_counter() - start)
    return SCORED_SAMPLES / min(seconds) / 1e6


def _table(results: list[Result]) -> str:
    head = ("data", "model", "accuracy %", "bytes", "training ms", "million rows/s")
    body = [
        (
            r.split.name,
            r.label,
            f"{100 * r.accuracy:.1f}",
            f"{r.model.nbytes:,}",
            f"{r.training_ms:.0f}",
            f"{r.million_per_second:.1f}",
        )
        for r in results
    ]
    return table(head, body, left=2)


def _draw(results: list[Result]) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("For the figure, install matplotlib: pip install 'binfm[plot]'")
        return
    figure = Figure(figsize=(14, 4), layout="constrained", facecolor="white")
    for axes, result in zip(figure.subplots(1, len(results)), results, strict=True):
        _panel(axes, result)
    figure.savefig(FIGURE_FILE, dpi=150)
    print(f"Decision regions and test points: {FIGURE_FILE}")


def _panel(axes: Any, result: Result) -> None:
    X, y = result.split.X_test[:POINTS], result.split.y_test[:POINTS]
    extent = _extent(X)
    axes.imshow(_regions(result.model, extent), extent=extent, origin="lower", aspect="auto")
    for k, color in enumerate(PALETTE[: int(y.max()) + 1]):
        points = X[y == k]
        axes.scatter(*points.T, s=16, c=color, marker=MARKERS[k], edgecolors="white", linewidths=0.5)
    title = f"{100 * result.accuracy:.1f} % with {result.model.nbytes:,} bytes"
    axes.set_title(f"{result.split.name}\n", fontsize=14, fontweight="bold")
    axes.text(0.5, 1.03, title, transform=axes.transAxes, ha="center", fontsize=12, color="#444444")
    axes.set(xticks=[], yticks=[], xlim=extent[:2], ylim=extent[2:])
    for side in axes.spines.values():
        side.set_visible(False)


def _extent(X: Floats) -> tuple[float, float, float, float]:
    """Return left, right, bottom and top of the points, with a margin."""
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.05 * (high - low)
    (left, bottom), (right, top) = low - margin, high + margin
    return float(left), float(right), float(bottom), float(top)


def _regions(model: binfm.Model, extent: tuple[float, float, float, float]) -> NDArray[Any]:
    """Return an image of the predicted classes: the surer the model, the more saturated the color."""
    left, right, bottom, top = extent
    x, y = np.meshgrid(np.linspace(left, right, RESOLUTION), np.linspace(bottom, top, RESOLUTION))
    chance = model.predict_proba(np.column_stack([x.ravel(), y.ravel()]))
    classes = chance.shape[1]
    sure = (chance.max(axis=1, keepdims=True) - 1 / classes) / (1 - 1 / classes)
    colors = np.array([_rgb(color) for color in PALETTE])[chance.argmax(axis=1)]
    strength = 0.12 + 0.33 * sure
    picture: NDArray[Any] = 1 - strength * (1 - colors)
    return picture.reshape(RESOLUTION, RESOLUTION, 3)


def _rgb(color: str) -> list[float]:
    return [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]


if __name__ == "__main__":
    main()
