"""Degenerate input does what a user expects; wrong input raises one sentence that names what was given."""

import re

import binfm
import numpy as np
import pytest
from scipy import sparse

X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.arange(40) % 2
QUICK = {"epochs": 1, "m": 2}


def wrong(error, *words, **arguments):
    """Describe a call of train that must fail, and the words that its message must contain."""
    name = "-".join(f"{k}={v!r}"[:30] for k, v in arguments.items())
    return pytest.param(error, words, arguments, id=re.sub(r"\s+", " ", name))


PARAMETERS = [
    wrong(ValueError, "dropout", "1", "from 0 to below 1", dropout=1.0),
    wrong(ValueError, "dropout", "must be 0 without scaling", "got 0.1", dropout=0.1, scaling=False),
    wrong(ValueError, "dropout", "-0.1", "from 0 to below 1", dropout=-0.1),
    wrong(ValueError, "method", "nfm", "'bfm'", method="nfm"),
    wrong(ValueError, "loss", "absolute", "logistic", "softmax", "hinge", "squared_hinge", "squared", loss="absolute"),
    wrong(ValueError, "dropout", "must be 0 with loss 'softmax'", "got 0.1", dropout=0.1, loss="softmax"),
    wrong(ValueError, "ensemble", "0", "from 1", ensemble=0),
    wrong(ValueError, "ensemble", "must be a divisor of m = 2", "got 3", ensemble=3),
    wrong(ValueError, "ensemble", "must be 1 with method 'fm'", "got 2", ensemble=2, method="fm"),
    wrong(ValueError, "ensemble", "must be 1 without scaling", "got 2", ensemble=2, scaling=False),
    wrong(TypeError, "ensemble", "'2'", "whole number", ensemble="2"),
    wrong(ValueError, "polish", "-1", "from 0", polish=-1),
    wrong(ValueError, "polish", "must be 0 with method 'fm'", "got 2", polish=2, method="fm"),
    wrong(ValueError, "polish", "must be 0 without scaling", "got 1", polish=1, scaling=False),
    wrong(TypeError, "polish", "1.5", "whole number", polish=1.5),
    wrong(ValueError, "binning", "kmeans", "quantile", "uniform", binning="kmeans"),
    wrong(ValueError, "optimizer", "adam", "adagrad", "sgd", optimizer="adam"),
    wrong(ValueError, "early_stopping", "sometimes", "auto", "True", "False", early_stopping="sometimes"),
    wrong(TypeError, "binning", "3", binning=3),
    wrong(TypeError, "optimizer", "None", optimizer=None),
    wrong(ValueError, "m", "-4", m=-4),
    wrong(ValueError, "m", "1000000", m=1_000_000),
    wrong(TypeError, "m", "2.5", m=2.5),
    wrong(TypeError, "m", "True", m=True),
    wrong(TypeError, "m", "'8'", m="8"),
    wrong(ValueError, "m", str(10**30), m=10**30),
    wrong(ValueError, "w_bits", "must be a whole number from 1 to 8", "got 0", w_bits=0),
    wrong(ValueError, "w_bits", "from 1 to 8", "got 9", w_bits=9),
    wrong(TypeError, "w_bits", "1.5", w_bits=1.5),
    wrong(ValueError, "w_bits", "must be 1 with method 'dfm'", "got 2", w_bits=2, method="dfm"),
    wrong(ValueError, "w_bits", "must be 1 without scaling", "got 4", w_bits=4, scaling=False),
    wrong(ValueError, "ensemble", "must be 1 with m = 0", "got 2", m=0, ensemble=2),
    wrong(ValueError, "tilings", "0", tilings=0),
    wrong(ValueError, "tilings", "20", b=20, tilings=20),
    wrong(ValueError, "tilings", "300", b=400, tilings=300),
    wrong(ValueError, "b", "1", b=1, tilings=1),
    wrong(ValueError, "b", "-3", b=-3),
    wrong(ValueError, "epochs", "0", epochs=0),
    wrong(ValueError, "epochs", "-1", epochs=-1),
    wrong(ValueError, "learning_rate", "0", learning_rate=0),
    wrong(ValueError, "learning_rate", "-0.1", learning_rate=-0.1),
    wrong(ValueError, "learning_rate", "nan", learning_rate=float("nan")),
    wrong(ValueError, "learning_rate", "'fast'", learning_rate="fast"),
    wrong(ValueError, "lambda_w", "-1", lambda_w=-1),
    wrong(ValueError, "training diverged", "learning_rate", lambda_w=1e300, optimizer="sgd", epochs=3),
    wrong(ValueError, "lambda_v", "inf", lambda_v=float("inf")),
    wrong(ValueError, "min_count", "nan", min_count=float("nan")),
    wrong(ValueError, "patience", "0", patience=0),
    wrong(ValueError, "patience", "-2", patience=-2),
    wrong(ValueError, "seed", "-1", seed=-1),
    wrong(TypeError, "seed", "None", seed=None),
    wrong(ValueError, "n_jobs", "0", n_jobs=0),
    wrong(ValueError, "n_jobs", "4097", n_jobs=4097),
    wrong(TypeError, "n_jobs", "1.5", n_jobs=1.5),
    wrong(TypeError, "callback", "int", callback=3),
    wrong(TypeError, "categorical", "'a'", categorical="a"),
    wrong(TypeError, "categorical", "1.5", categorical=[1.5]),
    wrong(TypeError, "categorical", "7", categorical=7),
    wrong(ValueError, "categorical", "3", "-3", "2", categorical=[3]),
    wrong(ValueError, "categorical", "2", "3", categorical=[True, False]),
    wrong(ValueError, "X", "column 0", "whole", categorical=[0]),
    wrong(ValueError, "sample_weight", "(39,)", "40", sample_weight=np.ones(39)),
    wrong(ValueError, "sample_weight", "(40, 1)", sample_weight=np.ones((40, 1))),
    wrong(ValueError, "sample_weight", "negative", sample_weight=np.r_[-1, np.ones(39)]),
    wrong(ValueError, "sample_weight", "NaN", sample_weight=np.r_[np.nan, np.ones(39)]),
    wrong(ValueError, "sample_weight", "zeros", sample_weight=np.zeros(40)),
    wrong(TypeError, "sample_weight", sample_weight=["a"] * 40),
    wrong(ValueError, "eval_set", "(X, y)", eval_set=X),
    wrong(ValueError, "eval_set", "2", "3", eval_set=(X[:, :2], Y)),
    wrong(ValueError, "eval_set", "39", "40", eval_set=(X, Y[:39])),
    wrong(ValueError, "eval_set", "7", eval_set=(X, np.full(40, 7))),
    wrong(ValueError, "eval_set", "'a'", eval_set=(X, np.array(["a"] * 40))),
    wrong(ValueError, "eval_set", "(3,)", eval_set=(X, Y, np.ones(3))),
    wrong(ValueError, "eval_set", eval_set=(X[:0], Y[:0])),
]

