"""Scoring one sample at a time: the same score as in a table, from an array, a list or a tuple."""

import binfm
import numpy as np
import pytest


@pytest.fixture(scope="module")
def numbers():
    X = np.random.default_rng(0).normal(size=(400, 3))
    X[::7, 1] = np.nan
    return X


@pytest.mark.parametrize("classes", [2, 4])
def test_a_single_sample_scores_as_in_a_table(numbers, classes):
    y = np.digitize(numbers[:, 0], np.linspace(-1, 1, classes - 1))
    model = binfm.train(numbers, y, m=8, epochs=3)
    for row, score in zip(numbers[:40], model.decision_function(numbers[:40]).tolist(), strict=True):
        wide = np.repeat(row, 2)[::2]
        for given in (row, row.astype(np.float32), list(row), tuple(row), wide, row[::-1].copy()[::-1]):
            found = model.score_row(given)
            assert found == score
            assert isinstance(found, float if classes == 2 else list)


def test_a_sample_of_whole_numbers(numbers):
    X = np.round(numbers * 3)
    model = binfm.train(X, numbers[:, 0] > 0, categorical=[2], epochs=2)
    row = [1, 2, -3]
    assert model.score_row(row) == model.decision_function([row])[0]
    assert model.score_row(np.array(row)) == model.decision_function([row])[0]


def test_masked_values_are_missing(numbers):
    model = binfm.train(numbers, numbers[:, 0] > 0, epochs=2)
    for mask in ([True, False, False], [False, True, False], [True] * 3, False):
        row = np.ma.masked_array(numbers[0], mask=mask)
        assert model.score_row(row) == model.decision_function(row[None])[0]
        filled = np.where(np.ma.getmaskarray(row), np.nan, numbers[0])
        assert model.score_row(row) == model.score_row(filled)
        assert model.score_row(np.ma.masked_array([1, 2, 3], mask=mask)) == model.score_row(
            np.where(np.broadcast_to(mask, 3), np.nan, [1, 2, 3])
        )


def test_unaligned_samples(numbers):
    """Unaligned numbers are copied first, since the CPU may be unable to read them in place."""
    model = binfm.train(numbers, numbers[:, 0] > 0, epochs=2)
    for X in (numbers[:5], numbers[:5].astype(np.float32), numbers[:5].T.copy().T):
        packed = np.empty(len(X), [("byte", "u1"), ("row", X.dtype, X.shape[1])])
        packed["row"] = X
        assert not packed["row"].flags.aligned
        assert model.decision_function(packed["row"]).tobytes() == model.decision_function(X).tobytes()
        assert model.score_row(packed["row"][3]) == model.score_row(X[3])


def test_a_sample_with_text():
    X = np.array([["a", 1.0], ["b", 2.0], ["a", 3.0], ["c", 4.0]] * 20, dtype=object)
    model = binfm.train(X, [0, 1, 0, 1] * 20, categorical=[0], epochs=3)
    for row in (["a", 1.5], ("c", 9.0), ["?", 1.0], [None, 2.0]):
        table = np.empty((1, 2), dtype=object)
        table[0] = row
        assert model.score_row(row) == model.decision_function(table)[0]


@pytest.mark.parametrize(
    ("row", "error", "words"),
    [
        ([1.0, 2.0], ValueError, ("row must have 3 features", "got 2")),
        ([], ValueError, ("row must have 3 features", "got 0")),
        (np.zeros(4, np.float32), ValueError, ("row must have 3 features", "got 4")),
        ("abc", TypeError, ("row", "1-D array")),
        (["a", "b", "c"], TypeError, ("row", "1-D array")),
        (np.zeros((1, 3)), TypeError, ("row", "1-D array")),
        (None, TypeError, ("row", "1-D array")),
    ],
)
def test_errors_describe_invalid_samples(numbers, row, error, words):
    model = binfm.train(numbers, numbers[:, 0] > 0, epochs=1)
    with pytest.raises(error) as caught:
        model.score_row(row)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize(
    ("columns", "b", "tilings"), [(5, 30, 1), (5, 31, 1), (5, 36, 4), (3, 64, 1), (2, 250, 3), (70, 20, 4), (130, 9, 2)]
)
def test_tables_with_many_cells_or_columns_score_like_single_samples(columns, b, tilings):
    # Tables are encoded many samples at a time, and features with many cells in parts; a single sample is not.
    X = np.random.default_rng(1).normal(size=(900, columns)).astype(np.float32)
    X[::5, 0] = np.nan
    X[::3, 1] *= 1e-3
    present = binfm.train(X[:600], X[:600, 1] > 0, m=9, b=b, tilings=tilings, epochs=1)
    absent = binfm.train(X[:600:5, 1:], X[:600:5, 1] > 0, m=9, b=b, tilings=tilings, epochs=1)
    holes = np.where(np.random.default_rng(2).random(X[:, 1:].shape) < 0.1, np.nan, X[:, 1:])
    for model, table in ((present, X), (absent, holes)):
        assert model.decision_function(table).tolist() == [model.score_row(row) for row in table]
