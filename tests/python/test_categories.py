"""Categories, weights and sparse tables: what the encoder learns from each."""

import binfm
import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from test_encoding import as_dicts, encode, untrained


def test_each_category_has_its_own_tilings_rows():
    x = np.array([3, 9, -2, 9] * 10)
    model = encode(x, categorical=[0], tilings=3, b=4)
    (feature,) = model.features
    assert (feature.kind, feature.cells, feature.stride) == ("categorical", 3, 3)
    assert sorted(feature.categories) == [-2, 3, 9]
    assert len(feature.rows) == 9
    assert len(feature.edges) == 0
    active = [set(oracle.active_rows(model, [v])) for v in (3, 9, -2)]
    assert set.union(*active) == set(range(9))


def test_an_unseen_category_is_absent():
    model = encode(np.array([1, 2, 3] * 20), categorical=[0])
    for unseen in (4, 0, -1, 1.5, np.nan, np.inf, 1e30):
        assert model.decision_function([[unseen]]) == model.bias
    assert model.decision_function([[2.0]]) == model.decision_function([[2]])


def test_nan_is_a_category_if_training_had_it():
    x = np.array([1.0, 2.0, np.nan] * 20)
    model = encode(x, categorical=[0], tilings=2)
    assert model.features[0].missing_row is not None
    assert model.features[0].cells == 2
    assert len(model.w) == 6
    assert model.decision_function([[7.0]]) == model.bias


@pytest.mark.parametrize("text", [False, True])
def test_rare_categories_are_absent(text):
    x = np.repeat([1, 2, 3, 4], [1, 2, 3, 14]).reshape(-1, 1)
    x = np.array([[f"level {v[0]}"] for v in x], object) if text else x
    model = encode(x, categorical=[0], min_count=3)
    assert sorted(model.features[0].categories) == sorted({x[-1, 0], x[3, 0]})
    assert model.decision_function(x[:1]) == model.bias == model.decision_function(x[1:2])
    assert model.terms(x[3:4])[0] != 0 or model.terms(x[3:4])[1] != 0


@pytest.mark.parametrize("columns", [[0, 2], [2, 0, 0], [-1, -3], {0, 2}, (0, 2), np.array([0, 2])])
def test_columns_may_be_numbers_or_a_mask(columns):
    X = np.random.default_rng(0).integers(0, 9, (50, 3))
    assert encode(X, categorical=columns) == encode(X, categorical=[True, False, True])
    assert [f.kind for f in encode(X, categorical=columns).features] == [
        "categorical",
        "numeric",
        "categorical",
    ]


def test_text_and_its_codes_train_the_same_signs():
    codes = np.random.default_rng(0).integers(0, 5, (80, 2))
    text = np.array(["a", "b", "c", "d", "e"])[codes]
    by_text, by_code = (encode(X, categorical=[0, 1], epochs=3) for X in (text, codes))
    np.testing.assert_array_equal(by_text.V, by_code.V)
    np.testing.assert_array_equal(by_text.decision_function(text), by_code.decision_function(codes))
    assert by_text.features[0].categories == ("a", "b", "c", "d", "e")


@pytest.mark.parametrize("min_count", [1, 100])
def test_a_text_column_of_one_category_still_takes_text(min_count):
    X = np.array([["same", "a"], ["same", "b"]] * 20, object)
    model = encode(X, categorical=[0, 1], min_count=min_count)
    assert model.features[0].kind == "unused"
    for again in (model, binfm.Model.from_bytes(model.to_bytes())):
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
        assert again.decision_function([["other", "z"]]) == model.bias


def test_a_million_categories_survive_a_round_trip():
    x = np.arange(1_000_000).reshape(-1, 1)
    model = binfm.train(x, x[:, 0] % 3 == 0, categorical=[0], m=2, tilings=1, epochs=1, early_stopping=False)
    assert model.features[0].cells == 1_000_000
    assert len(model.features[0].rows) == 1_000_000
    again = binfm.Model.from_bytes(model.to_bytes())
    assert again == model
    assert again.decision_function(x).tobytes() == model.decision_function(x).tobytes()
    assert model.decision_function([[1_000_000]]) == model.bias


# Weights


@given(st.integers(0, 2**32), st.integers(2, 12), st.integers(1, 4), st.sampled_from(["quantile", "uniform"]))
def test_a_weight_of_k_is_k_copies(seed, b, tilings, binning):
    rng = np.random.default_rng(seed)
    n = rng.integers(5, 60)
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 4, n), rng.integers(0, 9, n), rng.normal(size=n)])
    X[rng.random(n) < 0.2, 3] = np.nan
    X[rng.random(n) < 0.4, 0] = 0.0
    weight = rng.integers(0, 5, n)
    weight[:2] = 1
    rest = {"b": b + tilings, "tilings": tilings, "binning": binning, "categorical": [2], "min_count": 3}
    weighted = untrained(X, np.arange(n) % 2, sample_weight=weight, **rest)
    repeated = untrained(np.repeat(X, weight, axis=0), np.repeat(np.arange(n) % 2, weight), **rest)
    assert as_dicts(weighted) == as_dicts(repeated)


