"""Fit one system on one split, and test it."""

from __future__ import annotations

import time
from datetime import date
from functools import lru_cache
from typing import Any

import machine
import numpy as np
from paper.store import Record
from probabilities import calibration_error
from sklearn.metrics import log_loss, r2_score

from defaults import sets
from defaults.sets import Split
from defaults.systems import SYSTEMS, System

WARM_UP = 200
"""Samples of a first fit, after which everything that a system loads is in memory."""
DIGITS = 6


def measure(data: str, seed: int, name: str, most: int) -> Record:
    """Return the figures of a system on a split, or why it failed."""
    system = SYSTEMS[name]
    try:
        part = sets.split(data, seed, most)
        _warm_up(name, part.classes is None)
        found = _measured(system, part)
    except Exception as error:  # a failing system must not end the run
        return {"failed": f"{type(error).__name__}: {error}"}
    made = {"version": system.version, "date": date.today().isoformat(), "cpu": machine.cpu()}
    return {**found, "samples": len(part.y), "features": part.X.shape[1], "classes": part.classes, **made}


def _measured(system: System, part: Split) -> Record:
    start = time.perf_counter()
    model = system.fit(part)
    seconds = round(time.perf_counter() - start, 4)
    figures = _r2(model, part) if part.classes is None else _class_figures(model, part)
    rounded = {name: round(value, DIGITS) for name, value in figures.items()}
    return {**rounded, "seconds": seconds, "bytes": system.bytes(model)}


def _r2(model: Any, part: Split) -> dict[str, float]:
    return {"r2": float(r2_score(part.y_test, model.predict(part.X_test)))}


def _class_figures(model: Any, part: Split) -> dict[str, float]:
    probabilities = np.asarray(model.predict_proba(part.X_test), np.float64)
    probabilities /= probabilities.sum(axis=1, keepdims=True)  # single precision is a little off
    return {
        "accuracy": 100 * float(np.mean(model.predict(part.X_test) == part.y_test)),
        "log_loss": float(log_loss(part.y_test, probabilities, labels=np.arange(part.classes or 0))),
        "calibration": calibration_error(probabilities, part.y_test),
    }


@lru_cache
def _warm_up(name: str, regression: bool) -> None:
    X = np.random.default_rng(0).normal(size=(WARM_UP, 2)).astype(np.float32)
    y = X.sum(axis=1) if regression else (X.sum(axis=1) > 0).astype(np.int64)
    SYSTEMS[name].fit(Split(X, y, X, y, (), None if regression else 2))
