"""Train the example model and write gesture.binfm and gesture.h into a folder.

A sample is six integers: the mean and range of each accelerometer axis over a second, in thousandths of g. There are
three gestures: still, tilted and shaken. The data are synthetic, so the examples need nothing but binfm.
"""

import sys
from pathlib import Path

import binfm
import numpy as np


def gestures(n_samples: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return samples and the names of their gestures."""
    rng = np.random.default_rng(seed)
    names = rng.choice(["still", "tilted", "shaken"], n_samples)
    tilt = np.where(names == "tilted", rng.uniform(0.4, 1.2, n_samples), rng.normal(0, 0.1, n_samples))
    swing = np.where(names == "shaken", rng.uniform(600, 3000, n_samples), rng.uniform(5, 120, n_samples))
    mean = 1000 * np.column_stack([np.sin(tilt), rng.normal(0, 0.1, n_samples), np.cos(tilt)])
    spread = swing[:, None] * rng.uniform(0.3, 1, (n_samples, 3))
    return np.column_stack([mean, spread]).round().astype(np.int16), names


def main(folder: str) -> None:
    """Train the model and write both files."""
    X, y = gestures(3000)
    model = binfm.train(X, y, m=4, b=10)
    model.save(Path(folder) / "gesture.binfm")
    model.export_c(Path(folder) / "gesture.h", name="gesture", runtime=True)
    print(model)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
