"""Scores equal the numpy oracle: the integers exactly, the float score bit for bit."""

import binfm
import numpy as np
import oracle
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

COLUMNS = (
    "normal",
    "few",
    "constant",
    "spike",
    "whole",
    "holes",
    "all_nan",
    "inf",
    "tiny",
    "huge",
    "category",
)


def column(kind, rng, n):
    x = rng.normal(size=n)
    holes = rng.random(n) < rng.choice([0.1, 0.5, 0.95])
    return {
        "normal": lambda: x,
        "few": lambda: rng.integers(0, 4, n) / 3,
        "constant": lambda: np.full(n, x[0]),
        "spike": lambda: np.where(holes, 0.0, x),
        "whole": lambda: rng.integers(-50, 50, n).astype(float),
        "holes": lambda: np.where(holes, np.nan, x),
        "all_nan": lambda: np.full(n, np.nan),
        "inf": lambda: np.where(holes, np.sign(x) * np.inf, x),
        "tiny": lambda: np.where(holes, np.copysign(0.0, x), x * 1e-42),
        "huge": lambda: np.where(holes, x * 1e300, x * 1e38),
        "category": lambda: np.where(holes & (x > 0), np.nan, rng.integers(-3, 9, n)),
    }[kind]()


@st.composite
def cases(draw):
    """Return (parameters, kinds of columns, number of samples, seed of the data, number of classes)."""
    d = draw(st.one_of(st.integers(1, 8), st.integers(1, 8), st.integers(9, 40), st.integers(200, 300)))
    kinds = draw(st.lists(st.sampled_from(COLUMNS), min_size=min(d, 8), max_size=min(d, 8)))
    tilings = draw(
        st.one_of(st.integers(1, 5), st.integers(1, 5), st.integers(6, 40 if d <= 8 else 8))
        if d <= 40
        else st.integers(1, 4)
    )
    wide = draw(st.booleans()) and d <= 8
    w_bits = draw(st.one_of(st.just(1), st.integers(1, 8)))
    parameters = {
        "w_bits": w_bits,
        "m": draw(
            st.one_of(
                st.integers(0, 9),
                st.sampled_from([31, 32, 33, 63, 64, 65, 127, 128, 129]),
                st.integers(1, 200),
            )
        ),
        "tilings": tilings,
        "b": tilings + draw(st.integers(1, 400 if wide else 40)),
        "loss": draw(st.sampled_from(["logistic", "hinge", "squared_hinge", "squared"])),
        "binning": draw(st.sampled_from(["quantile", "uniform"])),
        "scaling": w_bits > 1 or draw(st.booleans()),
        "min_count": draw(st.integers(1, 3)),
        "seed": draw(st.integers(0, 1000)),
    }
    rows = draw(st.integers(5, 700 if wide else 60))
    return (
        parameters,
        [kinds[j % len(kinds)] for j in range(d)],
        rows,
        draw(st.integers(0, 2**32)),
        draw(st.integers(2, 5)),
    )


def trained(case):
    """Return a model and a table to score: training samples and unseen ones."""
    parameters, kinds, rows, seed, classes = case
    rng = np.random.default_rng(seed)
    X = np.column_stack([column(kind, rng, rows) for kind in kinds])
    y = rng.permutation(np.arange(rows) % classes) * 1.5
    categorical = [j for j, kind in enumerate(kinds) if kind == "category"]
    # Choosing takes twenty times as long as training, and its models are scored like others.
    parameters = {"regularization": "auto" if seed % 8 == 0 else 0, **parameters}
    model = binfm.train(X, y, epochs=1, categorical=categorical, n_jobs=1, **parameters)
    new = np.column_stack([column(kind, rng, 12) for kind in kinds])
    new[rng.random(new.shape) < 0.1] = np.nan
    new[rng.random(new.shape) < 0.05] = 77.0
    return model, np.vstack([X[:4], new])[: 6 if len(kinds) > 40 else 16]


