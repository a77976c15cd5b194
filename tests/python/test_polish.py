"""Signs that are flipped after training wherever that lowers the loss."""

import binfm
import numpy as np
import pytest
from binfm import BinFMClassifier
from scipy import sparse

SMALL = {"m": 2, "b": 6, "tilings": 2}


def table(samples, seed):
    """Return samples of six features, and four classes that depend on three of them."""
    X = np.random.default_rng(seed).normal(size=(samples, 6))
    return X, (X[:, 0] * X[:, 1] > 0) + 2 * (X[:, 2] + X[:, 0] > 0)


def accuracy(model, X, y):
    return float(np.mean(model.predict(X) == y))


def log_loss(model, X, y):
    return float(-np.log(model.predict_proba(X)[np.arange(len(y)), y]).mean())


def test_zero_passes_give_the_plain_model():
    X, y = table(300, 0)
    assert binfm.train(X, y, polish=0, epochs=3, **SMALL) == binfm.train(X, y, epochs=3, **SMALL)


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
def test_small_models_of_many_classes_improve(loss):
    gains = []
    for seed in range(4):
        X, y = table(2000, seed)
        X_test, y_test = table(4000, seed + 100)
        plain, polished = (
            binfm.train(X, y, loss=loss, seed=seed, polish=passes, **SMALL, regularization=0) for passes in (0, 3)
        )
        assert polished.nbytes == plain.nbytes
        gains.append(accuracy(polished, X_test, y_test) - accuracy(plain, X_test, y_test))
    assert np.mean(gains) > 0.01, gains


def test_the_training_loss_decreases():
    X, y = table(2000, 1)
    losses = [
        log_loss(binfm.train(X, y % 2, polish=passes, **SMALL, regularization=0), X, y % 2) for passes in (0, 1, 3)
    ]
    assert losses[0] > losses[1] >= losses[2]


def test_numbers_keep_their_units_and_fit_better():
    X, _ = table(2000, 2)
    y = 1e6 * (X[:, 0] * X[:, 1] + 3)
    errors = [
        np.mean((binfm.train(X, y, loss="squared", polish=passes, **SMALL).predict(X) - y) ** 2) for passes in (0, 2)
    ]
    assert errors[1] < errors[0] < np.var(y)


def test_samples_count_by_their_weight():
    X, y = table(1500, 3)
    weight = np.r_[np.ones(1000), np.zeros(500)]
    noise = np.r_[y[:1000], np.random.default_rng(0).integers(0, 4, 500)]
    settings = {**SMALL, "polish": 2, "epochs": 5}
    plain, noisy = (binfm.train(X, target, sample_weight=weight, **settings) for target in (y, noise))
    assert plain == noisy


def test_missing_values_categories_and_sparse_tables():
    X, y = table(1200, 4)
    X[::7, 0] = np.nan
    X[:, 5] = np.round(2 * X[:, 5])
    better = []
    for values, more in [(X, {"categorical": [5]}), (sparse.csr_array(np.where(X > 0.3, X, 0)), {})]:
        plain, polished = (
            binfm.train(values, y, polish=passes, **SMALL, **more, regularization=0) for passes in (0, 2)
        )
        better.append(log_loss(polished, values, y) < log_loss(plain, values, y))
    assert all(better)


@pytest.mark.parametrize("more", [{"ensemble": 2}, {"dropout": 0.2}, {"loss": "hinge"}, {"loss": "squared_hinge"}])
def test_polishing_works_with_every_training_option(more):
    X, y = table(1500, 5)
    model = binfm.train(X, y, m=4, b=8, tilings=2, polish=2, **more)
    assert accuracy(model, X, y) > 0.7
    assert binfm.Model.from_bytes(model.to_bytes()) == model


def test_training_resumes_from_the_signs_before_polishing():
    """Polishing flips signs of the model, not of the trainer, which continues as if nothing was flipped."""
    X, y = table(900, 6)
    polished, plain = (BinFMClassifier(polish=passes, **SMALL) for passes in (2, 0))
    for classifier in (polished, plain):
        for _ in range(2):
            classifier.partial_fit(X, y, classes=range(4))
    flipped = polished.model_.V != plain.model_.V
    assert 0 < flipped.mean() < 0.5
    assert log_loss(polished.model_, X, y) < log_loss(plain.model_, X, y)
