"""Weights that are pulled towards silence: noisy data, linear data, and what is chosen on held-out samples."""

import binfm
import numpy as np
import pytest
from binfm import BinFMClassifier, BinFMRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 6))


def test_noise_is_not_learned():
    """Of 26 columns two matter, and a third of the labels are random."""
    noisy = np.hstack([X, RNG.normal(size=(3000, 20))])
    y = np.where(RNG.random(3000) < 0.3, RNG.integers(0, 2, 3000), X[:, 0] + X[:, 1] > 0)
    scores = [
        np.mean(binfm.train(noisy[:1500], y[:1500], regularization=strength).predict(noisy[1500:]) == y[1500:])
        for strength in (0, "auto")
    ]
    assert scores[1] > scores[0] + 0.05
    assert scores[1] > 0.75


def test_interactions_are_still_learned():
    y = X[:, 0] * X[:, 1] > 0
    model = binfm.train(X[:2000], y[:2000], regularization="auto")
    assert np.mean(model.predict(X[2000:]) == y[2000:]) > 0.95


def test_linear_targets_are_found():
    """A straight line costs nothing, also beyond most of the samples."""
    heavy = np.sinh(X)
    y = heavy @ [1.0, -2.0, 0.5, 0, 0, 0] + 100
    model = binfm.train(heavy[:2000], y[:2000], loss="squared", regularization="auto")
    error = model.predict(heavy[2000:]) - y[2000:]
    assert 1 - np.mean(error**2) / np.var(y[2000:]) > 0.9


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_targets_may_have_any_scale(scale):
    y = (X[:, 0] + X[:, 1] * X[:, 2]) * scale
    model = binfm.train(X[:2000], y[:2000], loss="squared", regularization="auto")
    assert 1 - np.mean((model.predict(X[2000:]) - y[2000:]) ** 2) / np.var(y[2000:]) > 0.85


def test_a_constant_target_is_predicted():
    model = binfm.train(X, np.full(3000, 3.25), loss="squared", regularization="auto")
    assert np.unique(model.predict(X)).tolist() == [3.25]


def ratings(users=200, items=150, samples=8000):
    """Return users, items and what they make of each other: a taste for each, and one common taste."""
    rng = np.random.default_rng(1)
    user, item = rng.integers(0, users, samples), (items * rng.random(samples) ** 2).astype(int)
    taste, kind = rng.normal(size=users), rng.normal(size=items)
    y = 3 + 0.5 * rng.normal(size=users)[user] + 0.5 * rng.normal(size=items)[item] + 0.7 * taste[user] * kind[item]
    return np.stack([user, item], axis=1), y + 0.5 * rng.normal(size=samples)


def r2(model, X, y):
    return 1 - np.mean((model.predict(X) - y) ** 2) / np.var(y)


def test_factors_of_categories_are_learned_where_a_linear_model_cannot_follow():
    table, y = ratings()
    settings = {"loss": "squared", "categorical": [0, 1]}
    scores = {m: r2(binfm.train(table[:6000], y[:6000], m=m, **settings), table[6000:], y[6000:]) for m in (0, 8)}
    plain = r2(binfm.train(table[:6000], y[:6000], m=8, regularization=0, **settings), table[6000:], y[6000:])
    assert scores[8] > scores[0] + 0.1
    assert scores[8] > plain + 0.1


def test_categories_that_are_noise_cost_nothing():
    """Most of 3,000 categories occur once or twice, and say nothing."""
    rng = np.random.default_rng(2)
    table = np.stack([rng.integers(0, 3000, 4000), rng.integers(0, 3, 4000)], axis=1)
    y = rng.random(4000) < np.array([0.2, 0.5, 0.8])[table[:, 1]]
    model = binfm.train(table[:3000], y[:3000], categorical=[0, 1])
    losses = np.logaddexp(0, -np.where(y[3000:], 1, -1) * model.decision_function(table[3000:]))
    best = -(0.2 * np.log(0.2) + 0.8 * np.log(0.8)) * 2 / 3 + np.log(2) / 3
    assert np.mean(losses) < best + 0.03


def test_categories_do_not_depend_on_threads_or_order():
    table, y = ratings(samples=3000)
    settings = {"loss": "squared", "categorical": [0, 1], "epochs": 4, "m": 8}
    models = {binfm.train(table, y, n_jobs=jobs, **settings).to_bytes() for jobs in (1, 2, 3)}
    order = RNG.permutation(len(y))
    models.add(binfm.train(table[order], y[order], **settings).to_bytes())
    assert len(models) == 1


