"""Train the golden models: write the files that are not there yet, and the hashes of all.

A file of a released version is never made again: later versions have to read it as it is.
"""

import hashlib
import json
import sys
from importlib.metadata import version
from pathlib import Path

import binfm
import numpy as np
from cases import CASES, FILES, rows, table

HERE = Path(__file__).parent


def line(values, scores):
    """Return a row and its scores as text from which float32 and float64 come back exactly."""
    return "\t".join([*(str(value) for value in values), "", *(repr(float(score)) for score in scores)])


def write(folder, name, model):
    values = rows(model)
    scores = np.reshape(model.decision_function(table(model, values)), (len(values), -1))
    lines = [line(*pair) for pair in zip(values, scores, strict=True)]
    (folder / f"{name}.binfm").write_bytes(model.to_bytes())
    (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="ascii")


def main():
    folder = HERE / version("binfm")
    folder.mkdir(exist_ok=True)
    models = {name: train() for name, train in CASES.items()}
    for name in FILES:
        if not (folder / f"{name}.binfm").exists() or "--again" in sys.argv:
            write(folder, name, models[name])
    hashes = {name: hashlib.sha256(model.to_bytes()).hexdigest() for name, model in models.items()}
    (HERE / "hashes.json").write_text(json.dumps(hashes, indent=1) + "\n", encoding="ascii")
    print(f"{folder}: {len(FILES)} models; binfm {binfm.__version__}")


if __name__ == "__main__":
    main()