TARGETS = [
    wrong(ValueError, "y", "two classes", "7", y=np.full(40, 7)),
    wrong(ValueError, "y", "two classes", "'only'", y=["only"] * 40),
    wrong(ValueError, "y", "39", "40", y=Y[:39]),
    wrong(ValueError, "y", "41", "40", y=np.r_[Y, 1]),
    wrong(ValueError, "y", "2-D", "(40, 1)", y=Y.reshape(-1, 1)),
    wrong(ValueError, "y", "NaN", y=np.r_[np.nan, Y[1:]]),
    wrong(ValueError, "y", "infinity", y=np.r_[np.inf, Y[1:]]),
    wrong(TypeError, "y", "mixed", y=np.array([None, "a"] * 20, object)),
    wrong(TypeError, "y", "mixed", y=np.array([1, "a"] * 20, object)),
    wrong(TypeError, "y", "complex128", y=Y + 1j),
    wrong(TypeError, "y", "int", y=3),
    wrong(TypeError, "y", "one value", "array", y=np.array(1.0)),
    wrong(TypeError, "y", "NoneType", y=None),
    wrong(ValueError, "y", "NaN", y=np.r_[np.nan, Y[1:]], loss="squared"),
    wrong(TypeError, "y", "numbers", y=["a", "b"] * 20, loss="squared"),
    wrong(ValueError, "y", "got none", y=[], X=X[:0]),
    wrong(ValueError, "X", "got none", y=[], X=X[:0], loss="squared"),
]

