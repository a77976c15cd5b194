"""Train the golden models: write missing files of this version, and the hashes of all models.

Files of a released version must never change, because later versions have to read them. Before a release, `--again`
overwrites the files of this version.
"""

import hashlib
import json
import sys
from importlib.metadata import version
from pathlib import Path

import binfm
import numpy as np
from cases import CASES, FILES, samples, table

HERE = Path(__file__).parent


def format_line(values, scores):
    """Return a sample and its scores as text that parses back to exactly the same float32 and float64."""
    return "\t".join([*(str(value) for value in values), "", *(repr(float(score)) for score in scores)])


def write(folder, name, model):
    """Write a model file, and next to it samples with their scores."""
    X = samples(model)
    scores = np.reshape(model.decision_function(table(model, X)), (len(X), -1))
    lines = [format_line(*pair) for pair in zip(X, scores, strict=True)]
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
