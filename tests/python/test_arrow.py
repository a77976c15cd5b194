"""Plain numbers are read where they lie, and give the same results as when narwhals reads them."""

import ctypes

import binfm
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from binfm._core import ArrowTable, arrow_columns
from binfm.data import readers
from binfm.data.frames import Numbers
from hypothesis import given
from hypothesis import strategies as st

KINDS = {
    pa.bool_(): st.booleans(),
    **{
        kind: st.integers(0, 5) | st.integers(low, high)
        for kind, low, high in (
            *((pa.type_for_alias(f"int{bits}"), -(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)),
            *((pa.type_for_alias(f"uint{bits}"), 0, 2**bits - 1) for bits in (8, 16, 32, 64)),
        )
    },
    pa.float32(): st.integers(0, 5) | st.floats(width=32),
    pa.float64(): st.integers(0, 5) | st.sampled_from([3.00000001, 2.0**24 + 1, 1e300]) | st.floats(),
}
QUICK = {"m": 3, "b": 6, "tilings": 2, "epochs": 2, "n_jobs": 1}
RNG = np.random.default_rng(0)


def models():
    """Return a model of numbers, one of categories, and one with whole columns of each."""
    X, y = RNG.integers(-1, 7, (300, 3)).astype(float), RNG.integers(0, 2, 300)
    X[::9, 0] = np.nan
    chosen = ((0.4, []), (0, [0, 1, 2]), (0, [1]))
    return [binfm.train(X + shift, y, categorical=ids, min_count=1, **QUICK) for shift, ids in chosen]


MODELS = models()


@st.composite
def tables(draw):
    """Draw a table of three columns in batches, the first of which begins in the middle of its buffers."""
    kinds = draw(st.lists(st.sampled_from(list(KINDS)), min_size=3, max_size=3))
    sizes = draw(st.lists(st.sampled_from([0, 1, 7, 8, 9, 31, 32, 33, 130]), max_size=3))
    batches = []
    for size in sizes:
        values = [KINDS[kind] | st.none() if draw(st.booleans()) else KINDS[kind] for kind in kinds]
        few = [draw(st.lists(each, min_size=1, max_size=9)) for each in values]
        columns = [pa.array((some * (size + 3))[: size + 3], kind) for some, kind in zip(few, kinds, strict=True)]
        batches.append(pa.record_batch(columns, names=list("abc"))[3:])
    return pa.Table.from_batches(batches, pa.schema(list(zip("abc", kinds, strict=True))))


def by_narwhals(table):
    return readers._frame(nw.from_native(pl.from_arrow(table)))


def batch(table):
    return table.combine_chunks().to_batches()[0] if len(table) else pa.RecordBatch.from_pylist([], table.schema)


def struct(table):
    """Return the table as an array of structures that begins in the middle of its columns."""
    longer = batch(pa.concat_tables([table.slice(0, 1), table]))
    return longer.to_struct_array()[table.slice(0, 1).num_rows :]


MAKERS = {
    "pyarrow": lambda table: table,
    "batch": batch,
    "struct": struct,
    "polars": pl.from_arrow,
    "stream": lambda table: table.to_reader(),
    "narwhals": nw.from_native,
    "pandas": lambda table: table.to_pandas(),
}


@pytest.mark.parametrize("kind", MAKERS)
@given(table=tables())
def test_scores_are_those_of_columns_that_narwhals_reads(kind, table):
    for model in MODELS:
        expected = model.decision_function(by_narwhals(table))
        np.testing.assert_array_equal(model.decision_function(MAKERS[kind](table)), expected)


@pytest.mark.parametrize("kind", ["pyarrow", "polars", "stream", "pandas"])
@given(table=tables().filter(lambda table: len(table) > 1))
def test_training_gives_the_model_of_columns_that_narwhals_reads(kind, table):
    y = np.arange(len(table)) % 2
    assert binfm.train(MAKERS[kind](table), y, **QUICK) == binfm.train(by_narwhals(table), y, **QUICK)


@pytest.mark.parametrize("make", [pa.table, pl.DataFrame, pd.DataFrame])
def test_plain_columns_are_read_in_place_and_others_are_not(make):
    numbers = {"a": [1.5, 2.0], "b": [True, False], "c": np.array([3, 4], np.uint8)}
    assert isinstance(readers.read_in_place(make(numbers)), Numbers)
    mixed = readers.read_in_place(make({**numbers, "d": ["x", "y"]}))
    assert [column.is_category for column in mixed.columns] == [False, False, False, True]
    assert [np.asarray(column.values).tolist() for column in mixed.columns[:3]] == [[1.5, 2.0], [1, 0], [3, 4]]


@pytest.mark.parametrize("make", [pa.table, pl.DataFrame, pd.DataFrame])
@pytest.mark.parametrize("other", [1.0, 2.0**24 + 2])
def test_categories_are_rounded_as_narwhals_reads_them(make, other):
    """A table has float32 unless some number is too large: only then 3.00000001 is not 3."""
    model, columns = MODELS[2], {"a": [1.0, 1.0], "b": [3.0, 3.00000001], "c": [0.0, other]}
    reference = by_narwhals(pa.table(columns))
    scores = model.decision_function(make(columns))
    np.testing.assert_array_equal(scores, model.decision_function(reference))
    same = model.decision_function(make({**columns, "b": [3.0, 3.0]}))
    assert (scores[1] == same[1]) == (other == 1.0)


def test_types_that_stand_for_something_else_are_not_plain():
    batch = pa.record_batch(
        {
            "bool8": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([0, 1], pa.int8())),
            "dictionary": pa.array([3, 4]).dictionary_encode(),
            "half": pa.array(np.array([1, 2], np.float16)),
            "date": pa.array([0, 1], pa.date32()),
        }
    )
    noted = pa.field("noted", pa.int8(), metadata={"unit": "m", "ARROW:extension": "name"})
    batch = batch.append_column(noted, pa.array([5, 6], pa.int8()))
    assert [is_plain for _, is_plain in arrow_columns(batch.__arrow_c_array__())] == [False] * 4 + [True]


