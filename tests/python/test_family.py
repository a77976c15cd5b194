"""The methods with float weights: the same model, file and analyses."""

import pickle

import binfm
import numpy as np
import pytest
from scipy import sparse

FLOATS = ["sefm", "dfm", "fm"]


def active(model, X):
    """Yield the active rows of each sample and their multipliers, from `model.features` alone."""
    for sample in X:
        rows, values = [], []
        for feature, x in zip(model.features, sample, strict=True):
            if feature.kind == "raw":
                if not np.isnan(x):
                    rows.append(feature.rows.start)
                    values.append((np.float32(x) - np.float64(feature.center)) * np.float64(feature.scale))
                continue
            if feature.kind == "unused":
                continue
            if np.isnan(x):
                start = feature.missing_row
            elif feature.kind == "categorical":
                known = x in feature.categories
                start = feature.rows.start + feature.categories.index(x) * feature.stride if known else None
            else:
                cell = int(np.searchsorted(feature.edges, np.float32(x), side="right"))
                start = feature.rows.start + cell * feature.stride
            if start is not None:
                rows += range(start, start + model.tilings)
                values += [1.0] * model.tilings
        yield np.array(rows, int), np.array(values, float)


def scores_by_definition(model, X):
    """Return scores by the definition, pair by pair."""
    w, V = np.atleast_2d(model.w), model.V if model.V.ndim == 3 else model.V[None]
    beta, bias = np.atleast_1d(model.beta), np.atleast_1d(model.bias)
    scores = []
    for rows, x in active(model, X):
        u = V[:, rows].astype(float) * x[None, :, None]
        dots = np.einsum("kim,kjm->kij", u, u)
        pairs = np.triu(dots, 1).sum(axis=(1, 2))
        scores.append(bias + (w[:, rows].astype(float) * x).sum(axis=1) + beta**2 * pairs)
    scores = np.array(scores)
    return scores[:, 0] if scores.shape[1] == 1 else scores


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 5)) * [1, 100, 1e-3, 1, 1] + [0, 50, 0, 0, 0]
    X[:, 3] = rng.integers(0, 6, 400)
    X[:, 4] = 7.0
    X[rng.random(400) < 0.2, 0] = np.nan
    return X


@pytest.mark.parametrize("method", FLOATS)
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("tilings", [1, 3])
def test_scores_match_the_definition(table, method, classes, tilings):
    y = np.arange(400) % classes
    model = binfm.train(table, y, method=method, m=5, b=8, tilings=tilings, epochs=4, categorical=[3])
    rows = np.concatenate([table[:50], [[1e30, np.inf, 0, 99, 7], [np.nan] * 5]])
    inside = np.abs(model.decision_function(rows)) < np.inf
    assert inside.all()
    np.testing.assert_allclose(
        model.decision_function(rows[:50]), scores_by_definition(model, rows[:50]), rtol=2e-4, atol=2e-5
    )
    assert model.method == method
    assert model.tilings == (tilings if method == "sefm" else 1)
    L, Q = model.terms(rows)
    np.testing.assert_allclose(model.bias + L + np.square(model.beta) * Q, model.decision_function(rows))
    one = np.array([model.score_row(row) for row in rows])
    np.testing.assert_array_equal(one, model.decision_function(rows))


@pytest.mark.parametrize("method", FLOATS)
def test_a_sparse_table_scores_like_its_dense_form(method):
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((300, 8)) < 0.4, rng.normal(2, 1, size=(300, 8)), 0.0)
    stored, y = sparse.csr_array(dense), dense[:, 0] > 0
    for X in (dense, stored):
        model = binfm.train(X, y, method=method, m=4, b=6, tilings=2, epochs=3)
        np.testing.assert_array_equal(model.decision_function(stored), model.decision_function(dense))
    assert model.decision_function(np.zeros((1, 8)))[0] == model.bias, "in a sparse table zero is absent"


def product(rows, seed):
    X = np.random.default_rng(seed).normal(size=(rows, 3))
    return X, X[:, 0] * X[:, 1] > 0