TABLES = [
    wrong(ValueError, "X", "1-D", "(40,)", X=X[:, 0]),
    wrong(ValueError, "X", "3-D", "(40, 3, 1)", X=X[:, :, None]),
    wrong(ValueError, "X", "(40, 0)", "one feature", X=X[:, :0]),
    wrong(ValueError, "X", "(40, 0)", X=sparse.csr_array((40, 0))),
    wrong(TypeError, "X", "complex128", X=X + 1j),
    wrong(TypeError, "X", "datetime64", X=np.zeros((40, 2), "M8[s]")),
    wrong(TypeError, "X", "complex128", X=sparse.csr_array(X + 1j)),
    wrong(ValueError, "X", "column 1", "'text'", "categorical", X=np.array([[1, "text"]] * 40, object)),
    wrong(ValueError, "X", "column 0", "'1.5'", X=np.array([["1.5"]] * 40)),
    wrong(TypeError, "X", "NoneType", X=None),
    wrong(TypeError, "X", "one value", "array", X=np.array(1.0)),
    wrong(ValueError, "X", "table", X=[[1, 2], [3]] * 20),
    wrong(ValueError, "categorical", "sparse", X=sparse.csr_array(X), categorical=[0]),
]


@pytest.mark.parametrize(("error", "words", "arguments"), PARAMETERS + TARGETS + TABLES)
def test_errors_name_the_wrong_argument(error, words, arguments):
    with pytest.raises(error) as caught:
        binfm.train(**{"X": X, "y": Y, **QUICK, **arguments})
    message = str(caught.value)
    assert type(caught.value) is error
    assert message.startswith(words[0]), message
    assert "\n" not in message
    for word in words[1:]:
        assert word in message, message


def test_positional_and_unknown_parameters_are_rejected():
    with pytest.raises(TypeError, match="positional"):
        binfm.train(X, Y, 8)
    with pytest.raises(TypeError, match="bins"):
        binfm.train(X, Y, bins=8)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function", "terms"])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_a_wrong_number_of_features_is_reported_with_the_right_one(binary, method, convert):
    for width in (1, 4, 6):
        with pytest.raises(ValueError, match=rf"^X must have 5 features, as in training, got {width}$"):
            getattr(binary, method)(convert(np.ones((2, width))))


def test_a_table_too_narrow_for_its_text_columns_is_reported_the_same_way(models):
    model, _ = models["text categories"]
    with pytest.raises(ValueError, match=r"^X must have 4 features, as in training, got 2$"):
        model.predict(np.array([["a", 1.0]], object))


def test_numbers_where_training_had_text_are_rejected(models):
    model, _ = models["text categories"]
    with pytest.raises(TypeError, match=r"^X: column 2 holds numbers; in training it held text"):
        model.predict(np.ones((3, 4)))


@pytest.mark.parametrize("value", [None, 3, "text", [1.0, 2.0]])
def test_predict_rejects_anything_but_a_table(binary, value):
    with pytest.raises((TypeError, ValueError), match=r"^X must be"):
        binary.predict(value)