def assert_same_scores(model, table, *same):
    """Compare the scores of the tables `same` with the oracle's answer for their values in `table`."""
    outputs = len(np.atleast_2d(model.w))
    L, Q = oracle.terms(model, table)
    want = oracle.scores(model, table)
    for X in same or (table,):
        got_L, got_Q = model.terms(X)
        np.testing.assert_array_equal(got_L.reshape(-1, outputs), L)
        np.testing.assert_array_equal(got_Q.reshape(-1, outputs), Q)
        got = model.decision_function(X)
        assert got.dtype == np.float64
        assert got.shape == ((len(want),) if outputs == 1 else want.shape)
        assert got.tobytes() == np.ascontiguousarray(want).tobytes()


def layouts(X):
    """Yield the same table in other memory layouts."""
    yield np.ascontiguousarray(X)
    yield np.asfortranarray(X)
    wide = np.full((2 * len(X), 3 * X.shape[1]), 9, X.dtype)
    wide[::2, 1::3] = X
    yield wide[::2, 1::3]
    yield np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    yield np.asfortranarray(X[::-1])[::-1]
    frozen = X.copy()
    frozen.setflags(write=False)
    yield frozen
    yield np.frombuffer(b"x" + X.tobytes(), np.uint8)[1:].view(X.dtype).reshape(X.shape)  # unaligned
    yield X.astype(X.dtype.newbyteorder())


@given(cases())
@settings(max_examples=150)
def test_scores_equal_the_oracle(case):
    model, X = trained(case)
    assert_same_scores(model, X)


@given(cases(), st.sampled_from([np.float32, np.float64]))
@settings(max_examples=25)
def test_memory_order_does_not_matter(case, dtype):
    model, X = trained(case)
    with np.errstate(over="ignore"):
        X = X.astype(dtype)
    want = model.decision_function(X)
    for same in layouts(X):
        assert model.decision_function(same).tobytes() == want.tobytes()
        assert model.decision_function(same[2:3]).tobytes() == want[2:3].tobytes()


