"""The tasks, each run in its own process: `python -m compare.measure scoring '{"threads": 1}'` prints JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import binfm
import numpy as np

from compare import available, cases, peers, tables, training
from compare.available import WARM_UP
from compare.cases import FEATURES, SIZES
from compare.peers import Binfm, Peer
from compare.timing import alternate, alternate_short, peak_memory

Found = dict[str, Any]
TRAINED = 5_000
"""Training samples of a model that is only needed for scoring."""


def scoring(threads: int) -> Found:
    """Score a table with every system and, on one thread, also a single sample."""
    X, y = cases.synthetic(SIZES.scored)
    ready = available.ready([peer for peer in peers.ALL if peer.scores], threads, SIZES.epochs)
    for peer in ready:
        peer.fit(X[: SIZES.trained], y[: SIZES.trained])
    rows = {peer.name: SIZES.scored_slowly if peer.slow else SIZES.scored for peer in ready}
    best = alternate({peer.name: partial(peer.score, X[: rows[peer.name]]) for peer in ready}, SIZES.rounds)
    scored = [
        {"system": name, "rows": rows[name], "ns": 1e9 * b.seconds / rows[name], "repetitions": b.repetitions}
        for name, b in best.items()
    ]
    one_row = list(_one_row(ready, X)) if threads == 1 else []
    return {"tables": scored, "one_row": one_row}


def _one_row(ready: Iterable[Peer], X: Any) -> Iterator[Found]:
    calls = {(peer.name, how): call for peer in ready for how, call in peer.one_row(X).items()}
    best = alternate_short({json.dumps(key): call for key, call in calls.items()}, SIZES.rounds)
    for key, found in best.items():
        name, how = json.loads(key)
        yield {"system": name, "call": how, "us": 1e6 * found.seconds, "repetitions": found.repetitions}


def two_cores(threads: int) -> Found:
    """Score, and train a multiclass model, alternating between 1 and `threads` threads; compare the bits."""
    X, y = cases.synthetic(SIZES.scored, classes=cases.CLASSES)
    one, two = Binfm(1, SIZES.epochs), Binfm(threads, SIZES.epochs)
    rows = SIZES.trained // 2
    calls = {"train 1": partial(one.fit, X[:rows], y[:rows]), "train 2": partial(two.fit, X[:rows], y[:rows])}
    train = alternate(calls, SIZES.rounds)
    same_model = one.model.to_bytes() == two.model.to_bytes()
    one.fit(X[:rows], y[:rows] > cases.CLASSES // 2)
    two.model = one.model
    score = alternate({"score 1": partial(one.score, X), "score 2": partial(two.score, X)}, SIZES.rounds)
    seconds = {name: best.seconds for name, best in {**train, **score}.items()}
    same_scores = bool(np.array_equal(one.score(X), two.score(X)))
    return {"seconds": seconds, "same_model": same_model, "same_scores": same_scores}


def growth() -> list[Found]:
    """Time binfm's training and scoring with one parameter at a time doubled and quadrupled."""
    base = {"n": SIZES.grown, "d": FEATURES, "m": 32, "b": 20, "K": 4, "T": 1}
    shapes = [base, *({**base, name: base[name] * factor} for name in base for factor in (2, 4))]
    trained = {json.dumps(shape): _Grown(**shape) for shape in shapes}
    fits = alternate({key: grown.fit for key, grown in trained.items()}, min(SIZES.rounds, 3))
    scores = alternate({key: grown.score for key, grown in trained.items()}, SIZES.rounds)
    return [{**json.loads(key), "fit": fits[key].seconds, "score": scores[key].seconds} for key in trained]


class _Grown:
    """Data and a model of one shape; n, d, m, b and K as in the paper, T tilings."""

    def __init__(self, n: int, d: int, m: int, b: int, K: int, T: int) -> None:
        self.X, self.y = cases.synthetic(n, d, K)
        settings: dict[str, Any] = {"m": m, "b": b, "tilings": T, "epochs": SIZES.few_epochs}
        self.train = partial(binfm.train, self.X, self.y, early_stopping=False, n_jobs=1, **settings)

    def fit(self) -> None:
        self.model = self.train()

    def score(self) -> None:
        self.model.decision_function(self.X, n_jobs=1)


def inputs() -> list[Found]:
    """Time binfm's scoring of each kind of input."""
    rows = SIZES.scored // 2
    made = {kind: make(rows) for kind, make in cases.INPUTS.items()}
    calls = {kind: partial(_scorer(kind).score, X) for kind, X in made.items()}
    best = alternate(calls, SIZES.rounds)
    return [{"kind": kind, "rows": rows, "ns": 1e9 * best[kind].seconds / rows} for kind in made]


def input_memory(kind: str) -> Found:
    """Measure peak memory while binfm scores one kind of input."""
    scorer = _scorer(kind)
    scorer.score(cases.INPUTS[kind](WARM_UP))
    X = cases.INPUTS[kind](SIZES.scored // 2)
    before = peak_memory()
    result = scorer.score(X)
    return {"extra": peak_memory() - before, "scores": result.nbytes, "input": _size(X)}


def _scorer(kind: str) -> Binfm:
    scorer = Binfm(1, epochs=1)
    X, y = cases.synthetic(TRAINED)
    scorer.fit(cases.all_stored(X) if kind == cases.CSR else X, y)
    return scorer


def _size(X: Any) -> int:
    """Return the bytes that the table keeps in memory, including those a view skips."""
    if hasattr(X, "indptr"):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes if X.base is None else X.base.nbytes)


def fit_memory(name: str, rows: int, features: int, epochs: int) -> Found:
    """Fit once; return the time and the peak memory above the table."""
    peer = peers.BY_NAME[name](1, epochs)
    peer.fit(*cases.synthetic(WARM_UP, features))
    X, y = cases.synthetic(rows, features)
    before = peak_memory()
    best = alternate({name: partial(peer.fit, X, y)}, 1)
    found = {"extra": peak_memory() - before, "input": X.nbytes, "seconds": best[name].seconds}
    return {**found, "parameters": peer.parameters()} if isinstance(peer, Binfm) else found


def score_memory(name: str, rows: int, features: int) -> Found:
    """Score a few times; return the best time and the peak memory above the table."""
    peer = peers.BY_NAME[name](1, epochs=1)
    small, y = cases.synthetic(TRAINED, features)
    peer.fit(small, y)
    peer.score(small)
    X, _ = cases.synthetic(rows, features)
    before = peak_memory()
    best = alternate({name: partial(peer.score, X)}, min(SIZES.rounds, 3))
    return {"extra": peak_memory() - before, "input": X.nbytes, "ns": 1e9 * best[name].seconds / rows}


TASKS: tuple[Callable[..., Any], ...] = (
    available.missing,
    scoring,
    training.fitting,
    training.many_classes,
    training.large,
    training.sparse,
    training.search,
    two_cores,
    growth,
    inputs,
    input_memory,
    tables.frames,
    tables.sparse_scoring,
    fit_memory,
    score_memory,
)

if __name__ == "__main__":
    task = {task.__name__: task for task in TASKS}[sys.argv[1]]
    print(json.dumps(task(**json.loads(sys.argv[2]))))