def test_the_model_does_not_depend_on_threads_or_order():
    y = X[:, 0] + X[:, 1] * X[:, 2]
    order = RNG.permutation(3000)
    three = np.digitize(y, [-1, 1])
    for target, loss in ((y, "squared"), (y > 0, "logistic"), (three, "logistic")):
        settings = {"loss": loss, "regularization": "auto", "epochs": 4}
        models = {binfm.train(X, target, n_jobs=jobs, **settings).to_bytes() for jobs in (1, 2, 3)}
        models.add(binfm.train(X[order], target[order], **settings).to_bytes())
        assert len(models) == 1


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_many_samples_give_the_same_model_on_any_number_of_threads(loss):
    """The linear term is solved in several blocks of samples."""
    many = np.random.default_rng(1).normal(size=(20_000, 3)).astype(np.float32)
    many[::7, 0] = np.nan
    y = many[:, 1] + many[:, 2] > 0.5
    settings = {"loss": loss, "regularization": 30, "m": 4, "epochs": 2}
    models = [binfm.train(many, y, n_jobs=jobs, **settings) for jobs in (1, 2, 3, 7)]
    assert len({model.to_bytes() for model in models}) == 1
    assert np.mean((models[0].decision_function(many) > y.mean() * (loss == "squared")) == y) > 0.9


def test_majority_cells_are_silent():
    """Of 40 rare indicators each matters alone; the zeros of the others do not drown it."""
    indicators = (RNG.random((4000, 40)) < 0.05).astype(float)
    y = indicators[:, :20].sum(axis=1) > indicators[:, 20:].sum(axis=1)
    model = binfm.train(indicators[:3000], y[:3000], regularization=30)
    assert np.mean(model.predict(indicators[3000:]) == y[3000:]) > 0.95


def test_estimators_choose_and_resume():
    y = X[:, 0] * X[:, 1] > 0
    classifier = BinFMClassifier(regularization="auto", warm_start=True, epochs=3).fit(X, y)
    assert classifier.model_ == binfm.train(X, y, regularization="auto", epochs=3)
    first = classifier.score(X, y)
    assert classifier.fit(X, y).score(X, y) >= first - 0.01
    regressor = BinFMRegressor(regularization=30)
    for rows in np.array_split(np.arange(3000), 6):
        regressor.partial_fit(X[rows], X[rows, 0])
    assert regressor.score(X, X[:, 0]) > 0.9


def test_what_does_not_go_together_is_refused():
    with pytest.raises(ValueError, match=r"^regularization must be 'auto' or a finite number of at least 0, got"):
        binfm.train(X, X[:, 0] > 0, regularization="high")
    with pytest.raises(ValueError, match=r"^regularization must be 0 or 'auto' with max_bytes, got 30"):
        binfm.train(X, X[:, 0] > 0, regularization=30, max_bytes=500)
    for other in ({"dropout": 0.2}, {"ensemble": 2}, {"polish": 1}, {"tilings": 1}, {"method": "fm"}, {"w_bits": 1}):
        with pytest.raises(ValueError, match=r"^regularization must be 0 with "):
            binfm.train(X, X[:, 0] > 0, regularization=10, **other)


def test_wide_tables_use_the_columns_that_matter():
    """Of 1,500 columns of noise two matter; a linear model of all of them has 60 %."""
    wide = np.random.default_rng(1).normal(size=(1200, 1500))
    y = wide[:, 3] + wide[:, 700] > 0
    model = binfm.train(wide[:800], y[:800])
    assert np.mean(model.predict(wide[800:]) == y[800:]) > 0.93
    used = {column for column, feature in enumerate(model.features) if feature.kind != "unused"}
    assert {3, 700} <= used
    assert len(used) <= 128
    assert model == binfm.train(wide[:800], y[:800], n_jobs=1)


def test_wide_regression_uses_the_columns_that_matter():
    wide = np.random.default_rng(2).normal(size=(600, 400))
    y = 2 * wide[:, 5] - wide[:, 6] + 0.1 * wide[:, 7] ** 2
    model = binfm.train(wide[:500], y[:500], loss="squared")
    assert np.corrcoef(model.predict(wide[500:]), y[500:])[0, 1] > 0.95


def test_linear_classes_are_as_good_as_with_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(3)
    X = rng.normal(size=(10_400, 12))
    y = X @ rng.normal(size=12) + rng.logistic(size=10_400) > 0
    linear = LogisticRegression().fit(X[:400], y[:400]).score(X[400:], y[400:])
    model = binfm.train(X[:400], y[:400])
    assert np.mean(model.predict(X[400:]) == y[400:]) > linear - 0.01


def test_without_pairs_there_are_no_factors():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(1500, 6))
    y = np.sin(2 * X[:, 0]) + np.abs(X[:, 1]) + rng.logistic(size=1500) > 0.8
    model = binfm.train(X, y)
    assert model.m == 0
