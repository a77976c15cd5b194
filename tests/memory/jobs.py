"""What binfm does with memory, each as a function to call again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import binfm
import numpy as np
import pandas as pd
from binfm import _core
from scipy import sparse

Job = Callable[[], object]

QUICK = ("an eval_set and a metric",)
"""Ways of training for a quick check."""
QUICK_MODEL = "floats"
"""And its model."""

SAMPLES = 10_000
"""Samples: a list with one number for each takes more than 64 KB."""
WIDE = 20_000
"""Columns of the wide table."""


def _numbers() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(SAMPLES, 6)).astype(np.float32)
    return X, (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)


def _texts() -> tuple[Any, Any]:
    """Samples of 3,000 categories in each of three columns of text."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3000, (SAMPLES, 3))
    columns = {f"column {i}": np.char.add("category ", codes[:, i].astype(str)) for i in range(3)}
    return pd.DataFrame(columns), codes[:, 0] % 2


def _sparse() -> tuple[Any, Any]:
    S = sparse.random(SAMPLES, WIDE, 0.0005, format="csr", random_state=2, dtype=np.float32)
    return S, np.arange(SAMPLES) % 2


def all_jobs(folder: Path, quick: bool) -> Iterator[tuple[str, Job]]:
    """Yield the name of each job, and the job."""
    for name, job in training().items():
        if not quick or name in QUICK:
            yield name, job
    if not quick:
        yield from caches(folder).items()
    for name, make in models().items():
        if not quick or name == QUICK_MODEL:
            yield from others(name, make(), folder).items()