def test_buffers_need_not_be_aligned():
    numbers = RNG.normal(size=(40, 3))
    shifted = [pa.py_buffer(b"x" + column.tobytes())[1:] for column in numbers.T]
    columns = [pa.Array.from_buffers(pa.float64(), 40, [None, buffer]) for buffer in shifted]
    table = pa.table(columns, names=list("abc"))
    np.testing.assert_array_equal(MODELS[0].decision_function(table), MODELS[0].decision_function(numbers))


def test_a_stream_of_text_is_read_once():
    table = pa.table({"x": [0.5, 1.5] * 9, "city": ["a", "b"] * 9})
    model = binfm.train(table.to_reader(max_chunksize=4), [0, 1] * 9, **QUICK)
    assert model == binfm.train(table, [0, 1] * 9, **QUICK)
    np.testing.assert_array_equal(model.predict(table.to_reader()), model.predict(table))
    stream = table.select(["x"]).to_reader().__arrow_c_stream__()
    ArrowTable(stream)
    with pytest.raises(ValueError, match="read already"):
        ArrowTable(stream)


def test_an_error_of_the_stream_is_reported():
    def batches():
        yield pa.record_batch({"x": [1.0]})
        raise OSError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"x": pa.float64()}), batches())
    with pytest.raises(ValueError, match=r"^X must be a 2-D table, got RecordBatchReader \(.*the disk is gone"):
        MODELS[0].predict(reader)


class CArray(ctypes.Structure):
    """The head of ArrowArray, up to its release callback."""

    _fields_ = (("counts", ctypes.c_int64 * 5), ("pointers", ctypes.c_void_p * 3), ("release", ctypes.c_void_p),
                ("private_data", ctypes.c_void_p))  # fmt: skip


RELEASE = ctypes.CFUNCTYPE(None, ctypes.POINTER(CArray))


@pytest.mark.parametrize("fits", [True, False])
def test_a_batch_is_released_once(fits):
    """Whether or not it can be read; and its memory lives as long as the table."""
    batch = pa.record_batch({"x": pa.array([1.0, None, 3.0])})
    schema_capsule, array_capsule = batch.__arrow_c_array__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.POINTER(CArray), (ctypes.py_object, ctypes.c_char_p)
    array = get(array_capsule, b"arrow_array").contents
    original, released = array.release, []

    @RELEASE
    def count(array):
        released.append(array.contents.counts[0])
        array.contents.release = original
        RELEASE(original)(array)

    array.release = ctypes.cast(count, ctypes.c_void_p).value
    if fits:
        table = ArrowTable((schema_capsule, array_capsule))
        del array_capsule
        assert not released
        np.testing.assert_array_equal(table.numbers(0), [1.0, np.nan, 3.0])
        del table
    else:
        two = pa.schema({"x": pa.float64(), "y": pa.float64()}).__arrow_c_schema__()
        with pytest.raises(ValueError, match="does not fit its schema"):
            ArrowTable((two, array_capsule))
        del array_capsule
    assert released == [3]


def test_memory_is_returned():
    def score():
        MODELS[0].decision_function(pa.table({name: np.arange(50_000.0) * 2 for name in "abc"}).to_reader())
        MODELS[0].decision_function(pa.table({name: pa.array([1.0, None] * 25_000) for name in "abc"}))

    score()
    before = pa.total_allocated_bytes()
    score()
    assert pa.total_allocated_bytes() <= before


PLAIN = """
import sys
sys.modules["narwhals"] = None
import {library} as library, binfm
make = getattr(library, "DataFrame", None) or library.table
table = make({{"x": [1.0, 2.5, 4.0] * 9, "n": [1, 2, 3] * 9, "yes": [True, False, False] * 9}})
model = binfm.train(table, [0, 1, 1] * 9, m=2, epochs=2)
assert model.feature_names == ("x", "n", "yes")
assert model.predict(table).shape == (27,)
"""


@pytest.mark.parametrize("library", ["polars", "pyarrow", "pandas"])
def test_plain_numbers_do_not_need_narwhals(library, run_python):
    run_python(PLAIN.format(library=library))
