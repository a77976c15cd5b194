"""The scikit-learn estimators: scikit-learn's own checks, and what those do not cover."""

import inspect
import pickle

import binfm
import numpy as np
import pytest
import sklearn
from binfm import BinFMClassifier, BinFMRegressor
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_dataframe_column_names_consistency, parametrize_with_checks

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(400, 3))
SAME = X[:, 0] * X[:, 1] > 0
QUICK = {"m": 4, "epochs": 3, "n_jobs": 1}

NOT_EXACT = "samples are visited in random order: a weight of 2 and a repeated sample agree only on average"


def expected_failures(estimator):
    return {f"check_sample_weight_equivalence_on_{kind}_data": NOT_EXACT for kind in ("dense", "sparse")}


@parametrize_with_checks(
    [BinFMClassifier(n_jobs=1), BinFMRegressor(n_jobs=1)], expected_failed_checks=expected_failures
)
def test_scikit_learn(estimator, check):
    check(estimator)


def test_fit_gives_the_model_of_train():
    weight = RNG.random(400)
    classifier = BinFMClassifier(**QUICK, random_state=3).fit(X, SAME, sample_weight=weight)
    assert classifier.model_ == binfm.train(X, SAME, **QUICK, seed=3, sample_weight=weight)
    regressor = BinFMRegressor(**QUICK).fit(X, X[:, 0])
    assert regressor.model_ == binfm.train(X, X[:, 0], loss="squared", **QUICK)
    assert regressor.n_iter_ == 3


@pytest.mark.parametrize("estimator", [BinFMClassifier, BinFMRegressor])
def test_estimators_have_every_parameter_of_train(estimator):
    expected = set(inspect.signature(binfm.train).parameters) - {"X", "y", "sample_weight", "eval_set", "seed"}
    given = set(estimator().get_params())
    assert expected - given == ({"quantile", "delta"} if estimator is BinFMClassifier else {"class_weight"})
    assert {"sample_weight", "eval_set"} <= set(inspect.signature(estimator.fit).parameters)
    defaults = {name: p.default for name, p in inspect.signature(binfm.train).parameters.items()}
    assert all(estimator().get_params()[name] == defaults[name] for name in (expected & given) - {"loss"})


@pytest.mark.parametrize("labels", [np.array(["no", "yes"]), np.array([3, 7], np.int8), np.array([1.0, 2.0])])
def test_labels_are_returned_unchanged(labels):
    y = labels[SAME.astype(int)]
    classifier = BinFMClassifier(**QUICK).fit(X, y)
    np.testing.assert_array_equal(classifier.classes_, labels)
    assert classifier.predict(X).dtype == y.dtype
    assert classifier.score(X, y) > 0.9
    np.testing.assert_array_equal(binfm.Model.from_bytes(classifier.model_.to_bytes()).classes, labels)


def test_class_weight_multiplies_sample_weight():
    y = np.where(SAME, "rare", "common")
    keep = (y == "common") | (RNG.random(400) < 0.2)
    weight = np.where(y == "rare", 5.0, 1.0)[keep]
    by_class = BinFMClassifier(**QUICK, class_weight={"rare": 5.0, "common": 1.0}).fit(X[keep], y[keep])
    assert by_class.model_ == BinFMClassifier(**QUICK).fit(X[keep], y[keep], weight).model_
    both = BinFMClassifier(**QUICK, class_weight={"rare": 5.0}).fit(X[keep], y[keep], sample_weight=weight)
    assert both.model_ == BinFMClassifier(**QUICK).fit(X[keep], y[keep], weight**2).model_
    recall = [np.mean(c.predict(X[SAME]) == "rare") for c in (by_class, BinFMClassifier(**QUICK).fit(X[keep], y[keep]))]
    assert recall[0] > recall[1]


def test_balanced_class_weight_favours_the_rare_class():
    y = np.where(RNG.random(400) < 0.1, 1, 0)
    balanced = BinFMClassifier(**QUICK, class_weight="balanced").fit(X, y)
    assert np.mean(balanced.predict(X)) > np.mean(BinFMClassifier(**QUICK).fit(X, y).predict(X))


def test_early_stopping_holds_out_samples():
    settings = {"m": 4, "early_stopping": True, "patience": 2, "epochs": 50, "n_jobs": 1}
    y = np.where(RNG.random(400) < 0.5, 1, 0)  # nothing to learn
    held_out = BinFMClassifier(**settings, validation_fraction=0.4).fit(X, y)
    assert "val_loss" in held_out.model_.history[0]
    assert held_out.n_iter_ < 50
    assert held_out.model_ != BinFMClassifier(**settings, validation_fraction=0.1).fit(X, y).model_
    given = BinFMClassifier(**settings).fit(X, y, eval_set=(X, SAME))
    assert given.n_iter_ < 50


