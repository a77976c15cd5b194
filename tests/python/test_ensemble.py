"""Members that are trained separately and joined in one model."""

import binfm
import numpy as np
import pytest
from binfm import BinFMClassifier


def noisy(samples, seed):
    """Return samples whose class depends on a product of two of six features, with a fifth of the labels flipped."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(samples, 6))
    return X, (X[:, 0] * X[:, 1] > 0) ^ (rng.random(samples) < 0.2)


def three_classes(X, y):
    """Return a target of three classes."""
    return y.astype(int) + (X[:, 2] > 0)


def accuracy(model, X, y):
    return float(np.mean(model.predict(X) == y))


def test_one_member_is_the_plain_model():
    X, y = noisy(300, 0)
    assert binfm.train(X, y, m=6, ensemble=1, epochs=3) == binfm.train(X, y, m=6, epochs=3)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_factors_of_the_members_are_concatenated(classes):
    X, y = noisy(400, 1)
    y = y if classes == 2 else three_classes(X, y)
    more = {"b": 7, "epochs": 3}
    joined = binfm.train(X, y, m=12, ensemble=3, **more, regularization=0)
    first = binfm.train(X, y, m=4, **more, regularization=0)
    assert (joined.V[..., :4] == first.V).all()
    members = [joined.V[..., i : i + 4] for i in (0, 4, 8)]
    assert all((members[i] != members[j]).any() for i, j in [(0, 1), (0, 2), (1, 2)])
    assert joined.nbytes == binfm.train(X, y, m=12, **more, regularization=0).nbytes


def test_an_ensemble_beats_its_members_and_a_single_model_of_its_size():
    """With a fifth of the labels flipped, a single model of 64 factors learns the noise."""
    accuracies = {}
    for seed in range(3):
        X, y = noisy(600, seed)
        X_test, y_test = noisy(4000, seed + 100)
        for m, ensemble in [(64, 1), (8, 1), (64, 8)]:
            model = binfm.train(X, y, m=m, ensemble=ensemble, seed=seed, regularization=0)
            accuracies.setdefault((m, ensemble), []).append(accuracy(model, X_test, y_test))
    mean = {key: np.mean(values) for key, values in accuracies.items()}
    assert mean[64, 8] > mean[64, 1] + 0.01, mean
    assert mean[64, 8] > mean[8, 1] + 0.01, mean


def test_probabilities_and_numbers_keep_their_units():
    X, y = noisy(2000, 2)
    model = binfm.train(X, y, m=16, ensemble=4)
    probability = model.predict_proba(X)[:, 1]
    assert abs(probability.mean() - y.mean()) < 0.02
    assert 0.6 < probability[y].mean() < 0.95
    number = 1e4 + 100 * X[:, 0]
    model = binfm.train(X, number, loss="squared", m=16, ensemble=4)
    assert np.mean((model.predict(X) - number) ** 2) < 0.2 * number.var()


def test_threads_do_not_matter():
    X, y = noisy(500, 3)
    for target in (y, three_classes(X, y)):
        more = {"m": 6, "ensemble": 3, "epochs": 6, "early_stopping": True, "dropout": 0.2}
        assert binfm.train(X, target, n_jobs=1, **more) == binfm.train(X, target, n_jobs=4, **more)


def test_an_ensemble_resumes_with_more_samples():
    X, y = noisy(900, 4)
    estimator = BinFMClassifier(m=8, ensemble=2)
    for part in np.split(np.arange(900), 3):
        estimator.partial_fit(X[part], y[part], classes=[False, True])
    assert estimator.model_.m == 8
    before = accuracy(estimator, X, y)
    for _ in range(15):
        estimator.partial_fit(X, y)
    assert accuracy(estimator, X, y) > max(0.75, before)


def test_ensembles_of_weighted_and_of_sparse_samples():
    X, y = noisy(500, 5)
    weight = (np.arange(500) % 2).astype(float)
    model = binfm.train(X, y, m=6, ensemble=2, epochs=3, sample_weight=weight)
    assert model == binfm.train(X, np.where(weight > 0, y, ~y), m=6, ensemble=2, epochs=3, sample_weight=weight)
    from scipy import sparse

    stored = sparse.csr_array(np.where(np.abs(X) > 1, X, 0.0))
    assert np.isfinite(binfm.train(stored, y, m=6, ensemble=2, epochs=3).decision_function(stored)).all()


def test_constant_columns_leave_a_model_without_rows():
    model = binfm.train(np.ones((20, 2)), np.arange(20) % 2, m=4, ensemble=2, epochs=2)
    assert np.isfinite(model.decision_function(np.ones((1, 2)))).all()


def test_the_search_tries_ensembles_for_a_single_output():
    X, y = noisy(400, 6)
    small = {"epochs": 3, "b": 6, "tilings": 2}

    def tried(target, **more):
        trials = binfm.train(X, target, max_bytes=1000, **small, **more).search.trials
        return {trial["ensemble"] for trial in trials}, trials

    members, trials = tried(y)
    assert members == {1, 2, 4, 8}
    assert all(trial["m"] % trial["ensemble"] == 0 and trial["nbytes"] <= 1000 for trial in trials)
    assert tried(three_classes(X, y))[0] == {1}
    members, trials = tried(y, ensemble=3)
    assert members == {3}
    assert all(trial["m"] % 3 == 0 for trial in trials)
    assert tried(y, m=12)[0] == {1, 2}
    assert tried(y, scaling=False)[0] == {1}
    with pytest.raises(ValueError, match=r"max_bytes must be at least \d+, .* got 40"):
        binfm.train(X, y, max_bytes=40, ensemble=5, **small)
