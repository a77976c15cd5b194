"""Choose settings by inexpensive cross-validation of the training part.

The full grid would be 100 candidates × 5 folds for each of 10 splits of 8 data sets. Instead, parameters are chosen one
after another with the others fixed; candidates race over the folds, and one that is clearly worse than the best so far
drops out; and the number of samples is limited.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split

from paper.data import Codes

Settings = dict[str, Any]
Hits = NDArray[np.bool_]
"""Which held-out samples a candidate classified correctly."""

CLEARLY = 1.0
"""Standard errors of the paired difference."""


@dataclass(frozen=True)
class Chosen:
    settings: Settings
    validated: float
    """Mean accuracy over the folds."""
    fits: int


def choose(
    grid: dict[str, Sequence[Any]], start: Settings, folds: int, hits: Callable[[Settings, int], Hits]
) -> Chosen:
    """Choose the parameters of `grid` one after another; `hits(settings, fold)` fits and evaluates one candidate."""
    known: dict[tuple[str, int], Hits] = {}

    def remembered(settings: Settings, fold: int) -> Hits:
        key = repr(sorted(settings.items())), fold
        if key not in known:
            known[key] = hits(settings, fold)
        return known[key]

    settings, validated = start, float("nan")
    for name, values in grid.items():
        candidates = [{**settings, name: value} for value in values]
        settings, validated = race(candidates, folds, remembered)
    return Chosen(settings, validated, len(known))


def race(candidates: Sequence[Settings], folds: int, hits: Callable[[Settings, int], Hits]) -> tuple[Settings, float]:
    """Return the best candidate and its accuracy, the first one if several tie."""
    running = {index: np.empty(0, bool) for index in range(len(candidates))}
    for fold in range(folds):
        running = {i: np.append(seen, hits(candidates[i], fold)) for i, seen in running.items()}
        best = running[_best(running)]
        running = {i: seen for i, seen in running.items() if not clearly_worse(seen, best)}
    winner = _best(running)
    return candidates[winner], float(running[winner].mean())


def clearly_worse(hits: Hits, best: Hits) -> bool:
    """Return whether the samples on which the two differ show that `hits` is worse, beyond chance."""
    difference = best.astype(int) - hits
    return bool(difference.sum() > CLEARLY * np.sqrt(np.abs(difference).sum()))


def folds_of(
    X: NDArray[Any], y: Codes, limit: int, folds: int, seed: int
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return the indices to fit and to validate on for each fold, using at most `limit` samples in all."""
    used = np.arange(len(y))
    if len(used) > limit:
        used = train_test_split(used, train_size=limit, stratify=y, random_state=seed)[0]
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    return [(used[fitted], used[held]) for fitted, held in splitter.split(used, y[used])]


def _best(running: dict[int, Hits]) -> int:
    return max(running, key=lambda index: (running[index].mean(), -index))
