"""The best model within a byte budget: the limit is hard, the choice is fair and repeatable."""

import pickle
import signal
import subprocess
import sys
import time

import binfm
import numpy as np
import pytest
from binfm import Feature, _core
from binfm._progress import SearchProgress
from binfm.params import Params
from binfm.search.fitter import Fitter
from binfm.search.halving import successive_halving
from binfm.search.sizes import Bins, Sizes
from binfm.search.trials import evaluate, split
from binfm.training import read_data
from matplotlib.figure import Figure
from scipy import sparse

FAST = {"epochs": 2}
"""For tests in which the quality of a model does not matter."""


def table(kind, rows=240):
    """Return X, y and the parameters for a kind of data."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(rows, 5))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    if kind == "binary":
        return X, y, {}
    if kind == "classes":
        return X, np.array(["a", "bb", "ccc", "d"])[y + 2 * (X[:, 2] > 0)], {}
    if kind == "regression":
        return X, X[:, 0] ** 2 + X[:, 1], {"loss": "squared"}
    if kind == "categories":
        mixed = X.astype(object)
        mixed[:, 3] = rng.choice(["red", "green", "blue"], rows)
        mixed[:, 4] = rng.integers(0, 4, rows)
        return mixed, y, {"categorical": [3, 4]}
    if kind == "sparse":
        return sparse.csr_array(np.where(rng.random(X.shape) < 0.4, X, 0.0)), y, {}
    if kind == "weights":
        return X, y, {"sample_weight": np.where(np.arange(rows) % 3, rng.random(rows), 0.0)}
    X[rng.random(X.shape) < 0.2] = np.nan
    return X, y, {}


def prepare(X, y, sample_weight=None, **given):
    """Return the data and parameters of a search, as `train` prepares them."""
    params = Params.of({"max_bytes": 10_000, **given})
    dataset, _ = read_data(X, y, sample_weight, None, params)
    return dataset, params.resolve(len(dataset), False)


KINDS = ["binary", "classes", "regression", "categories", "sparse", "weights", "missing"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_limit_is_hard(kind):
    X, y, more = table(kind)
    for limit in (160, 161, 200, 333, 700, 2048):
        model = binfm.train(X, y, max_bytes=limit, **more, **FAST)
        assert model.nbytes == len(model.to_bytes()) <= limit
        assert model.nbytes <= model.search.chosen["nbytes"] <= limit
        assert len(model.predict(X)) == y.shape[0]


@pytest.mark.parametrize("kind", KINDS)
def test_the_smallest_size_is_named_and_works(kind):
    X, y, more = table(kind)
    with pytest.raises(ValueError, match=r"max_bytes must be at least \d+, .* got 20$") as caught:
        binfm.train(X, y, max_bytes=20, **more, **FAST)
    smallest = int(str(caught.value).split("at least ")[1].split(",")[0])
    assert binfm.train(X, y, max_bytes=smallest, **more, **FAST).nbytes <= smallest
    with pytest.raises(ValueError, match=f"max_bytes must be at least {smallest}, "):
        binfm.train(X, y, max_bytes=smallest - 1, **more, **FAST)


def count_cells(features):
    return sum(feature.cells for feature in features)


@pytest.mark.parametrize("kind", KINDS)
def test_sizes_are_known_before_training(kind):
    X, y, more = table(kind)
    dataset, params = prepare(X, y, **more)
    sizes = Sizes(dataset, params)
    for m, b, tilings in [(1, 2, 1), (2, 3, 1), (7, 9, 3), (16, 20, 4), (5, 64, 8), (3, 5, 4)]:
        for binning in ("quantile", "supervised"):
            sizes.learn(Bins(b, tilings, binning))
            shape = params.replace(m=m, b=b, tilings=tilings, binning=binning, epochs=1)
            for leave_out in ((), (0,)):
                chosen = shape.replace(leave_out=leave_out)
                model = Fitter(_core.Stop()).fit(dataset, chosen)
                nbytes = sizes.nbytes(chosen)
                encoder = _core.Encoder(dataset, chosen.core(), leave_out, 1)
                before, after = (
                    [Feature(**each.feature(j)) for j in range(dataset.columns)] for each in (encoder, model)
                )
                if count_cells(before) == count_cells(after):
                    assert model.nbytes == nbytes
                else:
                    assert model.nbytes < nbytes, "cells that are alike have become one"
                assert sizes.largest_m(chosen, nbytes) >= m
                assert sizes.largest_m(chosen, nbytes - 1) < m


@pytest.mark.parametrize("kind", ["binary", "classes", "regression"])
def test_any_number_of_threads_gives_the_same_bytes_and_report(kind):
    X, y, more = table(kind)
    models = [binfm.train(X, y, max_bytes=300, n_jobs=jobs, seed=5, **more, **FAST) for jobs in (1, 2, 5, None)]
    assert len({model.to_bytes() for model in models}) == 1
    assert len({str(model.search) for model in models}) == 1
    assert models[0].search == models[1].search


def test_given_parameters_are_not_searched():
    X, y, _ = table("binary")
    given = {"m": 3, "b": 7, "tilings": 2, "loss": "hinge", "learning_rate": 0.03, "epochs": 4}
    for name, value in given.items():
        search = binfm.train(X, y, max_bytes=400, **{"epochs": 4, name: value}).search
        last = [trial for trial in search.trials if trial["rung"] == 3]
        assert {trial[name] for trial in last} == {value}
    given |= {"binning": "uniform", "dropout": 0.1, "ensemble": 1, "polish": 1}
    model = binfm.train(X, y, max_bytes=400, **given)
    assert (model.m, model.tilings, model.loss) == (3, 2, "hinge")
    constant = X.copy()
    constant[:, model.search.chosen["leave_out"]] = 0
    assert model == binfm.train(constant, y, **given), "what is left out might as well be constant"
    assert len(model.history) == 4


def test_many_tilings_or_few_bins_may_be_given():
    X, y, _ = table("binary")
    assert binfm.train(X, y, tilings=70, max_bytes=4000, **FAST).tilings == 70
    assert binfm.train(X, y, b=2, max_bytes=200, **FAST).tilings == 1
    with pytest.raises(ValueError, match=r"^tilings must be .*, got 7"):
        binfm.train(X, y, tilings=7, b=5, max_bytes=200)
    with pytest.raises(ValueError, match=r"max_bytes must be at least \d+, "):
        binfm.train(X, y, m=500, max_bytes=200)


@pytest.mark.parametrize(
    "wrong",
    [
        {"m": -1},
        {"w_bits": 9},
        {"b": 1},
        {"epochs": 0},
        {"learning_rate": -1.0},
        {"n_jobs": 0},
        {"patience": 0},
        {"max_bytes": -1},
    ],
)
def test_errors_name_the_wrong_parameter(wrong):
    X, y, _ = table("binary")
    with pytest.raises(ValueError, match=f"^{next(iter(wrong))} must be .*, got"):
        binfm.train(X, y, **{"max_bytes": 500, **wrong})


@pytest.mark.parametrize("limit", ["many", 2.5, True])
def test_a_limit_is_a_whole_number(limit):
    X, y, _ = table("binary")
    with pytest.raises(TypeError, match="max_bytes must be a whole number, got"):
        binfm.train(X, y, max_bytes=limit)


def test_defaults_apply_without_a_limit():
    X, y, _ = table("binary")
    model = binfm.train(X, y)
    assert model == binfm.train(X, y, m=32, loss="logistic", w_bits=8, epochs=20, learning_rate=0.03)
    plain = binfm.train(X, y, m=32, b=20, tilings=4, epochs=30, learning_rate=0.015, regularization=0)
    assert plain == binfm.train(X, y, regularization=0)
    assert model.search is None


def test_the_report_is_complete():
    X, y, _ = table("binary")
    model = binfm.train(X, y, max_bytes=400, **FAST)
    search = model.search
    assert search.metric == "accuracy"
    assert [trial["chosen"] for trial in search.trials].count(True) == 1
    assert all(trial["nbytes"] <= 400 for trial in search.trials)
    assert {trial["rung"] for trial in search.trials} == {1, 2, 3}
    assert all(0 <= trial["score"] <= 1 and trial["spread"] >= 0 for trial in search.trials)
    assert (search.chosen["m"], search.chosen["tilings"]) == (model.m, model.tilings)
    lines = str(search).splitlines()
    assert len(lines) == len(search) + 2
    assert sum(line.endswith("*") for line in lines) == 1
    restored = pickle.loads(pickle.dumps(model))
    assert restored.search == search
    assert binfm.Model.from_bytes(model.to_bytes()).search is None


def test_the_search_chooses_well():
    """Where the shape matters, it finds one that beats most others, and the score it reports is honest."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(4000, 6))
    y = (np.sin(5 * X[:, 0]) * X[:, 1] + 0.3 * X[:, 2] > 0).astype(int)
    model = binfm.train(X[:1500], y[:1500], max_bytes=256)
    accuracy = np.mean(model.predict(X[1500:]) == y[1500:])
    fixed = [binfm.train(X[:1500], y[:1500], m=m, b=b, tilings=t) for m, b, t in [(8, 4, 1), (3, 12, 4), (2, 20, 4)]]
    others = [np.mean(f.predict(X[1500:]) == y[1500:]) for f in fixed]
    assert accuracy > max(others) - 0.01
    assert accuracy > 0.8
    assert abs(model.search.chosen["score"] - accuracy) < 0.04


