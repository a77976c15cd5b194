"""The measurements: functions of plain names and numbers that return a record, so that any process can run them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paper.choice import Hits, Settings, choose, folds_of
from paper.data import Dataset, Split, load, split
from paper.plan import Plan
from paper.store import Record
from paper.systems import system
from paper.systems.base import FACTORS, outputs

DIGITS = 6
MIN_SAMPLES = 1_000
"""Minimum for cross-validation, regardless of the number of classes."""
PAUSE = 0.002
"""Seconds between two systems, so that the idle threads of the first stop spinning."""
PATIENCE = 10.0
"""Seconds after which a system that has run twice skips the remaining rounds."""
SIZED = {"b": 20, "m": 32, "regularization": 1.0}
"""Settings of Table 1."""
CONVERGENCE = {"b": 20, "m": 32}
CONVERGENCE_EPOCHS = 30
WEBSPAM = {"b": 30, "m": 128, "regularization": 1.0, "C": 1.0}
"""Settings implied by the paper's memory costs of webspam."""
WEBSPAM_SHAPE = (350_000, 254)
WEBSPAM_TRAINED = 5_000
"""Training samples; few are enough, because prediction time does not depend on what was learned."""


@lru_cache
def _data(name: str, most_rows: int | None) -> Dataset:
    found = load(name, most_rows)
    if found is None:
        raise FileNotFoundError(name)
    return found


def accuracy(data: str, name: str, seed: int, plan: Plan) -> Record:
    """Choose settings on the training part, fit, and score the test part once."""
    part = split(_data(data, plan.most_rows), seed)
    which = system(name)
    begin = time.perf_counter()
    chosen = choose(which.grid, which.start, plan.folds, _hits(name, part, seed, plan))
    middle = time.perf_counter()
    fitted = which.fit(chosen.settings, part.X, part.y, part.classes, seed, plan)
    end = time.perf_counter()
    return {
        "accuracy": round(100 * _score(fitted.predict, part), DIGITS),
        "settings": chosen.settings,
        "validated": round(100 * chosen.validated, DIGITS) if which.grid else None,
        "bytes": fitted.bytes,
        "bits": which.bits(chosen.settings, part.X.shape[1], part.classes) or 8 * fitted.bytes,
        "fits": chosen.fits,
        "choice_seconds": round(middle - begin, 3),
        "fit_seconds": round(end - middle, 3),
    }