def models() -> dict[str, Callable[[], Any]]:
    """Return what makes models whose weights, edges or categories have more than 64 KB."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(2000, 60)), np.arange(2000) % 3
    thousand = np.char.add("class ", (np.arange(2000) % 1000).astype(str))
    names = [f"a column with a long name, number {i}" for i in range(WIDE)]
    wide = pd.DataFrame(np.zeros((4, WIDE)), columns=names)
    wide.iloc[:2, :100] = 1

    def train(X: Any, y: Any, **params: Any) -> Callable[[], Any]:
        return lambda: binfm.train(X, y, epochs=1, n_jobs=1, regularization=0, **params)

    return {
        "signs": train(X, y, m=600, b=60),
        "floats": train(X, y, m=60, b=60, method="sefm"),
        "texts": train(*_texts(), m=8),
        "names": train(wide, [0, 0, 1, 1], m=1, b=8),
        "labels": train(X[:, :2], thousand, m=1, b=8),
    }


def training() -> dict[str, Job]:
    """Return ways of training."""
    X, y = _numbers()
    S, s = _sparse()
    texts, t = _texts()
    classes = np.arange(SAMPLES) % 5
    numbers = X[:, 0] + X[:, 1] ** 2
    counts = np.floor(numbers - numbers.min())
    weight = np.linspace(0.5, 2, SAMPLES)

    def train(X: Any, y: Any, **params: Any) -> Job:
        params = {"m": 4, "epochs": 1, "regularization": 0, "n_jobs": 1, **params}
        return lambda: binfm.train(X, y, **params)

    return {
        "numbers": train(X, y),
        "numbers in column order": train(np.asfortranarray(X, np.float64), y),
        "a table of pandas": train(pd.DataFrame(X), y),
        "wide models": train(X[:500], y[:500], m=2000, b=64),
        "two threads, shards": train(X, y, shards=2, n_jobs=2),
        "held-out samples": train(X, y, early_stopping=True, epochs=2),
        "an eval_set and a metric": train(X, y, eval_set=(X, y), eval_metric="accuracy"),
        "classes": train(X, classes),
        "softmax": train(X, classes, loss="softmax"),
        "regression": train(X, numbers, loss="squared", w_bits=8),
        "regression, regularized": train(X, numbers, loss="squared", w_bits=8, regularization=0.3),
        "weighted samples": train(X, y, sample_weight=weight),
        "supervised bins": train(X, y, binning="supervised"),
        "uniform bins": train(X, y, binning="uniform"),
        "an ensemble": train(X, y, ensemble=2),
        "polish": train(X, y, polish=1),
        "dropout": train(X, y, dropout=0.1),
        "the paper's fm": train(X, y, method="fm"),
        "the paper's sefm": train(X, y, method="sefm"),
        "the paper's dfm": train(X, y, method="dfm"),
        "sparse": train(S, s),
        "sparse, regularized": train(S, s, regularization=0.3),
        "texts": train(texts, t),
        "whole numbers as categories": train((X * 1000).astype(int), y, categorical=[0, 1, 2]),
        "everything chosen": lambda: binfm.train(X, y, m=4, epochs=2, n_jobs=1),
        "everything chosen, regression": lambda: binfm.train(X, numbers, loss="squared", m=4, epochs=2, n_jobs=1),
        "everything chosen, sparse": lambda: binfm.train(S, s, m=4, epochs=2, n_jobs=1),
        "everything chosen, classes": lambda: binfm.train(X, classes, m=4, epochs=2, n_jobs=2),
        "everything chosen, texts": lambda: binfm.train(texts, t, m=4, epochs=2, n_jobs=1),
        "counts, regularized": train(X, counts, loss="poisson", regularization=0.3),
        "a quantile": train(X, numbers, loss="quantile"),
        "a search": lambda: binfm.train(X[:, :2], y, max_bytes=120, epochs=2, n_jobs=1),
    }


def caches(folder: Path) -> dict[str, Job]:
    """Return ways of training out of core."""
    X, y = _numbers()
    X = np.column_stack([X, np.round(X[:, 0] * 1000)])
    path = folder / "cache"

    def parts() -> Iterator[Any]:
        return zip(np.array_split(X, 3), np.array_split(y, 3), strict=True)

    params: dict[str, Any] = {"m": 4, "regularization": 0, "categorical": [6]}
    cache = binfm.Cache.build(parts, path=path, **params)
    return {
        "building a cache": lambda: binfm.Cache.build(parts, path=path, n_jobs=1, **params),
        "a cache": lambda: binfm.train(cache, epochs=1, n_jobs=1, **params),
        "a cache and an eval_set": lambda: binfm.train(cache, eval_set=(X, y), epochs=1, n_jobs=1, **params),
    }


def others(name: str, model: Any, folder: Path) -> dict[str, Job]:
    """Return ways of reading, writing and asking a model."""
    blob, path, copy = model.to_bytes(), folder / f"{name}.binfm", folder / "copy.binfm"
    path.write_bytes(blob)
    X = _samples_of(model, name)
    table = model._to_score(X)
    jobs: dict[str, Job] = {
        "from_bytes": lambda: _core.Model.from_bytes(blob),
        "load": lambda: binfm.load(path),
        "to_bytes": model.to_bytes,
        "save": lambda: model.save(copy, names=False, labels=False),
        "decision_function": lambda: model.decision_function(X, n_jobs=1),
        "predict": lambda: model.predict(X, n_jobs=2),
        "predict_proba": lambda: model.predict_proba(X, n_jobs=1),
        "terms": lambda: model.terms(X, n_jobs=1),
        "attributes": lambda: (model.w, model.V, model.feature_names),
        "explain": lambda: model.explain(X[:1]),
        "count_cells": lambda: _core.count_cells(model._core, table),
    }
    if name == "signs":
        jobs["export_c"] = lambda: model.export_c(folder / "model.h")
    return {f"{what}, {name}": job for what, job in jobs.items()}


def _samples_of(model: Any, name: str) -> Any:
    if name == "texts":
        return _texts()[0]
    if name == "names":
        return pd.DataFrame(np.zeros((10, WIDE)), columns=model.feature_names)
    return np.zeros((SAMPLES, model.n_features))
