"""Input that is hardly what was meant: refused or warned of in a sentence, and the table of columns that shows it."""

import pickle
import warnings

import binfm
import numpy as np
import pandas as pd
import polars as pl
import pytest
from binfm import BinFMClassifier, BinFMRegressor
from binfm.baseline import constant_loss
from binfm.data.dataset import Dataset
from binfm.params import Params
from scipy import sparse

ROWS = 400


def trips(rows=ROWS):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "km": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(size=rows)),
            "day": pd.date_range("2020-01-01", periods=rows),
            "kind": rng.choice(["bus", "train", None], rows),
            "same": 1.0,
            "none": np.nan,
            "all": "x",
        }
    )


# The table of columns


def test_a_trained_model_shows_what_became_of_each_column():
    X = trips()
    features = binfm.train(X, np.arange(ROWS) % 2, m=4, epochs=2).features
    records = {record["feature"]: record for record in features.to_records()}
    assert list(records) == list(X.columns)
    assert [record["type"] for record in records.values()] == ["number", "date", "category"] + ["number"] * 2 + [
        "category"
    ]
    assert [record["missing"] for record in records.values()] == X.isna().sum().tolist()
    assert [record["dropped"] for record in records.values()] == ["", "", "", "constant", "all missing", "one category"]
    assert records["kind"]["cells"] == 2
    lines = str(features).splitlines()
    assert lines[0].split() == ["feature", "type", "cells", "missing", "dropped"]
    assert lines[5].split() == ["none", "number", "0", str(ROWS), "all", "missing"]
    assert repr(features) == str(features)
    assert "all missing" in features._repr_html_()


def test_a_loaded_model_shows_what_its_file_knows():
    model = binfm.train(trips(), np.arange(ROWS) % 2, m=4, epochs=2)
    records = binfm.Model.from_bytes(model.to_bytes()).features.to_records()
    assert [record["type"] for record in records] == ["number", "number", "category", "", "", ""]
    assert [record["missing"] for record in records] == [None] * 6
    assert [record["dropped"] for record in records] == [""] * 3 + ["unused"] * 3
    assert pickle.loads(pickle.dumps(model)).features.to_records() == model.features.to_records()


def test_features_are_still_a_tuple():
    features = binfm.train(trips(), np.arange(ROWS) % 2, m=4, epochs=2).features
    assert isinstance(features, tuple)
    assert len(features) == 6
    assert features[0].name == "km"


def test_columns_that_the_search_leaves_out_are_shown():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 12))
    model = binfm.train(X, X[:, 0] * X[:, 1] > 0, max_bytes=60, epochs=3)
    left_out = model.search.chosen["leave_out"]
    assert left_out
    assert [j for j, feature in enumerate(model.features) if feature.dropped == "left out"] == list(left_out)
    assert str(model.features).count("left out") == len(left_out)


def test_missing_values_of_arrays_and_sparse_tables_are_counted():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((ROWS, 3)) < [0, 0.2, 0.5], np.nan, rng.normal(size=(ROWS, 3)))
    y = np.arange(ROWS) % 2
    for table in (X, X.astype(np.float32), np.asfortranarray(X), sparse.csr_array(X)):
        features = binfm.train(table, y, m=2, epochs=1).features
        assert [feature.missing for feature in features] == np.isnan(X).sum(axis=0).tolist()
    assert [f.missing for f in binfm.train(rng.integers(0, 9, (ROWS, 2)), y, m=2, epochs=1).features] == [0, 0]


def test_many_columns_are_cut_short():
    X = np.random.default_rng(0).normal(size=(60, 50))
    assert str(binfm.train(X, X[:, 0] > 0, m=1, epochs=1).features).splitlines()[-1] == "… and 20 more"


# Text