@pytest.mark.parametrize("n_jobs", [0, 4097])
def test_n_jobs_is_checked_at_predict(binary, n_jobs):
    with pytest.raises(ValueError, match=rf"^n_jobs must be .*, got {n_jobs}$"):
        binary.predict(X[:, [0, 1, 2, 0, 1]], n_jobs=n_jobs)


# Degenerate but valid


@pytest.mark.parametrize(
    "table",
    [
        np.zeros((40, 2)),
        np.full((40, 1), np.nan),
        np.full((40, 1), -np.inf),
        sparse.csr_array((40, 3)),
        np.zeros((40, 2), bool),
    ],
    ids=["zeros", "nan", "inf", "empty sparse", "bool"],
)
def test_an_uninformative_table_gives_the_bias(table):
    model = binfm.train(table, np.arange(40) % 4 == 0, epochs=30, m=3)
    assert set(model.decision_function(table)) == {model.bias}
    assert model.predict_proba(table)[0, 1] == pytest.approx(0.25, abs=0.1)
    assert model.w.shape == (0,)
    assert binfm.Model.from_bytes(model.to_bytes()) == model


def test_one_sample_per_class():
    model = binfm.train([[1.0], [2.0]], ["a", "b"])
    assert model.predict([[1.0], [2.0]]).tolist() == ["a", "b"]


def test_regression_on_one_sample():
    model = binfm.train([[1.0, 2.0]], [5.0], loss="squared")
    assert model.predict([[1.0, 2.0]])[0] == pytest.approx(5.0, rel=0.05)


def test_more_bins_than_values():
    model = binfm.train(X[:5], Y[:5], b=5000, tilings=7, m=2, regularization=0)
    assert all(f.cells == 5 for f in model.features)


@pytest.mark.parametrize("table", [X, X.astype(np.float32)])
def test_one_feature_and_lists(table):
    assert binfm.train(table[:, :1].tolist(), Y.tolist(), **QUICK).n_features == 1


def test_early_stopping_with_very_few_samples():
    for samples in (2, 3, 9, 11):
        model = binfm.train(X[:samples], Y[:samples], early_stopping=True, **QUICK)
        assert model.classes.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (np.array([True, False] * 20), "b"),
        (np.array(["no", "yes"] * 20), "U"),
        (np.array(["no", "yes"] * 20, object), "U"),
        (["no", "yes"] * 20, "U"),
        (np.array([0.5, 1.5] * 20, np.float32), "f"),
        (np.array([-1, 1] * 20, np.int8), "i"),
        (np.array([0, 255] * 20, np.uint8), "i"),
        (np.array([1, 2] * 20, object), "i"),
        (tuple([3, 9] * 20), "i"),
    ],
    ids=["bool", "str", "object str", "list", "float", "int8", "uint8", "object int", "tuple"],
)
def test_labels_may_be_anything_that_sorts(y, kind):
    model = binfm.train(np.c_[X, np.arange(40) % 2], y, m=4)
    assert model.classes.tolist() == sorted(set(np.asarray(y).tolist()))
    assert model.classes.dtype.kind == kind
    assert np.mean(model.predict(np.c_[X, np.arange(40) % 2]) == np.asarray(y)) > 0.9


def test_masked_values_are_missing():
    masked = np.ma.masked_array(X, mask=np.random.default_rng(1).random(X.shape) < 0.2)
    assert binfm.train(masked, Y, **QUICK) == binfm.train(masked.filled(np.nan), Y, **QUICK)


def test_huge_numbers_and_weights_give_finite_scores():
    extreme = X * 1e300
    extreme[0] = [np.inf, -np.inf, np.nan]
    model = binfm.train(extreme, Y, sample_weight=np.full(40, 1e200), epochs=3)
    assert np.isfinite(model.decision_function(extreme)).all()
    assert all(np.isfinite(record["loss"]) for record in model.history)
    model = binfm.train(X, Y * 1e12 - 5e11, loss="squared", epochs=3)
    assert np.isfinite(model.decision_function(X)).all()
