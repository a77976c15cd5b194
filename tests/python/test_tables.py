"""Tables with named columns do what a user expects, and do the same for every library."""

import datetime
import decimal
import pickle

import binfm
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from binfm import BinFMClassifier

ROWS = 60
RNG = np.random.default_rng(0)
DAY = datetime.date(2024, 1, 1)
QUICK = {"m": 3, "b": 6, "tilings": 2, "epochs": 2, "n_jobs": 1}


def with_nulls(values, every=7):
    return [None if i % every == 3 else value for i, value in enumerate(values)]


DATA = {
    "size": RNG.normal(size=ROWS).tolist(),
    "count": with_nulls(RNG.integers(0, 9, ROWS).tolist()),
    "open": with_nulls((RNG.random(ROWS) < 0.5).tolist()),
    "city": with_nulls(RNG.choice(["Berlin", "Graz", "Kyōto"], ROWS).tolist()),
    "since": with_nulls([DAY + datetime.timedelta(days=int(i)) for i in RNG.integers(0, 400, ROWS)]),
    "price": with_nulls([decimal.Decimal(int(i)) / 4 for i in RNG.integers(0, 99, ROWS)]),
}
Y = np.array(DATA["size"]) > 0


class Capsule:
    """A table of an unknown library: all it has is Arrow's stream interface."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def pandas_nullable(table):
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    frame["count"] = frame["count"].astype("Int64")
    frame["open"] = frame["open"].astype("boolean")
    frame["city"] = frame["city"].astype("category")
    return frame


MAKERS = {
    "polars": lambda table: pl.from_arrow(table),
    "polars with categories": lambda table: pl.from_arrow(table).with_columns(pl.col("city").cast(pl.Categorical)),
    "pyarrow": lambda table: table,
    "pyarrow batch": lambda table: table.combine_chunks().to_batches()[0],
    "pyarrow dictionary": lambda t: t.set_column(3, "city", t["city"].dictionary_encode()),
    "pandas": lambda table: table.to_pandas(),
    "pandas, own types": pandas_nullable,
    "capsule": Capsule,
}


def table_of(kind, rows=slice(None), columns=tuple(DATA)):
    return MAKERS[kind](pa.table({name: DATA[name][rows] for name in columns}))


@pytest.fixture(scope="module")
def model():
    return binfm.train(table_of("pyarrow"), Y, **QUICK)


@pytest.mark.parametrize("kind", MAKERS)
def test_all_libraries_train_the_same_model(kind, model):
    same = binfm.train(table_of(kind), Y, **QUICK)
    assert same == model
    assert same.feature_names == model.feature_names == tuple(DATA)
    np.testing.assert_array_equal(same.decision_function(table_of(kind)), model.decision_function(table_of("polars")))


def test_column_types_determine_feature_kinds(model):
    kinds = dict(zip(DATA, model.features, strict=True))
    assert [name for name, feature in kinds.items() if feature.kind == "categorical"] == ["city"]
    assert kinds["city"].categories == ("Berlin", "Graz", "Kyōto")
    assert kinds["open"].cells == 2
    assert [name for name, feature in kinds.items() if feature.missing_row is None] == ["size"]
    days = (DAY - datetime.date(1970, 1, 1)).days
    assert days < kinds["since"].edges.min() < kinds["since"].edges.max() < days + 400


def test_a_table_trains_the_same_model_as_an_array():
    numbers = np.array([DATA["size"], np.array(DATA["count"], float), np.array(DATA["open"], float)]).T
    frame = table_of("pandas", columns=("size", "count", "open"))
    assert binfm.train(frame, Y, **QUICK).to_bytes(names=False) == binfm.train(numbers, Y, **QUICK).to_bytes()


def test_category_values_are_stored_not_codes():
    few = pd.DataFrame({"city": pd.Categorical(["Graz", "Berlin"] * 20)})
    model = binfm.train(few, np.arange(40) % 2, **QUICK)
    assert model.features[0].categories == ("Berlin", "Graz")
    other_codes = pd.Categorical(["Graz", "Berlin", "Aachen"], categories=["Graz", "Aachen", "Berlin"])
    scores = model.decision_function(pd.DataFrame({"city": other_codes}))
    np.testing.assert_array_equal(scores[:2], model.decision_function(few[:2]))
    assert scores[2] == model.bias  # unseen
    assert model.predict(pl.DataFrame({"city": ["Graz", "Berlin"]})).tolist() == [0, 1]


def test_categories_that_are_numbers_stay_numbers():
    codes = np.array([7, 300, -2] * 20)
    by_type = binfm.train(pd.DataFrame({"id": pd.Categorical(codes)}), codes, **QUICK)
    assert by_type.features[0].categories == (-2, 7, 300)
    by_name = binfm.train(pl.DataFrame({"id": codes}), codes, categorical=["id"], **QUICK)
    assert by_name == by_type
    assert (
        by_name.to_bytes(names=False) == binfm.train(codes.reshape(-1, 1), codes, categorical=[0], **QUICK).to_bytes()
    )
    np.testing.assert_array_equal(by_type.predict(pl.DataFrame({"id": codes})), codes)


def test_other_categories_become_text():
    cut = pd.cut(pd.Series(np.arange(40.0)), [-1, 9.5, 50])
    model = binfm.train(pd.DataFrame({"range": cut}), np.arange(40) < 10, **{**QUICK, "epochs": 20})
    assert model.features[0].categories == ("(-1.0, 9.5]", "(9.5, 50.0]")
    assert model.predict(pd.DataFrame({"range": cut})).tolist() == [i < 10 for i in range(40)]


def test_times_are_measured_in_days():
    noon = datetime.datetime(2024, 1, 1, 12)
    table = pl.DataFrame(
        {
            "moment": [noon, noon + datetime.timedelta(days=1)] * 20,
            "zoned": pl.Series([noon, noon + datetime.timedelta(days=1)] * 20).dt.replace_time_zone("UTC"),
            "lasts": [datetime.timedelta(hours=6), datetime.timedelta(hours=18)] * 20,
            "at": [datetime.time(6), datetime.time(18)] * 20,
        }
    )
    model = binfm.train(table, np.arange(40) % 2, **QUICK)
    days = (DAY - datetime.date(1970, 1, 1)).days + 0.5
    numbers = np.array([[days, days, 0.25, 0.25], [days + 1, days + 1, 0.75, 0.75]] * 20)
    assert model.to_bytes(names=False) == binfm.train(numbers, np.arange(40) % 2, **QUICK).to_bytes()
    np.testing.assert_array_equal(model.decision_function(table), model.decision_function(table.to_pandas()))


def test_a_column_of_objects():
    """Pandas stores mixed columns as objects."""
    frame = pd.DataFrame({"flag": [True, None, False, True] * 10, "text": ["a", 1, None, "a"] * 10, "x": range(40)})
    assert frame["flag"].dtype == object
    model = binfm.train(frame, np.arange(40) % 2, **QUICK)
    assert [feature.kind for feature in model.features] == ["numeric", "categorical", "numeric"]
    assert model.features[1].categories == ("1", "a")
    assert binfm.train(frame.astype({"flag": "boolean"}), np.arange(40) % 2, **QUICK) == model


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow"])
def test_a_column_without_values(kind, model):
    """An empty column has a different type in each library; all its values are missing."""
    empty = dict.fromkeys(DATA, [None] * 3)
    table = {"polars": pl.DataFrame, "pandas": pd.DataFrame, "pyarrow": pa.table}[kind](empty)
    scores = model.decision_function(table)
    np.testing.assert_array_equal(scores, model.decision_function(np.array([[None] * 6] * 3, object)))
    trained = binfm.train(table, [0, 1, 0], **QUICK)
    assert {feature.kind for feature in trained.features} == {"unused"}


def test_names_are_kept(model, tmp_path):
    model.save(tmp_path / "m.binfm")
    for restored in (pickle.loads(pickle.dumps(model)), binfm.load(tmp_path / "m.binfm")):
        assert restored.feature_names == tuple(DATA)
    assert binfm.train(np.zeros((4, 2)), [0, 1, 0, 1], **QUICK).feature_names is None
    unnamed = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)))
    trained = binfm.train(unnamed, np.arange(40) % 2, **QUICK)
    assert trained.feature_names is None
    trained.predict(unnamed)
    with pytest.raises(AttributeError, match="feature_names"):
        model.feature_names = ("a",)


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (("size", "count", "open", "since", "price"), "must have the columns of training; 'city' is missing"),
        (("size", "price"), "must have the columns of training; 'count' and 3 more are missing"),
        (
            ("count", "size", "open", "city", "since", "price"),
            "must have its columns in the order of training: expected 'size', got 'count'",
        ),
    ],
)
def test_different_columns_are_rejected(kind, columns, words, model):
    if "city" not in columns or kind == "pyarrow dictionary":
        kind = "polars" if kind not in ("pandas", "pyarrow") else kind
    with pytest.raises(ValueError, match=f"^X {words}"):
        model.predict(table_of(kind, columns=columns))


def test_an_extra_column_is_rejected(model):
    table = table_of("polars").with_columns(more=pl.lit(1))
    with pytest.raises(ValueError, match=r"^X must have the columns of training; 'more' was not among them"):
        model.predict(table)
    with pytest.raises(ValueError, match=r"^eval_set's X must have the columns of training; 'more'"):
        binfm.train(table_of("polars"), Y, eval_set=(table, Y), **QUICK)


def test_a_different_column_type_is_rejected(model):
    table = table_of("polars")
    with pytest.raises(TypeError, match=r"^X: column 'city' holds numbers; in training it held text$"):
        model.predict(table.with_columns(city=pl.lit(3)))
    with pytest.raises(
        ValueError,
        match=r"^X: column 'size' holds 'large' in row 0, which is not a number; in training it held numbers$",
    ):
        model.predict(table.with_columns(size=pl.lit("large")))
    with pytest.raises(TypeError, match=r"^X: column 'tags' must hold numbers, text, .* got list"):
        binfm.train(pl.DataFrame({"tags": [["a"], ["b"]]}), [0, 1], **QUICK)
    with pytest.raises(ValueError, match=r"^X: column 'id' holds a category above 2"):
        binfm.train(pl.DataFrame({"id": [2**60, 1], "x": [0.5, 1]}), [0, 1], categorical=["id"], **QUICK)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (["colour"], ValueError, "categorical must name columns of X, such as 'size', got 'colour'"),
        ([9], ValueError, "categorical must have column numbers .* got 9"),
        ("city", TypeError, "categorical must be a list .* got 'city'"),
    ],
)
def test_invalid_categorical_columns_are_rejected(given, error, words):
    with pytest.raises(error, match=words):
        binfm.train(table_of("polars"), Y, categorical=given, **QUICK)


@pytest.mark.parametrize(
    ("table", "error", "words"),
    [
        (pl.DataFrame(), ValueError, "at least one feature"),
        (pl.DataFrame({"a": []}, schema={"a": pl.Float64}), ValueError, "at least one sample, got none"),
        (pl.Series([1, 2]), ValueError, "1-D"),
        (pd.Series([1, 2]), ValueError, "1-D"),
        (Capsule(pa.chunked_array([[1, 2]])), ValueError, "must be a 2-D table, got Capsule"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "distinct column names, got 'a' twice"),
    ],
)
def test_non_tables_are_rejected(table, error, words):
    with pytest.raises(error, match=words):
        binfm.train(table, [0] * len(table) if hasattr(table, "__len__") else [0, 1], loss="squared", **QUICK)


@pytest.mark.parametrize("text", [True, False])
def test_targets_and_weights_of_each_library(text, model):
    y = np.where(Y, "yes", "no").tolist() if text else Y.tolist()
    weight = RNG.random(ROWS).tolist()
    expected = binfm.train(table_of("polars"), y, sample_weight=weight, **QUICK)
    for series in (pd.Series, pl.Series, lambda values: pa.chunked_array([values]), pa.array):
        assert binfm.train(table_of("polars"), series(y), sample_weight=series(weight), **QUICK) == expected
    categories = [pd.Series(y, dtype="category"), pl.Series(np.where(Y, "yes", "no").tolist(), dtype=pl.Categorical)]
    for series in categories[: 2 if text else 1]:
        assert binfm.train(table_of("polars"), series, sample_weight=weight, **QUICK) == expected
    for series in (pd.Series(with_nulls(y)), pl.Series(with_nulls(y))):
        with pytest.raises((ValueError, TypeError), match=r"^y must"):
            binfm.train(table_of("polars"), series, **QUICK)


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow"])
def test_estimators_take_tables(kind):
    table = table_of(kind)
    classifier = BinFMClassifier(**QUICK).fit(table, Y)
    assert classifier.feature_names_in_.tolist() == list(DATA)
    assert classifier.model_.feature_names == tuple(DATA)
    assert classifier.n_features_in_ == len(DATA)
    assert classifier.predict(table).shape == (ROWS,)
    with pytest.raises(ValueError, match="feature names should match"):
        classifier.predict(table_of(kind, columns=tuple(DATA)[:-1]))


def test_size_curve_takes_tables():
    curve = binfm.size_curve(table_of("polars"), Y, (128,), epochs=2, n_jobs=1)
    assert curve.points[0]["max_bytes"] == 128


NO_PANDAS = """
import sys
from importlib.machinery import PathFinder
found = PathFinder.find_spec
PathFinder.find_spec = lambda name, *more: None if name.partition(".")[0] == "pandas" else found(name, *more)
import {library} as library
import binfm
make = getattr(library, "DataFrame", None) or library.table
table = make({{"x": [1.0, None, 2.5] * 9, "city": ["a", "b", None] * 9}})
model = binfm.train(table, [0, 1, 1] * 9, m=2, epochs=2)
assert model.feature_names == ("x", "city") and model.features[1].categories == ("a", "b")
model.predict(table)
assert "pandas" not in sys.modules
"""


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_without_pandas(library, run_python):
    run_python(NO_PANDAS.format(library=library))


def test_without_narwhals(run_python):
    run_python("""
import sys
sys.modules["narwhals"] = None
import polars, binfm
try:
    binfm.train(polars.DataFrame({"x": ["a", "b"]}), [0, 1])
except ImportError as error:
    assert "pip install 'binfm[tables]'" in str(error) and "DataFrame" in str(error), error
else:
    raise AssertionError
""")
