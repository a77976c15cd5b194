"""`feature_importances` is the Shapley effect of each feature on the variance of the score."""

from itertools import combinations, product
from math import factorial

import binfm
import numpy as np
import pytest
from binfm import BinFMClassifier, BinFMRegressor
from sklearn.feature_selection import SelectFromModel

QUICK = {"m": 3, "epochs": 4, "regularization": 0, "early_stopping": False}
rng = np.random.default_rng(0)


@pytest.mark.parametrize("classes", [2, 3])
def test_they_are_shapley_effects(classes):
    """Compared with their definition, over all values that three independent features take."""
    levels = [np.arange(count) for count in (2, 3, 2)]
    grid = np.array(list(product(*levels)), dtype=float)
    X = grid[rng.integers(0, len(grid), 500)]
    model = binfm.train(X, (X[:, 0] * X[:, 1] + X[:, 2] + rng.integers(0, 2, 500)) % classes, **QUICK)
    scores = model.decision_function(grid).reshape(2, 3, 2, -1)

    def explained(features):
        """Return the variance of the mean score given some features."""
        others = tuple(f for f in range(3) if f not in features)
        return scores.mean(axis=others).reshape(-1, scores.shape[-1]).var(axis=0).sum()

    expected = np.zeros(3)
    for f in range(3):
        rest = [g for g in range(3) if g != f]
        for size in range(3):
            share = factorial(size) * factorial(2 - size) / factorial(3)
            expected[f] += share * sum(explained((*some, f)) - explained(some) for some in combinations(rest, size))
    np.testing.assert_allclose(model.feature_importances(grid), expected / expected.sum(), atol=1e-9)


def test_frequencies_count():
    X = np.column_stack([rng.random(2000) < 0.01, rng.random(2000) < 0.5]).astype(float)
    model = binfm.train(X, X[:, 0] + X[:, 1], loss="squared", **QUICK)
    assert model.feature_importances()[0] > 0.2, "as if both values were equally frequent"
    assert model.feature_importances(X)[0] < 0.1


def test_estimators_have_them():
    X = rng.normal(size=(500, 4))
    X[:, 3] = 7  # constant
    regressor = BinFMRegressor(**QUICK).fit(X, 3 * X[:, 1])
    assert regressor.feature_importances_.argmax() == 1
    assert regressor.feature_importances_.sum() == pytest.approx(1)
    assert regressor.feature_importances_[3] == 0
    chosen = SelectFromModel(BinFMClassifier(**QUICK), max_features=1).fit(X, X[:, 2] > 0)
    assert chosen.get_support().tolist() == [False, False, True, False]
    assert not hasattr(BinFMClassifier(), "feature_importances_")


def test_models_without_variance_or_bins():
    X = rng.normal(size=(100, 2))
    assert binfm.train(X, np.full(100, 2.5), loss="squared", m=0, regularization=30.0).feature_importances(X).sum() == 0
    with pytest.raises(ValueError, match="feature_importances"):
        binfm.train(X, X[:, 0] > 0, method="fm", epochs=1).feature_importances()
