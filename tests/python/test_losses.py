"""Losses of numbers besides the squared one: Poisson, quantile, Huber."""

import json

import binfm
import numpy as np
import polars
import pytest
from binfm import BinFMClassifier, BinFMRegressor
from binfm.baseline import constant_loss
from binfm.cli import main
from binfm.data.dataset import Dataset
from binfm.params import Params

QUICK = {"m": 4, "epochs": 6, "regularization": 30.0}
PLAIN = {"m": 4, "epochs": 8, "regularization": 0, "early_stopping": False}
rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(3000, 3))
MEAN = 20 * np.exp(2 * X[:, 0] * (X[:, 1] > 0) - X[:, 2])
COUNTS = rng.poisson(MEAN).astype(float)
NOISE = rng.standard_normal(3000) * (0.2 + np.abs(X[:, 1]))
NUMBERS = 1000 * (X[:, 0] + NOISE)
TRAIN, TEST = slice(2000), slice(2000, None)


def deviance(y, mean):
    return 2 * np.mean(np.where(y > 0, y * np.log(np.where(y > 0, y, 1) / mean), 0) - y + mean)


def pinball(y, predicted, quantile):
    return np.mean(np.maximum(quantile * (y - predicted), (quantile - 1) * (y - predicted)))


@pytest.mark.parametrize("more", [QUICK, PLAIN])
def test_poisson_predicts_means_of_counts(more):
    model = binfm.train(X[TRAIN], COUNTS[TRAIN], loss="poisson", **more)
    predicted = model.predict(X[TEST])
    assert model.classes is None
    np.testing.assert_allclose(predicted, np.exp(model.decision_function(X[TEST])), rtol=1e-14)
    constant = deviance(COUNTS[TEST], COUNTS[TRAIN].mean())
    error, bias = (0.12, 0.05) if more is QUICK else (0.3, 0.25)
    assert deviance(COUNTS[TEST], predicted) < error * constant
    assert predicted.mean() == pytest.approx(COUNTS[TEST].mean(), rel=bias)


def test_poisson_is_the_same_in_other_units():
    models = [binfm.train(X, scale * COUNTS, loss="poisson", **QUICK) for scale in (1.0, 1024.0)]
    np.testing.assert_allclose(models[1].predict(X), 1024 * models[0].predict(X), rtol=1e-6)


def test_poisson_follows_exposure_as_weight():
    """Rates weighted by exposure are fitted like the counts themselves."""
    exposure = rng.uniform(0.1, 3, 3000)
    claims = rng.poisson(exposure * (0.1 + 0.4 * (X[:, 0] > 0)))
    model = binfm.train(X, claims / exposure, sample_weight=exposure, loss="poisson", **QUICK)
    rates = [np.average(model.predict(X), weights=exposure * side) for side in (X[:, 0] < 0, X[:, 0] > 0)]
    np.testing.assert_allclose(rates, [0.1, 0.5], rtol=0.15)


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("more", [QUICK, PLAIN])
def test_quantiles_have_their_share_below(quantile, more):
    model = binfm.train(X[TRAIN], NUMBERS[TRAIN], loss="quantile", quantile=quantile, **more)
    predicted = model.predict(X[TEST])
    assert np.mean(NUMBERS[TEST] <= predicted) == pytest.approx(quantile, abs=0.07)
    constant = np.quantile(NUMBERS[TRAIN], quantile)
    assert pinball(NUMBERS[TEST], predicted, quantile) < 0.85 * pinball(NUMBERS[TEST], constant, quantile)


def test_huber_and_the_median_do_not_follow_outliers():
    y = X[:, 0] + 0.1 * NOISE
    wrong = rng.random(3000) < 0.05
    y[wrong] += 200 * rng.standard_t(1.5, wrong.sum())

    def error(**more):
        return np.abs(binfm.train(X[TRAIN], y[TRAIN], **QUICK, **more).predict(X[TEST]) - X[TEST, 0]).mean()

    squared = error(loss="squared")
    assert error(loss="huber") < 0.1 * squared
    assert error(loss="quantile") < 0.1 * squared


def test_a_large_delta_is_the_squared_loss():
    """In other units, which round differently."""
    models = [binfm.train(X, NUMBERS, loss=loss, delta=1e3, **QUICK) for loss in ("squared", "huber")]
    assert np.corrcoef(models[0].predict(X), models[1].predict(X))[0, 1] > 0.995


@pytest.mark.parametrize("loss", ["poisson", "quantile", "huber"])
def test_the_regularization_is_chosen_and_nothing_diverges(loss):
    noise = rng.standard_gamma(0.3, 400) ** 3
    model = binfm.train(X[:400], noise, loss=loss, epochs=4)
    predicted = model.predict(X * 100)
    assert np.isfinite(predicted).all()
    assert predicted.max() <= 2 * noise.max(), "there is nothing to learn"


@pytest.mark.parametrize("loss", ["poisson", "quantile", "huber"])
@pytest.mark.parametrize("more", [{"method": "fm"}, {"polish": 1}, {"ensemble": 2}, {"dropout": 0.2}, {"m": 0}])
def test_losses_go_with_other_parameters(loss, more):
    model = binfm.train(X, COUNTS, loss=loss, **{**PLAIN, **more})
    assert np.corrcoef(model.predict(X), MEAN)[0, 1] > 0.5


@pytest.mark.parametrize("loss", ["poisson", "quantile", "huber"])
def test_files_keep_the_loss(loss):
    model = binfm.train(X[:500], COUNTS[:500], loss=loss, **QUICK)
    loaded = binfm.Model.from_bytes(model.to_bytes())
    assert loaded == model
    assert loaded.loss == loss
    assert loaded.predict(X).tobytes() == model.predict(X).tobytes()
    assert loaded.explain(X[0], X).direction().up == "higher prediction"