@given(st.integers(0, 2**32))
def test_a_weight_of_k_is_k_copies_in_a_sparse_table(seed):
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((40, 5)) < 0.4, rng.normal(size=(40, 5)).round(1), 0.0)
    weight = rng.integers(0, 4, 40)
    weight[:2] = 1
    y = np.arange(40) % 2
    weighted = binfm.train(sparse.csr_array(dense), y, sample_weight=weight, m=1, epochs=1, b=9)
    repeated = binfm.train(sparse.csr_array(np.repeat(dense, weight, axis=0)), np.repeat(y, weight), m=1, epochs=1, b=9)
    assert as_dicts(weighted.features) == as_dicts(repeated.features)


@pytest.mark.parametrize("factor", [0.125, 3.0, 1e6])
def test_only_the_ratio_of_weights_matters_to_the_edges(factor):
    rng = np.random.default_rng(0)
    x, weight = rng.normal(size=500), rng.integers(1, 9, 500)
    plain, scaled = (encode(x, sample_weight=weight * by).features for by in (1, factor))
    assert as_dicts(plain) == as_dicts(scaled)


def test_samples_of_zero_weight_are_ignored():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), np.ones(60), rng.integers(0, 3, 60)])
    junk = np.array([[1e9, 5.0, 77.0], [np.nan, np.nan, np.nan], [-np.inf, 2.0, 78.0]])
    weight = np.r_[np.ones(60), np.zeros(3)]
    y = np.arange(63) % 2
    for binning in ("quantile", "uniform"):
        plain = binfm.train(X, y[:60], categorical=[2], binning=binning, m=2, epochs=1)
        padded = binfm.train(
            np.vstack([X, junk]), y, sample_weight=weight, categorical=[2], binning=binning, m=2, epochs=1
        )
        assert as_dicts(plain.features) == as_dicts(padded.features)
        assert padded.features[1].kind == "unused"
        assert padded.features[0].missing_row is None


def test_text_categories_of_zero_weight_are_ignored():
    X = np.array([["a"], ["b"], ["c"]] * 4, object)
    weight = [1, 1, 0] * 4
    (feature,) = encode(X, categorical=[0], sample_weight=weight).features
    assert feature.categories == ("a", "b")


# Sparse tables


def test_a_feature_whose_stored_values_are_all_one_has_one_cell():
    X = sparse.csr_array(np.eye(20)[np.arange(60) % 20])
    model = encode(X, tilings=2, b=8)
    assert {(f.kind, f.cells, len(f.rows)) for f in model.features} == {("numeric", 1, 2)}
    assert len(model.w) == 40


def test_only_stored_values_determine_the_cells():
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((3000, 1)) < 0.3, rng.normal(5, 1, (3000, 1)), 0)
    (feature,) = encode(sparse.csr_array(dense), b=13, tilings=4).features
    stored = dense[dense != 0]
    counts = np.bincount([oracle.cell(feature, v) for v in stored], minlength=10)
    assert feature.cells == 10
    assert np.all(np.abs(counts - len(stored) / 10) <= len(stored) / 40 + 1)


def test_a_column_without_entries_is_unused():
    dense = np.zeros((30, 3))
    dense[::2, 0] = 4.0
    dense[1::2, 2] = np.nan
    dense[::4, 2] = 7.0
    model = encode(sparse.csr_array(dense), tilings=2, b=5)
    assert [f.kind for f in model.features[:2]] == ["numeric", "unused"]
    assert model.decision_function([[0.0, 9.0, 0.0]]) == model.bias
    assert model.features[2].missing_row is not None, "a stored NaN is a value of its own"


def test_implicit_and_stored_zeros_train_the_same_model():
    dense = np.where(np.random.default_rng(0).random((60, 4)) < 0.5, 2.0, 0.0)
    dense[:, 1] *= np.arange(60)
    stored = sparse.csr_array(dense)
    stored.data[::7] = 0.0
    without_zeros = stored.copy()
    without_zeros.eliminate_zeros()
    assert without_zeros.nnz < stored.nnz
    assert encode(stored) == encode(without_zeros)


def test_memory_for_a_million_sparse_columns_follows_the_stored_values(run_python):
    code = (
        "import numpy as np, binfm, resource\n"
        "from scipy import sparse\n"
        "rng = np.random.default_rng(0)\n"
        "columns = rng.integers(0, 1_000_000, (5000, 10))\n"
        "X = sparse.csr_array((np.ones(50_000), columns.ravel(), np.arange(5001) * 10), (5000, 1_000_000))\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "m = binfm.train(X, np.arange(5000) % 2, m=8, epochs=2)\n"
        "again = binfm.Model.from_bytes(m.to_bytes())\n"
        "assert again.decision_function(X).tobytes() == m.decision_function(X).tobytes()\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    assert int(run_python(code)) < 400_000, "kilobytes"
