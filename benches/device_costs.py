"""Fit the costs in binfm/export/devices.py to the counts of emulators and print them: `python benches/device_costs.py`.

Optional arguments: names of the targets to fit.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

import numpy as np
from binfm import Model
from binfm.export import devices
from scipy.optimize import nnls

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "c"))
import blobs
from blobs import Feature, File
from machines import TARGETS, Job

FILES = 80
SAMPLES = 5
MAX_BITS = 40_000
"""The capacity of the smallest target."""


def main() -> None:
    for name, target in ((n, TARGETS[n]) for n in sys.argv[1:] or TARGETS):
        rng = np.random.default_rng(0)
        files = [_file(rng) for _ in range(FILES)]
        jobs = [Job(file.blob(rng), _samples(rng, file), check=False) for file in files]
        with tempfile.TemporaryDirectory() as folder:
            _, counts = target.run(Path(folder), jobs, count=True)
        steps = np.array([np.mean([count.steps for count in counted]) for counted in counts])
        words = devices.TARGETS[name].word_bits
        parts = np.array([astuple(devices.count_parts(Model.from_bytes(job.blob), words)) for job in jobs])
        costs, _ = nnls(parts / steps[:, None], np.ones(len(steps)))
        worst = np.max(np.abs(parts @ costs / steps - 1))
        print(name, f"worst error {worst:.1%}:", f"Costs({', '.join(f'{cost:.3g}' for cost in costs)})")
        assert len(costs) == len(fields(devices.Costs))


def _file(rng: np.random.Generator) -> File:
    """Return a file of a typical shape for devices: up to 35 features and 32 factors."""
    tilings, outputs = int(rng.choice([1, 2, 4])), int(rng.choice([1, 1, 3, 10]))
    m = int(rng.choice([2, 4, 5, 8, 12, 16, 24, 32]))
    w_bits = int(rng.choice([1, 1, 1, 4]))
    features: list[Feature] = []
    for _ in range(int(rng.integers(3, 36))):
        features.append(_feature(rng, tilings))
        if sum(f.rows(tilings) for f in features) * outputs * (w_bits + m) > MAX_BITS:
            features.pop()
    shifts = (int(rng.integers(0, 9)), 0, int(rng.integers(0, 4)))
    scales = blobs.random_scales(rng, outputs)
    return File(tuple(features), m, outputs, tilings, w_bits=w_bits, scales=scales, shifts=shifts)


def _feature(rng: np.random.Generator, tilings: int) -> Feature:
    which, n = rng.random(), int(rng.integers(2, 28))
    copies = tilings > 1
    if which < 0.2:
        return Feature(blobs.UNUSED)
    if which < 0.8:
        edges = blobs.random_edges(rng, n, int(rng.choice([1, 1, 1, 1, 2, 2, 3, 4])))
        return Feature(blobs.NUMERIC, edges, copies and bool(rng.random() < 0.3))
    if which < 0.88:
        return Feature(blobs.WHOLE, tuple(range(n)), copies)
    if which < 0.95:
        return blobs.whole_feature(rng, n, copies, False)
    return Feature(blobs.TEXT, tuple(f"t{i:02}" for i in range(n)), copies)


def _samples(rng: np.random.Generator, file: File) -> Any:
    """Return samples without missing values, in which all cells are equally likely."""
    return np.column_stack([rng.choice(_values(feature), SAMPLES) for feature in file.features]).astype(np.float32)


def _values(feature: Feature) -> Any:
    if feature.kind == blobs.NUMERIC:
        return np.array([-np.inf, *map(blobs.number, feature.entries)], np.float32)
    return np.array(range(len(feature.entries)) if feature.kind == blobs.TEXT else feature.entries or [0], np.float64)


if __name__ == "__main__":
    main()