@pytest.mark.parametrize("loss", ["poisson", "quantile", "huber"])
def test_a_constant_is_what_losses_are_compared_with(loss):
    """Training on noise ends near the loss of a constant."""
    y = rng.poisson(3.0, 2000)
    history = binfm.train(np.sign(X[:2000]), y, loss=loss, quantile=0.8, m=0, epochs=6, regularization=30).history
    dataset = Dataset.learn(X[:2000], y, None, Params.of({"loss": loss, "quantile": 0.8}))
    assert history[-1]["loss"] == pytest.approx(constant_loss(dataset, loss), rel=0.03)


def test_c_headers_say_that_scores_are_logarithms(tmp_path):
    binfm.train(X[:500], COUNTS[:500], loss="poisson", **QUICK).export_c(tmp_path / "model.h")
    assert "for regression with scores that are logarithms of predictions" in (tmp_path / "model.h").read_text()


def test_early_stopping_and_metrics():
    valid = {"eval_set": (X[TEST], COUNTS[TEST])}
    model = binfm.train(
        X[TRAIN], COUNTS[TRAIN], loss="poisson", eval_metric=["poisson_deviance", "rmse"], **QUICK, **valid
    )
    best = model.history[model.best_epoch - 1]
    predicted = model.predict(X[TEST])
    assert best["val_poisson_deviance"] == pytest.approx(deviance(COUNTS[TEST], predicted), rel=0.02)
    assert best["val_rmse"] == pytest.approx(np.sqrt(np.mean((COUNTS[TEST] - predicted) ** 2)), rel=0.05)
    assert best["val_poisson_deviance"] == min(record["val_poisson_deviance"] for record in model.history)
    model = binfm.train(X[TRAIN], COUNTS[TRAIN], loss="quantile", quantile=0.9, eval_metric="pinball", **QUICK, **valid)
    best = model.history[model.best_epoch - 1]["val_pinball"]
    assert best == pytest.approx(pinball(COUNTS[TEST], model.predict(X[TEST]), 0.9), rel=0.02)


def test_a_budget_is_chosen_by_what_the_loss_says():
    model = binfm.train(X[:600], COUNTS[:600], loss="poisson", max_bytes=100, epochs=2)
    assert model.search.metric == "poisson_deviance"
    assert model.nbytes <= 100


def test_estimators_take_the_losses_of_their_kind():
    regressor = BinFMRegressor(loss="poisson", **QUICK).fit(X[TRAIN], COUNTS[TRAIN])
    assert regressor.score(X[TEST], COUNTS[TEST]) > 0.8
    assert regressor.model_ == binfm.train(X[TRAIN], COUNTS[TRAIN], loss="poisson", **QUICK)
    with pytest.raises(ValueError, match=r"^loss must be 'squared', .* or 'huber', got 'logistic'$"):
        BinFMRegressor(loss="logistic").fit(X, COUNTS)
    with pytest.raises(ValueError, match=r"got 'poisson', which is for BinFMRegressor$"):
        BinFMClassifier(loss="poisson").fit(X, COUNTS > 9)


def test_wrong_targets_and_parameters_are_refused():
    with pytest.raises(ValueError, match=r"^y must not be negative with loss 'poisson', got -1$"):
        binfm.train(X, COUNTS - 1 - COUNTS.min(), loss="poisson")
    with pytest.raises(ValueError, match=r"^y must have a number above 0 with loss 'poisson', got zeros only$"):
        binfm.train(X, np.zeros(3000), loss="poisson")
    with pytest.raises(ValueError, match=r"^eval_set's y must not be negative"):
        binfm.train(X, COUNTS, loss="poisson", eval_set=(X, -COUNTS))
    for quantile in (0, 1, 1.5):
        with pytest.raises(ValueError, match=r"^quantile must be a number between 0 and 1, got "):
            binfm.train(X, COUNTS, loss="quantile", quantile=quantile)
    with pytest.raises(ValueError, match=r"^delta must be a finite number above 0, got 0"):
        binfm.train(X, COUNTS, loss="huber", delta=0)


def test_command_line(tmp_path, capsys):
    data, model = str(tmp_path / "data.csv"), str(tmp_path / "model.binfm")
    polars.DataFrame({"a": X[:500, 0], "b": X[:500, 2], "claims": COUNTS[:500]}).write_csv(data)
    settings = ["-o", model, "--target", "claims", "--regularization", "30", "--epochs", "3"]
    assert main(["train", data, *settings, "--loss", "poisson"]) == 0
    assert main(["predict", model, data, "-o", str(tmp_path / "out.csv")]) == 0
    found = polars.read_csv(tmp_path / "out.csv")["prediction"].to_numpy()
    np.testing.assert_allclose(found, binfm.load(model).predict(X[:500, [0, 2]].astype(np.float32)), rtol=1e-6)
    capsys.readouterr()
    assert main(["evaluate", model, data, "--target", "claims", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["poisson_deviance"] == pytest.approx(
        deviance(COUNTS[:500], found), rel=1e-6
    )
    assert main(["train", data, *settings, "--loss", "quantile", "--quantile", "0.9"]) == 0
    capsys.readouterr()
    assert main(["evaluate", model, data, "--target", "claims", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["share_below"] == pytest.approx(0.9, abs=0.05)
    assert main(["train", data, *settings, "--loss", "hinge", "--regression"]) == 1
    assert "--loss must be 'squared', 'poisson', 'quantile' or 'huber' with --regression" in capsys.readouterr().err