@pytest.mark.parametrize("fraction", [0, 1, -0.5, np.nan, "some"])
def test_an_invalid_validation_fraction_is_rejected(fraction):
    with pytest.raises(ValueError, match="validation_fraction must be"):
        BinFMClassifier(validation_fraction=fraction).fit(X, SAME)


def test_a_size_limit():
    classifier = BinFMClassifier(max_bytes=128, epochs=3, n_jobs=1).fit(X, SAME)
    assert classifier.model_.nbytes <= 128
    assert classifier.model_.search.max_bytes == 128


def test_missing_values_and_sparse_tables():
    with_nan = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
    assert BinFMClassifier(**QUICK).fit(with_nan, SAME).model_.features[0].missing_row is not None
    stored = sparse.csc_matrix(np.where(RNG.random(X.shape) < 0.3, X, 0.0))
    classifier = BinFMClassifier(**QUICK).fit(stored, SAME)
    np.testing.assert_array_equal(classifier.predict(stored.tocoo()), classifier.predict(stored))


def test_text_in_arrays():
    table = np.array([["a", "1"], ["b", "2"]] * 20, object)
    classifier = BinFMClassifier(categorical=[0, 1], **QUICK).fit(table, table[:, 0])
    assert classifier.score(table, table[:, 0]) == 1.0
    with pytest.raises(ValueError, match=r"^X: column 0 holds 'a' in row 0, which is not a number; list"):
        BinFMClassifier().fit(table, table[:, 0])


def test_probabilities_need_the_logistic_loss():
    assert BinFMClassifier(**QUICK).fit(X, SAME).predict_log_proba(X).shape == (400, 2)
    hinge = BinFMClassifier(loss="hinge", **QUICK).fit(X, SAME)
    assert not hasattr(hinge, "predict_proba")
    with pytest.raises(ValueError, match=r"loss must be .* got 'squared'"):
        BinFMClassifier(loss="squared").fit(X, SAME)


def test_a_random_state_object_is_a_seed():
    models = [
        BinFMClassifier(**QUICK, random_state=np.random.RandomState(seed)).fit(X, SAME).model_ for seed in (1, 1, 2)
    ]
    assert models[0] == models[1] != models[2]


def test_estimators_work_with_scikit_learn_tools():
    classifier = BinFMClassifier(**QUICK)
    search = GridSearchCV(make_pipeline(StandardScaler(), classifier), {"binfmclassifier__m": [1, 4]}, cv=2)
    assert search.fit(X, SAME).best_score_ > 0.7
    assert CalibratedClassifierCV(classifier, cv=2).fit(X, SAME).predict_proba(X).shape == (400, 2)
    assert cross_val_score(BinFMRegressor(n_jobs=1), X, X[:, 0] * X[:, 1], cv=2).mean() > 0.5
    several = MultiOutputClassifier(classifier).fit(X, np.c_[SAME, X[:, 2] > 0])
    assert several.predict(X).shape == (400, 2)
    assert MultiOutputRegressor(BinFMRegressor(**QUICK)).fit(X, X[:, :2]).predict(X).shape == (400, 2)


def test_copies_predict_the_same():
    classifier = BinFMClassifier(**QUICK).fit(X, SAME)
    restored = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(restored.decision_function(X), classifier.decision_function(X))
    assert clone(classifier).fit(X, SAME).model_ == classifier.model_


def test_weights_are_routed():
    weight = RNG.random(400)
    with sklearn.config_context(enable_metadata_routing=True):
        classifier = BinFMClassifier(**QUICK).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        routed = make_pipeline(scaler, classifier).fit(X, SAME, sample_weight=weight)
    plain = BinFMClassifier(**QUICK).fit(StandardScaler().fit_transform(X), SAME, weight)
    assert routed[-1].model_ == plain.model_


def test_without_scikit_learn(run_python):
    run_python("""
import sys
sys.modules["sklearn"] = None
import binfm
assert "sklearn" not in [name for name, module in sys.modules.items() if module is not None]
assert "BinFMClassifier" in dir(binfm)
for name in ("BinFMClassifier", "BinFMRegressor"):
    try:
        getattr(binfm, name)
    except ImportError as error:
        assert "pip install 'binfm[sklearn]'" in str(error), error
    else:
        raise AssertionError(name)
try:
    binfm.BinFMCluster
except AttributeError as error:
    assert "BinFMCluster" in str(error)
""")


@pytest.mark.parametrize("estimator", [BinFMClassifier, BinFMRegressor])
def test_column_names_are_checked(estimator):
    check_dataframe_column_names_consistency(estimator.__name__, estimator(**QUICK))
