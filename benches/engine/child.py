"""Train one build on one split: `python -m engine.child '{"data": "banana", …}'` prints JSON."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import binfm
import datasets
import numpy as np
from sklearn.metrics import log_loss

from engine.parts import parts

MISSING = {"missing": True}


def measure(data: str, seed: int, inside: bool, params: dict[str, Any]) -> dict[str, Any]:
    """Return test accuracy, log loss, fit seconds and bytes."""
    found = parts(data, seed, inside)
    if found is None:
        return MISSING
    columns = datasets.categorical(data)
    params = {"categorical": columns, **params} if columns else params
    start = time.perf_counter()
    model = binfm.train(found.X, found.y, **params)
    seconds = time.perf_counter() - start
    probabilities = model.predict_proba(found.X_test)
    return {
        "accuracy": float(np.mean(model.predict(found.X_test) == found.y_test)),
        "log_loss": float(log_loss(found.y_test, probabilities, labels=np.unique(found.y))),
        "seconds": round(seconds, 4),
        "bytes": model.nbytes,
    }


def main() -> None:
    arguments = json.loads(sys.argv[1])
    folder = Path(arguments.pop("folder"))
    if Path(binfm.__file__).parents[1].resolve() != folder.resolve():
        sys.exit(f"binfm must come from {folder}, got {binfm.__file__}")
    print(json.dumps(measure(**arguments)))


if __name__ == "__main__":
    main()