def test_nearly_unique_text_is_warned_of():
    X = pl.DataFrame({"id": [f"a{i}" for i in range(ROWS)], "kind": ["x", "y"] * (ROWS // 2)})
    y = np.arange(ROWS) % 2
    with pytest.warns(
        UserWarning, match=r"^X: column 'id' holds 400 different texts in 400 samples, .*min_count$"
    ) as seen:
        binfm.train(X, y, m=2, epochs=1)
    assert len(seen) == 1
    assert seen[0].filename == __file__, "the caller is named, not the package"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        binfm.train(X.drop("id"), y, m=2, epochs=1)
        binfm.train(X, y, m=2, epochs=1, min_count=2)
        binfm.train(X[:40], y[:40], m=2, epochs=1)


@pytest.mark.parametrize("kind", ["array", "pandas", "polars"])
def test_predict_names_the_cell_that_is_not_a_number(kind):
    X = np.random.default_rng(0).normal(size=(ROWS, 3))
    model = binfm.train(pd.DataFrame(X, columns=list("abc")), X[:, 0] > 0, m=2, epochs=1)
    bad = X.astype(object)
    bad[17, 1] = "oops"
    column = "column 1" if kind == "array" else "column 'b'"
    table = {
        "array": bad,
        "pandas": pd.DataFrame(bad, columns=list("abc")),
        "polars": pl.DataFrame(pd.DataFrame(bad, columns=list("abc")).astype(str).replace("oops", "oops")),
    }[kind]
    if kind == "polars":  # a column of text has no numbers at all
        table, row, text = table.with_columns(pl.col("a", "c").cast(pl.Float64)), 0, str(X[0, 1])
    else:
        row, text = 17, "oops"
    message = rf"^X: {column} holds '{text}' in row {row}, which is not a number; in training it held numbers$"
    with pytest.raises(ValueError, match=message):
        model.predict(table)


def test_estimators_name_the_cell_that_is_not_a_number():
    X = np.random.default_rng(0).normal(size=(50, 3)).astype(object)
    X[:, 0] = [str(value) for value in X[:, 0]]  # scikit-learn reads numerals
    y = np.arange(50) % 2
    classifier = BinFMClassifier(m=2, epochs=1).fit(X, y)
    X[17, 2] = "oops"
    for call in (lambda: BinFMClassifier().fit(X, y), lambda: classifier.predict(X)):
        with pytest.raises(ValueError, match=r"^X: column 2 holds 'oops' in row 17, which is not a number; list the"):
            call()


# Targets


@pytest.mark.parametrize(
    ("y", "reason"),
    [
        (np.linspace(0, 1, ROWS), r"fractions such as 0\.0025"),
        (np.arange(ROWS) * 3, "400 different numbers in 400 samples"),
        (np.arange(ROWS) * 3.0, "400 different numbers in 400 samples"),
    ],
)
def test_numbers_are_no_classes(y, reason):
    X = np.random.default_rng(0).normal(size=(ROWS, 2))
    message = rf"^y must hold classes, got {reason}.*; pass loss='squared' \(or use BinFMRegressor\) to predict numbers"
    with pytest.raises(ValueError, match=message):
        binfm.train(X, y)
    assert binfm.train(X, y, loss="squared", m=2, epochs=1).classes is None
    assert len(binfm.train(X, y, loss="logistic", m=1, b=3, tilings=1, epochs=1).classes) == ROWS
    BinFMRegressor(m=2, epochs=1).fit(X, y)


@pytest.mark.parametrize("y", [np.arange(ROWS) % 90, (np.arange(ROWS) % 3).astype(float), np.arange(ROWS).astype(str)])
def test_classes_may_be_many(y):
    X = np.random.default_rng(0).normal(size=(ROWS, 2))
    assert len(binfm.train(X, y, m=1, b=3, tilings=1, epochs=1).classes) == len(set(y))


# A model that is worse than none


@pytest.mark.parametrize(
    ("loss", "classes"),
    [
        ("logistic", 2),
        ("logistic", 4),
        ("softmax", 4),
        ("hinge", 2),
        ("hinge", 4),
        ("squared_hinge", 3),
        ("squared", 0),
    ],
)
def test_the_loss_of_a_constant_is_that_of_a_model_that_knows_nothing(loss, classes):
    rng = np.random.default_rng(0)
    y = (
        rng.choice(classes, 3000, p=np.arange(1, classes + 1) / sum(range(classes + 1)))
        if classes
        else rng.normal(size=3000)
    )
    weight = rng.random(3000) + 0.5
    X = np.zeros((3000, 1))
    X[:1500] = 1  # says nothing
    dataset = Dataset.learn(X, y, weight, Params.of({"loss": loss}))
    model = binfm.train(X, y, sample_weight=weight, loss=loss, m=1, epochs=30)
    assert constant_loss(dataset, loss) == pytest.approx(model.history[-1]["loss"], rel=0.03)


def test_a_loss_above_that_of_a_constant_is_warned_of():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 40)), rng.integers(0, 2, 300)
    message = (
        r"^the loss on held-out samples, [\d.]+, is above that of a model that ignores X, 0\.69\d*: .*regularization"
    )
    with pytest.warns(UserWarning, match=message):
        binfm.train(X, y, eval_set=(X[::-1], y), early_stopping=False, regularization=0)
    with pytest.warns(UserWarning, match=r"^the loss on the training samples, .*, is above"):
        binfm.train(X[:, :2], y, learning_rate=9.0, regularization=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        binfm.train(X, X[:, 0] > 0)
        binfm.train(X, y, epochs=2, learning_rate=9.0)


NUMBERS = [0.5 * i for i in range(99)]


@pytest.mark.parametrize("numbers", [NUMBERS, [str(number) for number in NUMBERS], list(range(99))])
def test_a_few_texts_among_numbers_are_refused(numbers):
    table = pd.DataFrame({"a": pd.Series([*numbers[:50], "oops", *numbers[50:]] * 2, dtype=object)})
    y = np.arange(200) % 2
    message = r"^X: column 'a' holds 'oops' in row 50, which is not a number; put None in its place, or list the column"
    with pytest.raises(ValueError, match=message):
        binfm.train(table, y, m=1, epochs=1)
    declared = {"X": table.astype({"a": str}).astype({"a": "category"})}
    for given in (declared, {"X": table, "categorical": ["a"]}):
        assert binfm.train(y=y, m=1, epochs=1, regularization=0, **given).features[0].kind == "categorical"


@pytest.mark.parametrize("codes", [[str(number) for number in range(99)], [True] * 99, ["b"] * 99])
def test_texts_that_may_be_codes_are_categories(codes):
    table = pd.DataFrame({"a": pd.Series([*codes, "A17"], dtype=object)})
    model = binfm.train(table, np.arange(100) % 2, m=1, epochs=1, regularization=0, min_count=2)
    assert model.features[0].kind in ("categorical", "unused")
