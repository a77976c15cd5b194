"""Calibration of probabilities, and accuracy with rare categories: `make -C benches probabilities`.

Calibration: expected calibration error of the most likely class (15 equal-width bins), compared with LightGBM (100
trees of 31 leaves), over three random 70/30 splits. Rare categories: area under the ROC curve on nycflights_delay,
which has eight categorical columns with 8,033 categories in all, on one 70/30 split; early stopping holds out a tenth
of the training samples.
"""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import binfm
import datasets
import lightgbm
import machine
import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

CALIBRATED = ("banana", "magic", "phoneme", "spambase", "ringnorm", "segment", "satimage", "pendigits")
SEEDS = range(3)
BINS = 15
CATEGORIES = "nycflights_delay"
SETTINGS: tuple[dict[str, Any], ...] = (
    {"m": 16, "tilings": 1},
    {"m": 4, "tilings": 4},
    {"m": 16, "tilings": 4, "min_count": 100, "learning_rate": 0.005},
)
RESULTS = Path(__file__).parent / "results"


def calibration_error(probabilities: NDArray[Any], truth: NDArray[Any]) -> float:
    confidence, correct = probabilities.max(axis=1), probabilities.argmax(axis=1) == truth
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = [abs(correct[bins == i].mean() - confidence[bins == i].mean()) * np.mean(bins == i) for i in np.unique(bins)]
    return float(np.sum(gaps))


def calibration(name: str) -> dict[str, Any] | None:
    table = datasets.load(name)
    if table is None:
        return None
    X, y = np.asarray(table[0], np.float32), np.unique(table[1], return_inverse=True)[1]
    errors: list[tuple[float, float]] = []
    for seed in SEEDS:
        X_train, X_test, y_train, y_test = datasets.split(X, y, seed)
        trees = lightgbm.LGBMClassifier(n_estimators=100, num_leaves=31, verbose=-1, n_jobs=1).fit(X_train, y_train)
        ours = binfm.train(X_train, y_train).predict_proba(X_test)
        theirs = trees.booster_.predict(X_test)
        theirs = np.stack([1 - theirs, theirs], axis=1) if theirs.ndim == 1 else theirs
        errors.append((calibration_error(ours, y_test), calibration_error(theirs, y_test)))
    binfm_error, lightgbm_error = np.mean(errors, axis=0).round(4).tolist()
    return {"data": name, "binfm": binfm_error, "lightgbm": lightgbm_error}


def categories() -> list[dict[str, Any]]:
    table = datasets.load(CATEGORIES)
    if table is None:
        return []
    X_train, X_test, y_train, y_test = datasets.split(*table, seed=0)
    columns = list(range(X_train.shape[1]))
    found = []
    for settings in SETTINGS:
        model = binfm.train(X_train, y_train, categorical=columns, early_stopping=True, **settings)
        auc = roc_auc_score(y_test, model.decision_function(X_test))
        found.append({**settings, "auc": round(auc, 4), "bytes": model.nbytes})
    return found


def page(calibrated: list[dict[str, Any]], rare: list[dict[str, Any]]) -> str:
    lines = [f"Measured {date.today()} on {machine.cpu()} by `make -C benches probabilities`.", ""]
    lines += ["| expected calibration error | binfm | LightGBM 100×31 |", "|---|---:|---:|"]
    lines += [f"| {row['data']} | {row['binfm']:.4f} | {row['lightgbm']:.4f} |" for row in calibrated]
    lines += ["", "| nycflights_delay | AUC | bytes |", "|---|---:|---:|"]
    for row in rare:
        settings = ", ".join(f"{name}={value}" for name, value in row.items() if name not in ("auc", "bytes"))
        lines.append(f"| {settings} | {row['auc']:.4f} | {row['bytes']:,} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    calibrated = [row for row in map(calibration, CALIBRATED) if row is not None]
    rare = categories()
    (RESULTS / "probabilities.json").write_text(json.dumps({"calibration": calibrated, "categories": rare}, indent=1))
    (RESULTS / "probabilities.md").write_text(page(calibrated, rare))


if __name__ == "__main__":
    main()
