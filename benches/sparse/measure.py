"""Fit one system on one data set, and test it."""

from __future__ import annotations

import resource
import time
from typing import Any

import numpy as np

from sparse.sets import load
from sparse.systems import SYSTEMS


def measure(name: str, system: str) -> dict[str, Any]:
    """Return the figures of a system, and the peak memory of this process."""
    part = load(name)
    assert part is not None
    start = time.perf_counter()
    score, size = SYSTEMS[system][1](part)
    seconds = time.perf_counter() - start
    scores = np.asarray(score(part.X_test), np.float64)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {**_figures(part.is_ratings, scores, part.y_test), "bytes": size, "seconds": seconds, "mb": peak}


def _figures(is_ratings: bool, scores: Any, y: Any) -> dict[str, float]:
    if is_ratings:
        return {"RMSE": float(np.sqrt(np.mean((scores - y) ** 2)))}
    from sklearn.metrics import roc_auc_score

    losses = np.logaddexp(0, -np.where(y, 1, -1) * scores)
    return {"AUC": float(roc_auc_score(y, scores)), "log loss": float(np.mean(losses))}
