"""Resumed training: partial_fit and warm_start."""

import pickle

import binfm
import numpy as np
import polars as pl
import pytest
from binfm import BinFMClassifier, BinFMRegressor
from sklearn.base import clone

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(600, 3))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)
Y3 = Y + (X[:, 2] > 0.5)
SMALL = {"m": 5, "b": 9, "n_jobs": 1, "regularization": 0}


@pytest.mark.parametrize("optimizer", ["adagrad", "sgd"])
@pytest.mark.parametrize("y", [Y, Y3], ids=["two", "three"])
def test_resuming_is_as_if_training_had_never_stopped(optimizer, y):
    """Proxies, optimizer, sample order and learning rate carry over: the bytes are those of a single run of few epochs.

    Beyond four epochs the learning rate falls at the end of a run, so several runs differ from a single one.
    """
    settings = {**SMALL, "optimizer": optimizer}
    classifier = BinFMClassifier(**settings, epochs=1, warm_start=True).fit(X, y)
    assert classifier.model_ == binfm.train(X, y, **settings, epochs=1)
    for epochs, total in ((2, 3), (1, 4)):
        classifier.set_params(epochs=epochs).fit(X, y)
        assert classifier.n_iter_ == epochs
        assert classifier.model_ == binfm.train(X, y, **settings, epochs=total)


def test_resuming_with_weights_and_numbers():
    weight = RNG.random(600)
    target = X[:, 0] * X[:, 1] * 7 + 100
    regressor = BinFMRegressor(**SMALL, epochs=2, warm_start=True)
    regressor.fit(X, target, weight).fit(X, target, weight)
    assert regressor.model_ == binfm.train(X, target, loss="squared", **SMALL, epochs=4, sample_weight=weight)


def test_resuming_after_early_stopping():
    classifier = BinFMClassifier(**SMALL, epochs=40, early_stopping=True, patience=2, warm_start=True)
    losses = [min(record["val_loss"] for record in classifier.fit(X, Y).model_.history) for _ in range(3)]
    assert losses[-1] <= losses[0]
    assert "val_loss" not in classifier.set_params(early_stopping=False, epochs=1).fit(X, Y).model_.history[0]


def test_without_warm_start_fit_starts_over():
    classifier = BinFMClassifier(**SMALL, epochs=2, warm_start=True).fit(X, Y).fit(X, Y)
    fresh = classifier.set_params(warm_start=False).fit(X, Y).model_
    assert fresh == binfm.train(X, Y, **SMALL, epochs=2)
    assert clone(classifier.set_params(warm_start=True)).fit(X, Y).model_ == fresh


def test_partial_fit_learns_from_parts():
    many = np.random.default_rng(1).uniform(-1, 1, size=(20_000, 3))
    target = (many[:, 0] * many[:, 1] > 0).astype(int)
    classifier = BinFMClassifier(**{**SMALL, "m": 16})
    scores = []
    for rows in np.array_split(np.arange(19_000), 38):
        classifier.partial_fit(many[rows], target[rows], classes=[0, 1])
        scores.append(classifier.score(many[19_000:], target[19_000:]))
    assert scores[0] < 0.9 < 0.94 < scores[-1]


def test_partial_fit_is_one_epoch_at_a_constant_rate():
    steady = BinFMClassifier(**SMALL)
    for _ in range(2):
        steady.partial_fit(X, Y, classes=[0, 1])
    assert steady.n_iter_ == 1
    once = BinFMClassifier(**SMALL).partial_fit(X, Y, classes=[0, 1])
    assert once.model_ == binfm.train(X, Y, **SMALL, epochs=1, early_stopping=False)
    assert steady.model_ != binfm.train(X, Y, **SMALL, epochs=2)  # its second epoch takes smaller steps


def test_the_first_call_fixes_the_encoder():
    classifier = BinFMClassifier(**SMALL).partial_fit(X, Y, classes=[0, 1])
    before = [edges.tolist() for edges in classifier.model_.edges]
    classifier.partial_fit(X * 100, Y)
    assert [edges.tolist() for edges in classifier.model_.edges] == before
    cities = pl.DataFrame({"city": ["a", "b"] * 30, "x": range(60)})
    classifier = BinFMClassifier(**SMALL).partial_fit(cities, [0, 1] * 30, classes=[0, 1])
    classifier.partial_fit(cities.with_columns(city=pl.lit("new")), [0, 1] * 30)
    assert classifier.model_.features[0].categories == ("a", "b")
    assert classifier.feature_names_in_.tolist() == ["city", "x"]