@pytest.mark.parametrize("method", FLOATS)
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge"])
def test_each_learns_a_product(method, loss):
    model = binfm.train(*product(2000, 0), method=method, loss=loss, m=8, epochs=20)
    X, y = product(1000, 1)
    assert np.mean(model.predict(X) == y) > 0.92


@pytest.mark.parametrize("method", FLOATS)
def test_each_learns_numbers_in_their_own_units(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = 1e6 + 5e4 * (X[:, 0] + X[:, 0] * X[:, 1])
    model = binfm.train(X[:2000], y[:2000], method=method, loss="squared", m=8, b=30)
    rest = y[2000:]
    assert np.mean((model.predict(X[2000:]) - rest) ** 2) < 0.2 * rest.var()


def test_only_methods_with_bins_learn_a_circle():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    y = (X**2).sum(axis=1) < 1.4  # no product of two different features describes a circle
    accuracy = {method: np.mean(binfm.train(X, y, method=method, m=8).predict(X) == y) for method in ["bfm", *FLOATS]}
    assert min(accuracy["bfm"], accuracy["sefm"]) > 0.95
    assert max(accuracy["fm"], accuracy["dfm"]) < 0.75


def test_weights_have_the_types_of_the_method(table):
    y = np.arange(400) % 2
    kinds = {}
    for method in ["bfm", *FLOATS]:
        model = binfm.train(table, y, method=method, m=3, epochs=2)
        kinds[method] = (model.w.dtype, model.V.dtype)
        assert binfm.Model.from_bytes(model.to_bytes()).method == method
        assert sum(model.size_report().values()) == model.nbytes
    assert kinds == {
        "bfm": (np.int16, np.int8),
        "sefm": (np.float32, np.float32),
        "dfm": (np.float32, np.int8),
        "fm": (np.float32, np.float32),
    }


@pytest.mark.parametrize("method", FLOATS)
@pytest.mark.parametrize("classes", [2, 3])
def test_an_explanation_adds_up(table, method, classes):
    model = binfm.train(table, np.arange(400) % classes, method=method, m=4, epochs=4, categorical=[3])
    for row in table[:10]:
        for reference in (None, table):
            why = model.explain(row, reference)
            score = np.atleast_1d(model.score_row(row))
            parts = np.atleast_2d(why.contributions).sum(axis=1) + np.atleast_1d(why.bias)
            np.testing.assert_allclose(parts * why.unit, score, rtol=1e-4, atol=1e-5)
            moved = np.atleast_2d(why.shapley).sum(axis=1) + np.atleast_1d(why.absent_shapley)
            np.testing.assert_allclose(np.atleast_1d(why.mean) + moved, score, rtol=1e-4, atol=1e-5)
            assert str(why).count("\n") >= len(why.names)
    if classes == 2:
        # The reference varies features independently, which these are.
        assert abs(why.mean - np.mean(model.decision_function(table))) < 0.1


def test_explanations_name_raw_values_in_standard_deviations():
    X, y = product(500, 0)
    model = binfm.train(X, y, method="fm", m=4)
    feature = model.features[0]
    assert feature.kind == "raw"
    assert abs(feature.center - X[:, 0].mean()) < 1e-6
    assert abs(feature.scale * X[:, 0].std() - 1) < 1e-6
    assert model.explain([feature.center + 1.5 / feature.scale, 0, 0]).cells[0] == "+1.5 sd"


def test_effects_and_interactions_of_float_weights_add_up(table):
    model = binfm.train(table, np.arange(400) % 2, method="sefm", m=4, epochs=4, tilings=2, categorical=[3])
    effects, pairs = model.effects(table), model.interactions(table)
    assert effects[0].own.dtype == np.float64
    row = table[1]
    why = model.explain(row, table)
    cells = dict(zip(why.names, why.cells, strict=True))
    total = effects.mean
    for j, name in enumerate(effects.names):
        if name in cells:
            total += effects[j].effect[effects[j].cells.index(cells[name])]
    for i, left in enumerate(why.names):
        for right in why.names[:i]:
            both = pairs.cells(right, left)
            total += both.effect[both.cells[0].index(cells[right]), both.cells[1].index(cells[left])]
    np.testing.assert_allclose(total, model.score_row(row), rtol=1e-4)
    assert "x0" in str(effects)
    assert effects.to_records()


@pytest.mark.parametrize("method", FLOATS)
def test_estimators_pickles_and_partial_fit(method):
    from sklearn.base import clone

    X, y = product(1500, 0)
    estimator = binfm.BinFMClassifier(method=method, m=8, epochs=15).fit(X[:1000], y[:1000])
    assert estimator.score(X[1000:], y[1000:]) > 0.9
    restored = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(restored.decision_function(X), estimator.decision_function(X))
    online = clone(estimator)
    for _ in range(8):
        for part in range(0, 1000, 250):
            online.partial_fit(X[part : part + 250], y[part : part + 250], classes=[False, True])
    assert online.score(X[1000:], y[1000:]) > 0.9


@pytest.mark.parametrize("method", ["fm", "dfm"])
def test_binning_does_not_affect_raw_numbers(method):
    X, y = product(300, 0)
    models = {binfm.train(X, y, method=method, m=4, b=b, tilings=t).to_bytes() for b, t in [(20, 4), (9, 1)]}
    assert len(models) == 1


@pytest.mark.parametrize("method", FLOATS)
def test_sgd_learns_and_scaling_may_be_off(method):
    X, y = product(2000, 0)
    model = binfm.train(X, y, method=method, m=4, optimizer="sgd", learning_rate=0.02, epochs=30)
    assert np.mean(model.predict(X) == y) > 0.9
    if method == "dfm":
        assert binfm.train(X, y, method=method, m=4, scaling=False, epochs=1).beta == 1
        assert model.beta != 1


def test_regularization_shrinks_float_weights():
    X, y = product(500, 0)
    sizes = [np.abs(binfm.train(X, y, method="fm", m=4, lambda_v=lam).V).mean() for lam in (0, 0.3)]
    assert sizes[1] < 0.5 * sizes[0]


def test_factors_that_regularization_removes_are_zero_and_not_denormal():
    X = np.random.default_rng(0).normal(size=(2000, 2))
    y = X[:, 0] > 0  # nothing for the pairs to learn
    V = binfm.train(X, y, method="fm", m=8, lambda_v=0.1, learning_rate=0.1, epochs=60).V
    assert (V == 0).any()
    assert np.abs(V[V != 0]).min(initial=1.0) >= 1e-12


@pytest.mark.parametrize("method", FLOATS)
def test_operations_that_need_bits_or_bins_raise(method, tmp_path):
    X, y = product(300, 0)
    model = binfm.train(X, y, method=method, m=4, epochs=2)
    with pytest.raises(ValueError, match=f"model must have method 'bfm' for the C runtime, got '{method}'"):
        model.export_c(tmp_path / "model.h")
    with pytest.raises(ValueError, match="model must have method 'bfm' for the C runtime"):
        model.size_report("avr")
    with pytest.raises(ValueError, match=f"method must be 'bfm' with max_bytes, got '{method}'"):
        binfm.train(X, y, method=method, max_bytes=1000)
    if method != "sefm":
        for read in (model.effects, model.interactions):
            with pytest.raises(ValueError, match="needs a model with bins, of method 'bfm' or 'sefm'"):
                read()


@pytest.mark.parametrize("method", FLOATS)
def test_the_html_report_suits_the_method(method):
    X, y = product(300, 0)
    page = binfm.reading.html_report(binfm.train(X, y, method=method, m=4, epochs=2))
    assert "Binarized" not in page
    assert (">Effects<" in page) == (method == "sefm")


def test_diverging_weights_are_an_error():
    X = np.random.default_rng(0).normal(size=(500, 4)) * [1, 1, 1, 1]
    with pytest.raises(ValueError, match=r"training diverged: .* try a smaller learning_rate"):
        binfm.train(X, X[:, 0] * 10, method="fm", loss="squared", optimizer="sgd", learning_rate=50.0)


def test_method_names_are_checked():
    with pytest.raises(ValueError, match="method must be 'bfm', 'sefm', 'dfm' or 'fm', got 'nfm'"):
        binfm.train([[0.0], [1.0]], [0, 1], method="nfm")
