"""The outputs of three or more classes, trained jointly."""

import binfm
import numpy as np
import pytest
from binfm import BinFMClassifier


def sectors(rows, classes, seed=0):
    """Return points in the plane, and the sector each one is in."""
    X = np.random.default_rng(seed).normal(size=(rows, 2))
    turn = np.arctan2(X[:, 0], X[:, 1]) / (2 * np.pi) + 0.5
    return X, (turn * classes).astype(int) % classes


def test_probabilities_are_the_softmax_of_the_scores(tmp_path):
    X, y = sectors(500, 4)
    model = binfm.train(X, y, loss="softmax", m=4, epochs=5)
    assert model.loss == "softmax"
    scores = model.decision_function(X)
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(X), odds / odds.sum(axis=1, keepdims=True), rtol=1e-12)
    assert (model.predict(X) == scores.argmax(axis=1)).all()
    model.save(tmp_path / "m.binfm")
    restored = binfm.load(tmp_path / "m.binfm")
    assert restored == model
    assert restored.loss == "softmax"


def test_two_classes_use_the_logistic_loss():
    X, y = sectors(300, 2)
    assert binfm.train(X, y, loss="softmax", m=4, epochs=3) == binfm.train(X, y, m=4, epochs=3)


def test_the_history_records_the_softmax_loss():
    X, y = sectors(600, 3)
    model = binfm.train(X, y, loss="softmax", m=4, epochs=8, eval_set=(X, y), early_stopping=True)
    probability = model.predict_proba(X)[np.arange(600), y]
    expected = -np.log(probability).mean()
    assert model.history[model.best_epoch - 1]["val_loss"] == pytest.approx(expected, rel=0.03)  # scales are rounded


def clouds(rows, seed):
    """Return points around nine centers in twelve dimensions, and the center of each one."""
    centers = np.random.default_rng(7).normal(size=(9, 12))
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 9, rows)
    return centers[y] + 0.8 * rng.normal(size=(rows, 12)), y


def test_softmax_improves_a_tiny_model():
    """Two bins per feature and one factor: what one output cannot separate, the others can."""
    gains = []
    for seed in range(6):
        X, y = clouds(1500, seed)
        X_test, y_test = clouds(3000, seed + 50)
        accuracies = [
            np.mean(binfm.train(X, y, loss=loss, m=1, b=2, tilings=1, seed=seed).predict(X_test) == y_test)
            for loss in ("softmax", "logistic")
        ]
        gains.append(accuracies[0] - accuracies[1])
    assert np.mean(gains) > 0.01, gains


@pytest.mark.parametrize("method", ["sefm", "dfm", "fm"])
def test_float_methods_learn_with_softmax(method):
    X, y = sectors(1500, 4)
    model = binfm.train(X, y, loss="softmax", method=method, m=8)
    assert np.mean(model.predict(X) == y) > 0.85


def test_the_estimator_accepts_softmax():
    X, y = sectors(300, 3)
    estimator = BinFMClassifier(loss="softmax", m=4, epochs=3).fit(X, y)
    assert (estimator.predict_proba(X) == estimator.model_.predict_proba(X)).all()


def test_only_relative_weights_matter():
    X, y = sectors(400, 3)
    doubled = binfm.train(X, y, loss="softmax", m=4, epochs=3, sample_weight=np.full(400, 2.0))
    assert doubled == binfm.train(X, y, loss="softmax", m=4, epochs=3)


def test_the_search_tries_softmax_for_small_limits():
    X, y = sectors(300, 3)
    more = {"epochs": 3, "b": 6, "tilings": 2}
    tried = [
        {trial["loss"] for trial in binfm.train(X, target, max_bytes=limit, **more).search.trials}
        for target, limit in [(y, 300), (y, 5000), (y > 0, 300)]
    ]
    assert tried == [{"logistic", "hinge", "softmax"}, {"logistic", "hinge"}, {"logistic", "hinge"}]
    trials = binfm.train(X, y, max_bytes=300, loss="softmax", **more).search.trials
    assert {trial["loss"] for trial in trials} == {"softmax"}
    assert {trial["dropout"] for trial in trials} == {0.0}
    binfm.train(X, y, max_bytes=300, dropout=0.2, **more)  # which softmax does not support