def test_classes_may_appear_later():
    labels = np.array(["no", "perhaps", "yes"])
    classifier = BinFMClassifier(m=16, n_jobs=1).partial_fit(X[Y3 < 2], labels[Y3[Y3 < 2]], classes=labels)
    for _ in range(30):
        classifier.partial_fit(X, labels[Y3])
    assert classifier.classes_.tolist() == labels.tolist()
    assert classifier.score(X[Y3 == 2], labels[Y3[Y3 == 2]]) > 0.5


def test_weights_are_relative_to_those_of_the_first_call():
    def after(second):
        classifier = BinFMClassifier(**SMALL).partial_fit(X, Y, classes=[0, 1], sample_weight=np.full(600, 2.0))
        return classifier.partial_fit(X, 1 - Y, sample_weight=np.full(600, second)).model_

    assert after(2.0) == BinFMClassifier(**SMALL).partial_fit(X, Y, classes=[0, 1]).partial_fit(X, 1 - Y).model_
    assert after(0.02) != after(2.0)


def test_numbers_keep_their_units():
    target = X[:, 0] * 3 + 50
    regressor = BinFMRegressor(**SMALL)
    for rows in [slice(0, 300), slice(300, 600)] * 20:
        regressor.partial_fit(X[rows], target[rows])
    assert regressor.score(X, target) > 0.8


def test_a_pickle_keeps_the_model_but_cannot_resume():
    classifier = BinFMClassifier(**SMALL).partial_fit(X, Y, classes=[0, 1])
    restored = pickle.loads(pickle.dumps(classifier))
    assert restored.model_ == classifier.model_
    np.testing.assert_array_equal(restored.predict(X), classifier.predict(X))
    with pytest.raises(ValueError, match="partial_fit cannot resume training"):
        restored.partial_fit(X, Y)
    classifier.partial_fit(X, Y)


WRONG = {
    "no classes": (lambda c: c.partial_fit(X, Y), "classes must have all labels in the first call"),
    "one class": (lambda c: c.partial_fit(X, Y, classes=[0]), "y must have at least two classes, got one"),
    "unknown class": (lambda c: c.partial_fit(X, Y3, classes=[0, 1]), "y must only have labels .*, got 2"),
    "other classes": (
        lambda c: c.partial_fit(X, Y, classes=[0, 1]).partial_fit(X, Y, classes=[0, 2]),
        r"classes must be \[0, 1\], as in the first call",
    ),
    "fewer columns": (lambda c: c.partial_fit(X, Y, classes=[0, 1]).partial_fit(X[:, :2], Y), "2 features"),
    "balanced": (
        lambda c: c.set_params(class_weight="balanced").partial_fit(X, Y, classes=[0, 1]),
        "class_weight must be a dict or None in partial_fit",
    ),
    "a limit": (
        lambda c: c.set_params(max_bytes=99).partial_fit(X, Y, classes=[0, 1]),
        "max_bytes must be None in partial_fit, got 99",
    ),
    "a limit and warm start": (
        lambda c: c.set_params(max_bytes=99, warm_start=True).fit(X, Y),
        "max_bytes must be None with warm_start, got 99",
    ),
    "after a limit": (
        lambda c: c.set_params(max_bytes=99).fit(X, Y).set_params(max_bytes=None).partial_fit(X, Y),
        "partial_fit cannot resume training",
    ),
    "another m": (
        lambda c: c.set_params(warm_start=True).fit(X, Y).set_params(m=6).fit(X, Y),
        "m must be 5, as when training began, got 6",
    ),
    "another class": (
        lambda c: c.set_params(warm_start=True).fit(X, Y).fit(X, Y3),
        "y must only have labels .*, got 2",
    ),
    "no epochs": (
        lambda c: c.set_params(warm_start=True).fit(X, Y).set_params(epochs=0).fit(X, Y),
        "epochs must be a whole number from 1 to 1000000, got 0",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_invalid_resumption_is_rejected(name):
    call, pattern = WRONG[name]
    with pytest.raises(ValueError, match=pattern):
        call(BinFMClassifier(**SMALL, epochs=1))


def test_partial_fit_resumes_after_fit():
    classifier = BinFMClassifier(**SMALL, epochs=1).fit(X, Y)
    twice = BinFMClassifier(**SMALL).partial_fit(X, Y, classes=[0, 1]).partial_fit(X, Y)
    assert classifier.partial_fit(X, Y).model_ == twice.model_