def test_regression_is_scored_by_its_squared_error():
    X, y, more = table("regression", rows=1500)
    model = binfm.train(X, y, max_bytes=500, **more)
    assert model.search.metric == "squared error"
    assert model.search.chosen["score"] < 0.5 * np.var(y)


@pytest.mark.parametrize("count", [2, 5])
def test_parts_share_no_sample_and_have_all_classes(count):
    X, y, _ = table("classes")
    dataset, _ = prepare(X, y)
    parts = split(dataset, count, seed=1)
    assert sorted(np.concatenate(parts)) == list(range(len(y)))
    for part in parts:
        counts = np.bincount(dataset.target[part].astype(int), minlength=4)
        assert (abs(counts - np.bincount(dataset.target.astype(int)) / count) <= 1).all()


@pytest.mark.parametrize("rows", [2, 3, 4, 7, 11])
def test_few_samples(rows):
    X, y, _ = table("binary")
    y = np.arange(len(y)) % 2
    assert binfm.train(X[:rows], y[:rows], max_bytes=300, **FAST).nbytes <= 300
    assert binfm.train(X[:rows], X[:rows, 0], loss="squared", max_bytes=300, **FAST).nbytes <= 300


def test_a_class_of_one_sample_and_constant_columns():
    X, y, _ = table("binary")
    y = np.where(np.arange(len(y)) == 3, 2, y)
    assert binfm.train(X, y, max_bytes=400, **FAST).nbytes <= 400
    assert binfm.train(np.ones((50, 2)), y[:50] * 0 + np.arange(50) % 2, max_bytes=100, **FAST).nbytes <= 100


def test_early_stopping_and_eval_sets_work_with_a_limit():
    X, y, _ = table("binary", rows=600)
    stopped = binfm.train(X[:400], y[:400], max_bytes=300, epochs=12, early_stopping=True)
    assert "val_loss" in stopped.history[0]
    watched = binfm.train(X[:400], y[:400], max_bytes=300, epochs=12, eval_set=(X[400:], y[400:]))
    assert "val_loss" in watched.history[0]
    seen = []
    binfm.train(X, y, max_bytes=300, epochs=3, callback=lambda epoch, record: seen.append(epoch))
    assert seen == [1, 2, 3]


def test_progress(capfd):
    X, y, _ = table("binary")
    binfm.train(X, y, max_bytes=200, **FAST)
    assert capfd.readouterr() == ("", "")
    binfm.train(X, y, max_bytes=200, progress=True, **FAST)
    err = capfd.readouterr().err
    assert "fit" in err
    assert "epoch" in err


INTERRUPTED = """
import time, numpy as np, binfm
rng = np.random.default_rng(0)
X = rng.normal(size=(100_000, 20)).astype(np.float32)
print("ready", flush=True)
try:
    binfm.train(X, rng.integers(0, 6, 100_000), max_bytes=20_000, epochs=10_000)
except KeyboardInterrupt:
    print(repr(time.time()), flush=True)
    binfm.train(X[:50, :2], np.arange(50) % 3, epochs=1)
    print("alive", flush=True)
"""


@pytest.mark.parametrize("pause", [0.3, 4.0])
def test_ctrl_c_stops_a_search_within_half_a_second(pause):
    """While sizes are determined, and while candidates are trained."""
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"ready\n"
        time.sleep(pause)
        assert process.poll() is None
        sent = time.time()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, err
    caught_at, alive = out.split()
    assert alive == b"alive"
    assert float(caught_at) - sent < 0.5


def test_size_curve():
    X, y, _ = table("binary", rows=800)
    curve = binfm.size_curve(X, y, budgets=(300, 20, 90, 90), epochs=5, learning_rate=0.02)
    assert [point["max_bytes"] for point in curve.points] == [20, 90, 300]
    assert curve.points[0]["nbytes"] is None
    assert all(point["nbytes"] <= point["max_bytes"] for point in curve.points[1:])
    assert 20 < curve.smallest <= 90
    assert curve.points[2]["score"] > 0.8
    assert all(0 < point["spread"] < 0.2 for point in curve.points[1:])
    lines = str(curve).splitlines()
    assert len(lines) == 4
    assert "none fits" in lines[1]
    assert f"{curve.points[2]['score']:.4f}" in lines[3]
    assert curve == binfm.size_curve(X, y, budgets=(20, 90, 300), epochs=5, learning_rate=0.02, n_jobs=1)


def test_size_curve_rejects_invalid_budgets():
    X, y, _ = table("binary")
    with pytest.raises(ValueError, match="budgets must have at least one size in bytes, got none"):
        binfm.size_curve(X, y, budgets=())
    with pytest.raises(TypeError, match="budgets must be a whole number, got 'small'"):
        binfm.size_curve(X, y, budgets=("small",))


def test_a_plot_draws_on_the_axes_it_is_given():
    X, y, _ = table("binary")
    curve = binfm.size_curve(X, y, budgets=(20, 100), learning_rate=0.02, loss="logistic", **FAST)
    ax = Figure().subplots()
    assert curve.plot(ax) is curve
    assert (curve.ax_, curve.figure_) == (ax, ax.figure)
    (drawn,) = ax.containers
    assert drawn.lines[0].get_xdata().tolist() == [curve.points[1]["nbytes"]]


def test_a_plot_without_matplotlib_names_the_extra(run_python):
    code = (
        "import sys, binfm\n"
        "sys.modules['matplotlib'] = None\n"
        "try: binfm.SizeCurve('accuracy', (), 0).plot()\n"
        "except ImportError as error: print(error)"
    )
    assert b"binfm[plot]" in run_python(code)


def test_uninformative_features_cost_no_bytes():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 40))
    y = (X[:, 7] * X[:, 30] + X[:, 12] > 0).astype(int)
    model = binfm.train(X[:2000], y[:2000], max_bytes=256)
    used = {j for j, feature in enumerate(model.features) if feature.kind != "unused"}
    assert {7, 12, 30} <= used
    assert len(used) <= 10
    assert model.search.chosen["features"] == len(used)
    assert np.mean(model.predict(X[2000:]) == y[2000:]) > 0.85
    other = X[2000:].copy()
    other[:, [j for j in range(40) if j not in used]] = np.nan
    np.testing.assert_array_equal(model.predict(other), model.predict(X[2000:]))


def test_one_search_for_several_limits_matches_a_search_for_each():
    X, y, _ = table("classes")
    dataset, params = prepare(X, y, **FAST)
    with successive_halving(dataset, params, SearchProgress(False)) as halving:
        limits, trials = (200, 300, 500, 1500), halving.trials
        chosen = [halving.with_best_init(halving.best(limit, trials), limit, trials) for limit in limits]
    fitter = Fitter(_core.Stop())
    found = [fitter.fit(dataset, params).to_bytes(True, True, True) for params in chosen]
    assert found == [binfm.train(X, y, max_bytes=limit, **FAST).to_bytes() for limit in limits]


def test_dropout_is_tried_only_with_scaling():
    X, y, _ = table("binary")
    tried = [
        {trial["dropout"] for trial in binfm.train(X, y, max_bytes=300, scaling=scaling, **FAST).search.trials}
        for scaling in (True, False)
    ]
    assert tried == [{0.0, 0.2}, {0.0}]


def test_small_models_are_polished_where_possible_unless_polish_is_given():
    X, y, _ = table("binary")
    seven = np.digitize(X[:, 0], np.quantile(X[:, 0], np.linspace(0, 1, 8)[1:-1]))

    def passes(limit, y=y, **more):
        return {trial["polish"] for trial in binfm.train(X, y, max_bytes=limit, **more, **FAST).search.trials}

    assert passes(1024) == {0, 2, 4}
    assert passes(1025) == {0}
    assert passes(7 * 256, seven) == {0, 2, 4}
    assert passes(300, polish=1) == {1}
    assert passes(300, scaling=False) == {0}


def test_a_small_model_is_the_best_of_several_inits():
    X, y, _ = table("classes")
    dataset, params = prepare(X, y, seed=2**63 - 2, **FAST)
    with successive_halving(dataset, params, SearchProgress(False)) as halving:
        chosen = halving.best(200, halving.trials)
        best = halving.with_best_init(chosen, 200, halving.trials)
        assert halving.with_best_init(chosen, 2000, halving.trials) == chosen
    fitter = Fitter(_core.Stop())
    models = {seed: fitter.fit(dataset, chosen.replace(seed=seed)) for seed in (2**63 - 2, 2**63 - 1, 0, 1)}
    losses = {seed: evaluate(model, dataset).loss for seed, model in models.items()}
    assert len(set(losses.values())) == 4
    assert best.seed == min(losses, key=losses.get)
