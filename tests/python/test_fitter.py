"""Candidates of a search share encoded samples: the models are the same as without, and nothing is done twice."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event
from types import SimpleNamespace

import binfm
import numpy as np
import pytest
from binfm import _core
from binfm.search import fitter as module
from binfm.search.fitter import Fitter
from binfm.search.trials import Trials
from binfm.training import Trainer
from test_search import KINDS, prepare, table

VARIANTS = [
    {},
    {"m": 12, "ensemble": 3},
    {"dropout": 0.2},
    {"polish": 2, "m": 3},
    {"learning_rate": 0.005, "epochs": 7, "seed": 9},
    {"leave_out": (0, 3)},
    {"b": 5, "tilings": 1},
    {"early_stopping": True, "holdout": 0.3, "epochs": 12},
]
"""Parameters of candidates; most have the same bins and features."""


def alone(dataset, params):
    """Return the model of a trainer of its own."""
    return Trainer(dataset, params).fit(dataset, None, params).to_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_shared_samples_give_the_same_models(kind):
    X, y, more = table(kind)
    dataset, params = prepare(X, y, **more, epochs=3)
    candidates = [params.replace(**{"m": 8, "b": 10, "tilings": 2, **variant}) for variant in VARIANTS]
    if kind != "regression":
        candidates += [candidates[0].replace(loss=loss) for loss in ("hinge", "softmax")]
    fitter = Fitter(_core.Stop())
    with ThreadPoolExecutor(4) as pool:
        shared = list(pool.map(lambda candidate: fitter.fit(dataset, candidate), candidates * 2))
    expected = [alone(dataset, candidate) for candidate in candidates]
    assert [model.to_bytes(True, True, True) for model in shared] == expected * 2


@pytest.fixture
def encoded(monkeypatch):
    """Datasets as they are encoded, with bins and columns left out."""
    seen = []

    def encode(dataset, params, leave_out, stop):
        seen.append((dataset, params["b"], params["tilings"], params["binning"], leave_out))
        return _core.TrainingSet(dataset, params, leave_out, stop)

    monkeypatch.setattr(module, "_core", SimpleNamespace(TrainingSet=encode))
    return seen


def test_threads_that_need_the_same_samples_encode_them_once(encoded):
    X, y, _ = table("binary")
    dataset, params = prepare(X, y, m=4, epochs=1)
    fitter, gate = Fitter(_core.Stop()), Barrier(8)

    def fit(seed):
        gate.wait()
        return fitter.fit(dataset, params.replace(seed=seed % 2)).to_bytes(True, True, True)

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(fit, range(8)))) == 2
    assert len(encoded) == 1


def test_a_search_encodes_each_fold_once(encoded):
    X, y, _ = table("classes")
    model = binfm.train(X, y, max_bytes=700, epochs=2, n_jobs=2)
    assert max(Counter(encoded).values()) == 1
    assert len(encoded) < sum(trial["folds"] for trial in model.search.trials)


def test_budgets_share_fits_and_encoded_folds(encoded, monkeypatch):
    X, y, _ = table("binary")
    trained = Counter()
    train = Trials._try

    def count(trials, candidate, fold, rung):
        trained[trials.key(candidate, rung), fold] += 1
        return train(trials, candidate, fold, rung)

    monkeypatch.setattr(Trials, "_try", count)
    budgets = (200, 300, 2000, 2001, 4000)
    curve = binfm.size_curve(X, y, budgets=budgets, epochs=2, n_jobs=2)
    assert max(trained.values()) == 1, "a candidate was trained twice on a fold"
    assert max(Counter(encoded).values()) == 1
    together = trained.total()
    trained.clear()
    each = [binfm.size_curve(X, y, budgets=(budget,), epochs=2) for budget in budgets]
    assert together < 0.8 * trained.total()
    assert curve.points[0] == each[0].points[0]


def test_kept_samples_are_bounded_and_freed(encoded):
    X, y, _ = table("binary")
    dataset, params = prepare(X, y, m=4, epochs=1)
    candidates = [params.replace(b=b) for b in (8, 9, 10, 8)]
    fitter = Fitter(_core.Stop())
    fitter.fit(dataset, candidates[0])
    size = fitter.nbytes
    assert len(y) * 5 < size < len(y) * 40
    small = Fitter(_core.Stop(), max_bytes=2 * size)
    models = [small.fit(dataset, candidate).to_bytes(True, True, True) for candidate in candidates]
    assert small.nbytes == 2 * size
    assert [bins for _, bins, *_ in encoded] == [8, 8, 9, 10, 8], "what was not used for longest makes room"
    assert models[0] == models[3]
    tiny = Fitter(_core.Stop(), max_bytes=1)
    assert tiny.fit(dataset, candidates[0]).to_bytes(True, True, True) == models[0]
    assert tiny.nbytes == size, "what is in use is kept, however large"
    small.close()
    assert small.nbytes == 0


def test_failures_reach_all_who_wait_and_are_not_remembered(monkeypatch):
    X, y, _ = table("binary")
    dataset, params = prepare(X, y, m=4, epochs=1)
    fitter, entered, go = Fitter(_core.Stop()), Event(), Event()

    def fail(*_):
        entered.set()
        go.wait(10)
        raise MemoryError("out of memory: cannot allocate 9 bytes")

    monkeypatch.setattr(module, "_core", SimpleNamespace(TrainingSet=fail))
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(fitter.fit, dataset, params)
        assert entered.wait(10)
        second = pool.submit(fitter.fit, dataset, params)
        go.set()
        for waiting in (first, second):
            with pytest.raises(MemoryError, match="cannot allocate 9 bytes"):
                waiting.result(10)
    monkeypatch.undo()
    assert fitter.fit(dataset, params).m == 4


def test_work_ends_once_it_is_stopped():
    X, y, _ = table("binary")
    dataset, params = prepare(X, y, m=4, epochs=1_000_000)
    stop = _core.Stop()
    with ThreadPoolExecutor(1) as pool:
        training = pool.submit(Fitter(stop).fit, dataset, params)
        with pytest.raises(TimeoutError):
            training.result(0.2)
        stop.set()
        with pytest.raises(KeyboardInterrupt):
            training.result(10)


def test_a_training_set_has_one_encoding():
    X, y, _ = table("binary")
    dataset, params = prepare(X, y, b=8)
    stop = _core.Stop()
    samples = _core.TrainingSet(dataset, params.core(), (), stop)
    with pytest.raises(ValueError, match=r"params must have the encoding of the training set, .*8.*, got .*9"):
        samples.fit(params.replace(b=9).core(), params.schedule(), stop)


def log_loss(scores, classes, weight):
    """Return the least log loss over temperatures: what the core computes, in numpy."""
    behind = scores - scores[np.arange(len(classes)), classes][:, None]
    temperatures = np.std(scores) * 2.0 ** np.arange(-4.0, 2.5, 0.5)
    return min(weight @ np.log(np.exp(np.minimum(behind / t, 700.0)).sum(axis=1)) for t in temperatures)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_evaluation(kind, loss):
    X, y, more = table(kind)
    dataset, params = prepare(X, y, **{"loss": loss, **more}, m=8, epochs=5)
    model = Fitter(_core.Stop()).fit(dataset.take(np.arange(100)), params)
    score, least = _core.evaluate(model, dataset)
    scores = model.decision(dataset.table, 1)
    weight = np.ones(len(y)) if dataset.weight is None else dataset.weight
    weight = weight / weight.sum()
    if kind == "regression":
        assert score == least == pytest.approx(weight @ (scores - y) ** 2)
        return
    if scores.ndim == 1:
        scores = np.stack([np.zeros_like(scores), scores], axis=1)
    classes = dataset.target.astype(int)
    assert score == pytest.approx(weight @ (scores.argmax(axis=1) == classes))
    assert least == pytest.approx(log_loss(scores, classes, weight), rel=1e-5)


def test_the_loss_of_a_perfect_model_is_bounded():
    X = np.repeat([[-1.0], [1.0]], 100, axis=0)
    dataset, params = prepare(X, X[:, 0] > 0, m=4)
    score, loss = _core.evaluate(Fitter(_core.Stop()).fit(dataset, params), dataset)
    assert (score, loss) == (1.0, 1e-6)
