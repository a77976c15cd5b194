"""Train the model of the examples and write it as gesture.binfm and gesture.h into a folder.

Six whole numbers a row: mean and range of the three axes of an accelerometer over a second, in thousandths of g. Three
gestures: lying still, tilted, shaken. The data are made up, so that the examples need nothing but binfm.
"""

import sys
from pathlib import Path

import binfm
import numpy as np


def gestures(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and the names of their gestures."""
    rng = np.random.default_rng(seed)
    names = rng.choice(["still", "tilted", "shaken"], rows)
    tilt = np.where(names == "tilted", rng.uniform(0.4, 1.2, rows), rng.normal(0, 0.1, rows))
    swing = np.where(names == "shaken", rng.uniform(600, 3000, rows), rng.uniform(5, 120, rows))
    mean = 1000 * np.column_stack([np.sin(tilt), rng.normal(0, 0.1, rows), np.cos(tilt)])
    spread = swing[:, None] * rng.uniform(0.3, 1, (rows, 3))
    return np.column_stack([mean, spread]).round().astype(np.int16), names


def main(folder: str) -> None:
    """Write the model."""
    X, y = gestures(3000)
    model = binfm.train(X, y, m=4, b=10)
    model.save(Path(folder) / "gesture.binfm")
    model.export_c(Path(folder) / "gesture.h", name="gesture", runtime=True)
    print(model)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