def _hits(name: str, part: Split, seed: int, plan: Plan) -> Callable[[Settings, int], Hits]:
    """Return a function that evaluates a candidate on a fold of the training part."""
    folds = folds_of(part.X, part.y, max(MIN_SAMPLES, plan.choice_samples // outputs(part.classes)), plan.folds, seed)

    short = replace(plan, epochs=plan.choice_epochs)

    def hits(settings: Settings, fold: int) -> Hits:
        fitted, held = folds[fold]
        model = system(name).fit(settings, part.X[fitted], part.y[fitted], part.classes, seed, short)
        return np.asarray(model.predict(part.X[held]) == part.y[held])

    return hits


def times(data: str, settings: dict[str, Settings], plan: Plan) -> Record:
    """Fit every system with its settings on the first split and time its prediction of the test part, alternating."""
    part = split(_data(data, plan.most_rows), 0)
    fitted = {
        name: system(name).fit(chosen, part.X, part.y, part.classes, 0, plan) for name, chosen in settings.items()
    }
    return {"rows": len(part.y_test), **_alternate({n: f.predict for n, f in fitted.items()}, part.X_test, plan.rounds)}


def shape_times(names: list[str], plan: Plan) -> Record:
    """Like `times`, on synthetic data of webspam's shape."""
    rows, d = WEBSPAM_SHAPE if plan.most_rows is None else (plan.most_rows, WEBSPAM_SHAPE[1])
    rng = np.random.default_rng(0)
    X = rng.gamma(0.3, size=(rows * 3 // 10, d)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] > X[:, 2] * X[:, 3]).astype(np.int64)
    X_train, y_train = X[:WEBSPAM_TRAINED], y[:WEBSPAM_TRAINED]
    quick = replace(plan, epochs=2, nfm_epochs=2)
    fitted = {name: system(name).fit(_settings_of_shape(name), X_train, y_train, 2, 0, quick) for name in names}
    return {
        "rows": len(X),
        **_alternate({n: f.predict for n, f in fitted.items()}, X, min(plan.rounds, 5)),
        "bytes": {name: model.bytes for name, model in fitted.items()},
        "bits": {n: system(n).bits(_settings_of_shape(n), d, 2) or 8 * m.bytes for n, m in fitted.items()},
    }


def _settings_of_shape(name: str) -> Settings:
    return {key: WEBSPAM[key] for key in system(name).start}


def ladder(data: str, name: str, settings: Settings, seed: int, plan: Plan) -> Record:
    """Fit every number of factors with the other settings as chosen; return accuracies and sizes."""
    part = split(_data(data, plan.most_rows), seed)
    which = system(name)
    steps = {}
    for m in FACTORS:
        chosen = {**settings, "m": m}
        fitted = which.fit(chosen, part.X, part.y, part.classes, seed, plan)
        bits = which.bits(chosen, part.X.shape[1], part.classes)
        steps[str(m)] = {
            "accuracy": round(100 * _score(fitted.predict, part), DIGITS),
            "bits": bits,
            "bytes": fitted.bytes,
        }
    return steps


def size(data: str, name: str, plan: Plan) -> Record:
    """Fit one split with the settings of Table 1; return bits by the formula, and file size by part."""
    part = split(_data(data, plan.most_rows), 0)
    which = system(name)
    settings = {key: SIZED[key] for key in which.start}
    fitted = which.fit(settings, part.X, part.y, part.classes, 0, plan)
    bits = which.bits(settings, part.X.shape[1], part.classes)
    return {
        "d": part.X.shape[1],
        "functions": outputs(part.classes),
        "bits": bits,
        "bytes": fitted.bytes,
        "parts": fitted.parts,
    }


def strength(data: str, name: str, each: float, plan: Plan) -> Record:
    """Fit the first split with a given λ per step."""
    part = split(_data(data, plan.most_rows), 0)
    settings = {"m": SIZED["m"], "regularization": each * len(part.y)}
    fitted = system(name).fit(settings, part.X, part.y, part.classes, 0, plan)
    return {"accuracy": round(100 * _score(fitted.predict, part), DIGITS)}


def rounding(data: str, decimals: int, plan: Plan) -> Record:
    """Fit NFM on ids of values rounded to `decimals`, on the first split."""
    from paper.systems.nfm import NfmIds

    part = split(_data(data, plan.most_rows), 0)
    fitted = NfmIds(decimals).fit({}, part.X, part.y, part.classes, 0, plan)
    return {"accuracy": round(100 * _score(fitted.predict, part), DIGITS), "bytes": fitted.bytes}


def convergence(data: str, optimizer: str, rate: float, plan: Plan) -> Record:
    """Return the mean training loss of Binarized FM with one tiling after each epoch."""
    from paper.systems.family import Bfm1

    part = split(_data(data, plan.most_rows), 0)
    model = Bfm1().train(
        CONVERGENCE, part.X, part.y, 0, optimizer=optimizer, learning_rate=rate, epochs=CONVERGENCE_EPOCHS
    )
    return {"loss": [round(each["loss"], DIGITS) for each in model.history]}


def _score(predict: Callable[[NDArray[Any]], NDArray[Any]], part: Split) -> float:
    return float(np.mean(predict(part.X_test) == part.y_test))


def _alternate(calls: dict[str, Callable[[NDArray[Any]], Any]], X: NDArray[Any], rounds: int) -> Record:
    """Return the fastest time of each call in milliseconds, all on one core, alternating between them."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call(X)  # compile and warm up caches
    for _ in range(rounds):
        for name, call in calls.items():
            if len(taken[name]) >= 2 and sum(taken[name]) > PATIENCE:
                continue
            time.sleep(PAUSE)
            taken[name].append(_seconds(partial(call, X)))
    return {"ms": {name: round(1000 * min(each), 4) for name, each in taken.items()}}


def _seconds(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin
