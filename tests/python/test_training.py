"""Training learns what it should, and reports its progress."""

import io
import sys

import binfm
import numpy as np
import pytest
from scipy import sparse


def planted(n=6000, d=4, bins=5, m=4, seed=0):
    """Return samples and the classes that a random ±1 model over equal-width bins gives them."""
    rng = np.random.default_rng(seed)
    w, V = rng.choice([-1, 1], (d, bins)), rng.choice([-1, 1], (d, bins, m))
    X = rng.random((n, d))
    cells = (X * bins).astype(int)
    rows = np.arange(d)
    L = w[rows, cells].sum(axis=1)
    s = V[rows, cells].sum(axis=1)
    score = 0.5 * L + 0.25 * 0.5 * ((s**2).sum(axis=1) - d * m)
    return X, score > np.median(score)


def accuracy(model, X, y):
    return np.mean(model.predict(X) == y)


def split(X, y, share=0.7):
    cut = int(len(X) * share)
    return X[:cut], y[:cut], X[cut:], y[cut:]


@pytest.fixture(scope="module")
def product():
    """A target that no linear model can learn."""
    X = np.random.default_rng(0).uniform(-1, 1, (3000, 3))
    return split(X, X[:, 0] * X[:, 1] > 0)


def test_planted_models_are_recovered():
    found = []
    for seed in range(3):
        X, y, X_test, y_test = split(*planted(seed=seed))
        model = binfm.train(X, y, m=32, b=5, tilings=1, binning="uniform", epochs=60)
        found.append(accuracy(model, X_test, y_test))
    assert min(found) > 0.93
    assert np.mean(found) > 0.95


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge"])
@pytest.mark.parametrize("tilings", [1, 4])
def test_every_loss_learns_an_interaction(product, loss, tilings):
    X, y, X_test, y_test = product
    model = binfm.train(X, y, m=8, loss=loss, tilings=tilings)
    assert model.loss == loss
    assert accuracy(model, X_test, y_test) > 0.93
    assert model.history[-1]["loss"] < 0.6 * model.history[0]["loss"]


def test_regression_follows_a_smooth_function():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (4000, 3))
    y = 1000 + 50 * (np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2])
    X, y, X_test, y_test = split(X, y)
    model = binfm.train(X, y, loss="squared")
    r2 = 1 - np.mean((model.predict(X_test) - y_test) ** 2) / np.var(y_test)
    assert r2 > 0.9
    assert model.classes is None


def test_many_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    angle = np.floor((np.arctan2(X[:, 1], X[:, 0]) + np.pi) / (2 * np.pi) * 5).astype(int) % 5
    X, y, X_test, y_test = split(X, np.array(list("edcba"))[angle])
    model = binfm.train(X, y, m=16)
    assert model.classes.tolist() == list("abcde")
    assert accuracy(model, X_test, y_test) > 0.93
    assert np.mean(model.classes[model.predict_proba(X_test).argmax(axis=1)] == y_test) > 0.93
    assert (model.w.ndim, model.V.ndim, model.alpha.shape) == (2, 3, (5,))


def test_more_than_256_cells():
    x = np.random.default_rng(0).integers(0, 1000, (20_000, 1))
    y = np.random.default_rng(1).random(1000)[x[:, 0]] > 0.5
    model = binfm.train(x, y, b=1000, tilings=1, m=2, epochs=10, early_stopping=False)
    assert 256 < model.features[0].cells < 1000, "neighbours with the same signs are one cell"
    assert accuracy(model, x, y) > 0.97


def test_with_one_tiling_no_neighbouring_cells_are_alike():
    """They would waste bytes; with several tilings, every row is shared by several cells."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0] * X[:, 1]) > 0
    model = binfm.train(X, y, m=3, b=12, tilings=1)
    assert sum(feature.cells for feature in model.features) < 4 * 12
    for feature in model.features:
        rows = np.column_stack([model.w, model.V])[feature.rows.start :][: feature.cells]
        assert (rows[1:] != rows[:-1]).any(axis=1).all()
    assert accuracy(model, X, y) > 0.9
    assert all(feature.cells == 9 for feature in binfm.train(X, y, m=3, b=12, tilings=4, epochs=2).features)


def test_one_hot_columns_learn_what_categories_do():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 12, (4000, 2))
    y = rng.random((12, 12))[codes[:, 0], codes[:, 1]] > 0.5
    one_hot = sparse.csr_array(np.hstack([np.eye(12)[codes[:, 0]], np.eye(12)[codes[:, 1]]]))
    for X, categorical in [(codes, [0, 1]), (one_hot, None)]:
        model = binfm.train(X[:3000], y[:3000], categorical=categorical, early_stopping=False)
        assert len(model.w) == 24 * 4
        assert accuracy(model, X[3000:], y[3000:]) > 0.9


def test_without_scaling_the_scales_are_one(product):
    X, y, X_test, y_test = product
    model = binfm.train(X, y, m=8, scaling=False)
    assert (model.alpha, model.beta) == (1.0, 1.0)
    assert accuracy(model, X_test, y_test) > 0.8


def test_sgd_learns_and_differs(product):
    X, y, X_test, y_test = product
    model = binfm.train(X, y, m=8, optimizer="sgd", learning_rate=0.1)
    assert accuracy(model, X_test, y_test) > 0.8
    assert model != binfm.train(X, y, m=8, optimizer="adagrad", learning_rate=0.1)


def test_regularization_shrinks_the_scales(product):
    X, y, *_ = product
    plain = binfm.train(X, y, m=8, regularization=0)
    assert binfm.train(X, y, m=8, lambda_w=0.3, regularization=0).alpha < 0.8 * plain.alpha
    assert binfm.train(X, y, m=8, lambda_v=0.3, regularization=0).beta < 0.8 * plain.beta


@pytest.mark.parametrize("method", ["bfm", "sefm", "dfm", "fm"])
def test_scores_after_dropout_suit_samples_with_all_features(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 6))
    y = X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=2000) > 0.7
    models = [binfm.train(X, y, m=8, dropout=share, method=method, epochs=15) for share in (0.0, 0.5)]
    assert models[0] != models[1]
    assert accuracy(models[1], X, y) > 0.82  # always predicting False has 0.805
    assert abs(models[1].predict_proba(X)[:, 1].mean() - y.mean()) < 0.005


def test_dropout_fits_numbers_and_many_classes_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    number = 1e4 + 100 * X[:, 0]
    model = binfm.train(X, number, loss="squared", dropout=0.3, m=8)
    assert np.mean((model.predict(X) - number) ** 2) < 0.25 * number.var()
    classes = np.digitize(X[:, 0] + X[:, 1], [-1, 0, 1])
    assert accuracy(binfm.train(X, classes, dropout=0.2, m=16), X, classes) > 0.85


def test_dropout_does_not_depend_on_threads_and_stops_early(numbers):
    X, _ = numbers
    y = np.arange(300) % 3
    more = {"dropout": 0.3, "m": 5, "epochs": 6, "early_stopping": True}
    assert binfm.train(X, y, n_jobs=1, **more) == binfm.train(X, y, n_jobs=3, **more)


def test_sample_weight_changes_the_model():
    """Two groups disagree about the same feature: the heavier one wins."""
    x = np.random.default_rng(0).uniform(-1, 1, 2000)
    first = np.arange(2000) < 1000
    y = (x > 0) == first
    for heavy in (first, ~first):
        model = binfm.train(x[:, None], y, sample_weight=np.where(heavy, 5.0, 1.0), m=4)
        assert accuracy(model, x[heavy, None], y[heavy]) > 0.95


def test_samples_of_zero_weight_are_ignored():
    x = np.random.default_rng(0).uniform(-1, 1, (500, 1))
    wrong = x < 0
    both = np.vstack([x, x])
    model = binfm.train(both, np.vstack([~wrong, wrong]).ravel(), sample_weight=np.repeat([1, 0], 500), m=4)
    assert accuracy(model, x, ~wrong.ravel()) > 0.95


def test_different_seeds_give_different_models(numbers):
    assert binfm.train(*numbers, seed=1, epochs=2) != binfm.train(*numbers, seed=2, epochs=2)


def test_the_bias_of_unbalanced_classes_is_learned():
    y = np.arange(2000) % 10 == 0
    model = binfm.train(np.random.default_rng(0).normal(size=(2000, 1)), y, m=2, b=5)
    assert abs(model.predict_proba(np.zeros((1, 1)))[0, 1] - 0.1) < 0.08


# History, callbacks, stopping


def test_history_has_a_record_for_each_epoch(numbers):
    model = binfm.train(*numbers, epochs=4, early_stopping=False)
    assert [record["epoch"] for record in model.history] == [1, 2, 3, 4]
    assert all(set(record) == {"epoch", "loss"} for record in model.history)
    assert all(np.isfinite(record["loss"]) for record in model.history)
    assert model.best_epoch == 4


def test_an_eval_set_is_measured_and_the_best_epoch_returned():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = (X[:, 0] + rng.normal(size=600) * 2 > 0).astype(int)
    model = binfm.train(X[:300], y[:300], eval_set=(X[300:], y[300:]), epochs=40, patience=3, regularization=0)
    val = [record["val_loss"] for record in model.history]
    assert model.best_epoch == int(np.argmin(val)) + 1
    assert len(val) == model.best_epoch + 3 < 40, "noise overfits in a few passes, and patience ends it"
    p = np.clip(model.predict_proba(X[300:])[np.arange(300), y[300:]], 1e-300, 1)
    assert -np.log(p).mean() == pytest.approx(min(val), rel=0.02), "the model is that of the best epoch"
    assert model == binfm.train(X[:300], y[:300], epochs=model.best_epoch, early_stopping=False, regularization=0)


def test_an_eval_set_without_early_stopping_only_measures(numbers):
    X, y = numbers
    measured = binfm.train(X, y, eval_set=(X[:50], y[:50]), early_stopping=False, epochs=8)
    assert measured == binfm.train(X, y, early_stopping=False, epochs=8)
    assert all("val_loss" in record for record in measured.history)
    assert measured.best_epoch == len(measured.history) == 8


def test_weights_of_the_eval_set_count(numbers):
    X, y = numbers
    weight = np.r_[np.ones(40), np.zeros(20)]
    plain = binfm.train(X, y, eval_set=(X[:40], y[:40]), epochs=5)
    padded = binfm.train(X, y, eval_set=(X[:60], y[:60], weight), epochs=5)
    assert [r["val_loss"] for r in padded.history] == pytest.approx([r["val_loss"] for r in plain.history])


def test_early_stopping_holds_out_a_tenth(numbers):
    model = binfm.train(*numbers, early_stopping=True, epochs=5)
    assert all("val_loss" in record for record in model.history)
    assert 1 <= model.best_epoch <= 5


@pytest.mark.parametrize(("rows", "holds_out"), [(9_999, False), (10_000, True)])
def test_auto_holds_out_samples_from_ten_thousand_on(rows, holds_out):
    X = np.random.default_rng(0).normal(size=(rows, 1))
    model = binfm.train(X, X[:, 0] > 0, m=1, b=5, epochs=2, regularization=0)
    assert ("val_loss" in model.history[0]) == holds_out


def test_a_callback_sees_every_record_and_can_stop(numbers):
    seen = []

    def callback(epoch, record):
        seen.append((epoch, record))
        return epoch == 3

    model = binfm.train(*numbers, epochs=10, callback=callback, regularization=0)
    assert [epoch for epoch, _ in seen] == [1, 2, 3]
    assert [record for _, record in seen] == model.history
    assert model.best_epoch == 3
    assert model == binfm.train(*numbers, epochs=3, regularization=0)


@pytest.mark.parametrize("result", [None, False, 0])
def test_a_falsy_callback_result_does_not_stop(numbers, result):
    assert len(binfm.train(*numbers, epochs=3, callback=lambda epoch, record: result).history) == 3


@pytest.mark.parametrize("classes", [2, 4])
def test_an_exception_in_the_callback_reaches_the_caller(numbers, classes):
    def callback(epoch, record):
        raise RuntimeError(f"enough at {epoch}")

    with pytest.raises(RuntimeError, match="enough at 1"):
        binfm.train(numbers[0], np.arange(300) % classes, callback=callback)


def test_a_callback_may_use_the_library(numbers):
    X, y = numbers
    inner = []
    binfm.train(X, y, epochs=2, callback=lambda epoch, record: inner.append(binfm.train(X, y, epochs=1)))
    assert inner[0] == inner[1] == binfm.train(X, y, epochs=1)


def test_progress_shows_a_bar_of_epochs(numbers, capsys):
    seen = []
    model = binfm.train(*numbers, epochs=3, progress=True, callback=lambda epoch, record: seen.append(epoch))
    assert "3/3" in capsys.readouterr().err
    assert seen == [1, 2, 3]
    assert model == binfm.train(*numbers, epochs=3)


def test_progress_without_tqdm_is_silent(numbers, monkeypatch, capsys):
    for name in ("tqdm", "tqdm.auto"):
        monkeypatch.setitem(sys.modules, name, None)
    model = binfm.train(*numbers, epochs=2, progress=True)
    assert len(model.history) == 2
    assert capsys.readouterr() == ("", "")


def test_the_bar_is_closed_after_an_error(numbers, monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    from tqdm.auto import tqdm

    with pytest.raises(ZeroDivisionError):
        binfm.train(*numbers, progress=True, callback=lambda epoch, record: 1 / 0)
    assert len(tqdm._instances) == 0