@pytest.mark.parametrize("dtype", ["?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "e", "f", "d", "g"])
def test_any_dtype_scores_as_its_values(dtype):
    rng = np.random.default_rng(5)
    X = rng.integers(0, 100, (200, 3)).astype(dtype)
    model = binfm.train(X, np.arange(200) % 3, epochs=1, m=5)
    assert_same_scores(model, X.astype(np.float64).tolist(), X)
    for same in layouts(X):
        assert model.decision_function(same).tobytes() == model.decision_function(X).tobytes()
        assert binfm.train(same, np.arange(200) % 3, epochs=1, m=5) == model


def test_large_integers_round_once_to_float32():
    X = (np.arange(60).reshape(-1, 1) * 3 + 2**31 - 90).astype(np.int64)
    model = binfm.train(X, np.arange(60) % 2, epochs=1, b=30, tilings=1)
    assert_same_scores(model, X)
    unsigned = np.array([[2**64 - 1], [2**63], [5]], np.uint64)
    assert_same_scores(model, unsigned.astype(np.float64), unsigned)


@given(
    st.integers(0, 2**32),
    st.integers(1, 60),
    st.integers(1, 6),
    st.integers(0, 70),
    st.one_of(st.just(1), st.integers(1, 8)),
    st.booleans(),
    st.sampled_from([0.02, 0.3, 0.9, 1.0]),
    st.sampled_from(["nowhere", "in training", "later"]),
)
@example(seed=0, d=1, tilings=1, m=1, w_bits=1, ones=True, density=0.3, missing="nowhere")
@example(seed=1, d=9, tilings=3, m=0, w_bits=8, ones=False, density=0.3, missing="nowhere")
@example(seed=2, d=9, tilings=3, m=40, w_bits=1, ones=False, density=1.0, missing="later")
def test_sparse_scores_equal_the_oracle(seed, d, tilings, m, w_bits, ones, density, missing):
    rng = np.random.default_rng(seed)
    stored = rng.random((40, d)) < density
    X = sparse.csr_array(np.where(stored, 1.0 if ones else rng.normal(size=(40, d)), 0.0))
    X.data[rng.random(X.nnz) < 0.1] = 0.0  # stored zeros are absent too
    with_missing = X.copy()
    with_missing.data[rng.random(X.nnz) < 0.1] = np.nan
    given = with_missing if missing == "in training" else X
    model = binfm.train(given, np.arange(40) % 3, epochs=1, m=m, w_bits=w_bits, b=tilings + 7, tilings=tilings)
    X = X if missing == "nowhere" else with_missing
    long = sparse.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    assert_same_scores(model, X.toarray(), X.toarray(), X, X.astype(np.float32).tocsc(), X.tocoo(), long)


@given(cases())
@settings(max_examples=30)
def test_a_sparse_table_scores_as_its_dense_twin(case):
    model, X = trained(case)
    X = np.where(np.abs(X) < 0.8, 0.0, X)
    assert_same_scores(model, X, sparse.csr_array(X), sparse.csr_matrix(X))


def test_duplicate_and_unsorted_entries_are_summed():
    X = sparse.csr_array(([1.0, 2.0, 4.0, 0.5], [2, 0, 2, 1], [0, 3, 4]), shape=(2, 3))
    rng = np.random.default_rng(0)
    model = binfm.train(rng.integers(0, 9, (100, 3)), np.arange(100) % 2, epochs=1)
    assert_same_scores(model, [[2, 0, 5], [0, 0.5, 0]], X)
    assert X.nnz == 4, "the caller's matrix is left as it was"


def test_text_categories_score_as_their_codes(models):
    model, table = models["text categories"]
    new = np.array([[1.0, None, "mauve", 2], [np.nan, 0.5, "日本", 99], [0, 0, None, None]], object)
    assert_same_scores(model, np.vstack([table, new]))


@given(cases())
@settings(max_examples=40)
def test_classes_and_probabilities_follow_from_the_scores(case):
    model, X = trained(case)
    integers, _ = oracle.integer_scores(model, X)
    if model.loss == "squared":
        assert model.classes is None
        assert model.predict(X).tobytes() == model.decision_function(X).tobytes()
        return
    pick = [int(s[0] > 0) if len(s) == 1 else s.index(max(s)) for s in integers]
    np.testing.assert_array_equal(model.predict(X), model.classes[pick])
    if model.loss != "logistic":
        with pytest.raises(ValueError, match=f"loss must be 'logistic' .*, got '{model.loss}'"):
            model.predict_proba(X)
        return
    scores = oracle.scores(model, X)
    scores = np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores
    log_p = -np.logaddexp(0, -scores)  # log of the sigmoid, which may itself underflow
    p = np.exp(log_p - np.logaddexp.reduce(log_p, axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(X), p, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-12)


def test_scales_match_the_integers_in_the_file(models):
    for model in (model for model, _ in models.values() if model.method == "bfm"):
        fields, scales = oracle.header(model.to_bytes())
        unit = 2.0 ** -fields["exponent"]
        bias, a, c = (np.array(part, np.float64) for part in zip(*scales, strict=True))
        np.testing.assert_array_equal(np.atleast_1d(model.bias), bias * 2.0 ** fields["shift_bias"] * unit)
        np.testing.assert_array_equal(np.atleast_1d(model.alpha), a * 2.0 ** fields["shift_a"] * unit)
        np.testing.assert_array_equal(np.atleast_1d(model.beta), np.sqrt(c * 2.0 ** fields["shift_c"] * unit))


def test_no_samples_give_no_scores(models):
    model, X = models["text labels"]
    assert model.decision_function(X[:0]).shape == (0, 4)
    assert model.predict(X[:0]).shape == (0,)
    assert model.predict_proba(X[:0]).shape == (0, 4)
