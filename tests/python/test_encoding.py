"""From a table to active rows: how many rows and edges, where the edges are, and which values are absent."""

import binfm
import numpy as np
import oracle
import pytest
from binfm import Feature, _core
from binfm.params import Params
from binfm.training import read_data
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse


def encode(X, **parameters):
    """Return a model whose weights do not matter."""
    X = X if sparse.issparse(X) else np.asarray(X)
    X = X.reshape(-1, 1) if X.ndim == 1 else X
    y = np.arange(X.shape[0]) % 2
    return binfm.train(X, y, m=2, **{"epochs": 1, "early_stopping": False, **parameters})


def untrained(X, y, sample_weight=None, **parameters):
    """Return the features before training, which merges cells that it does not distinguish."""
    params = Params.of(parameters)
    dataset, _ = read_data(X, y, sample_weight, None, params)
    encoder = _core.Encoder(dataset, params.resolve(len(dataset), False).core(), (), None)
    return tuple(Feature(**encoder.feature(j)) for j in range(dataset.columns))


def features(x, **parameters):
    """Return the features of a single column before training."""
    x = np.asarray(x)
    return untrained(x.reshape(-1, 1), np.arange(len(x)) % 2, **parameters)


def cell_counts(feature, x):
    """Return the number of values in each cell."""
    cells = [oracle.cell(feature, value) for value in x]
    return np.bincount(cells, minlength=feature.cells)


def as_dicts(features):
    return [{**vars(f), "edges": f.edges.tolist()} for f in features]


# How many rows and edges


@given(st.integers(1, 9), st.integers(1, 60), st.sampled_from(["quantile", "uniform"]))
def test_b_rows_and_b_minus_tilings_edges(tilings, more, binning):
    b = tilings + more
    x = np.random.default_rng(b).uniform(-3, 3, 3000)
    (feature,) = features(x, b=b, tilings=tilings, binning=binning)
    assert (feature.kind, feature.missing_row) == ("numeric", None)
    assert len(feature.edges) == b - tilings
    assert feature.cells == b - tilings + 1
    if feature.cells * tilings > b:  # otherwise there are few cells, with T rows each
        assert (feature.rows, feature.stride) == (range(b), 1)
    assert np.all(np.diff(feature.edges) > 0)
    assert feature.edges.dtype == np.float32


def test_the_paper_uses_one_tiling():
    (feature,) = features(np.random.default_rng(0).normal(size=1000), b=20, tilings=1)
    assert (len(feature.rows), len(feature.edges), feature.cells) == (20, 19, 20)


@pytest.mark.parametrize("distinct", range(2, 30))
@pytest.mark.parametrize("tilings", [1, 2, 4])
def test_few_values_get_a_cell_each(distinct, tilings):
    values = np.cumsum(np.random.default_rng(distinct).uniform(0.5, 2, distinct)).astype(np.float32)
    x = np.repeat(values, 1 + np.arange(distinct) ** 2 % 7)
    (feature,) = features(x, b=20, tilings=tilings)
    assert feature.cells == min(distinct, 20 - tilings + 1)
    if distinct <= feature.cells:
        assert [oracle.cell(feature, v) for v in values] == list(range(distinct))
    copies = feature.cells * tilings <= 20
    assert feature.stride == (tilings if copies else 1)
    assert len(feature.rows) == (feature.cells * tilings if copies else feature.cells + tilings - 1)


def test_every_present_feature_activates_exactly_tilings_rows(models):
    for model, X in models.values():
        table = X.toarray() if sparse.issparse(X) else X
        size, taken = np.atleast_2d(model.w).shape[1], []
        for feature in model.features:
            taken += feature.rows if feature.missing_row is None or feature.missing_row in feature.rows else [
                *feature.rows, *range(feature.missing_row, feature.missing_row + model.tilings)
            ]  # fmt: skip
        assert sorted(taken) == list(range(size)), "each parameter row belongs to one feature"
        for values in table:
            active = oracle.active_rows(model, values)
            assert len(set(active)) == len(active), "no row is active twice"
            assert set(active) <= set(range(size))
            absent = sum(1 for v in values if v == 0) if sparse.issparse(X) else 0
            unknown = sum(1 for f, v in zip(model.features, values, strict=True) if v != v and f.missing_row is None)
            assert len(active) == model.tilings * (len(values) - absent - unknown)


@given(st.integers(1, 6), st.integers(6, 30), st.integers(1, 40), st.integers(0, 99))
def test_consecutive_rows_are_the_shifted_tilings(tilings, b, m, seed):
    """A value in cell c activates bin (c + t) div T of tiling t, for t = 0…T−1: one parameter row each."""
    x = np.random.default_rng(seed).normal(size=(400, 1))
    model = binfm.train(x, x[:, 0] > 0, m=m, b=max(b, 2 * tilings), tilings=tilings, epochs=1, seed=seed)
    (feature,) = model.features
    if feature.stride != 1:
        return
    L, Q = model.terms(x)
    for value, linear, pairs in zip(x[:, 0], L.ravel(), Q.ravel(), strict=True):
        c = oracle.cell(feature, value)
        bins = [((c + t) // tilings, t) for t in range(tilings)]
        rows = [k * tilings - t + tilings - 1 for k, t in bins]
        assert linear == model.w[rows].sum()
        assert pairs == sum(int(model.V[r] @ model.V[s]) for r in rows for s in rows if r < s)


# Where the edges are


@pytest.mark.parametrize("tilings", [1, 4])
@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.normal(size=5000),
        lambda rng: rng.lognormal(sigma=3, size=5000),
        lambda rng: rng.uniform(1000, 1001, 5000),
        lambda rng: rng.uniform(-16777216, -16770000, 5000),
        lambda rng: rng.normal(size=5000) * 1e-40,
        lambda rng: rng.standard_cauchy(5000) * 1e30,
        lambda rng: rng.integers(0, 5000, 5000),
    ],
    ids=["normal", "lognormal", "offset", "negative", "denormal", "cauchy", "whole"],
)
def test_shortened_edges_keep_the_shares_within_a_quarter(draw, tilings):
    x = draw(np.random.default_rng(0)).astype(np.float32)
    (feature,) = features(x, b=20, tilings=tilings)
    equal = len(x) / feature.cells
    ties = np.unique(x, return_counts=True)[1].max()
    assert np.all(np.abs(cell_counts(feature, x) - equal) <= equal / 4 + ties)


@pytest.mark.parametrize("spread", [np.array, np.exp], ids=["normal", "lognormal"])
def test_a_byte_is_enough_for_most_edges(spread):
    x = spread(np.random.default_rng(0).normal(size=(5000, 10)))
    model = encode(x, b=20, tilings=4)
    assert model.size_report()["features"] <= 10 * (16 + 2)


@pytest.mark.parametrize("zeros", [0.3, 0.6, 0.95])
def test_a_spike_takes_one_cell_and_the_rest_is_split_evenly(zeros):
    rng = np.random.default_rng(4)
    x = np.where(rng.random(8000) < zeros, 0.0, rng.lognormal(size=8000))
    (feature,) = encode(x, b=20, tilings=4).features
    counts = cell_counts(feature, x)
    equal = np.count_nonzero(x) / (feature.cells - 1)
    assert feature.cells == 17
    assert counts[0] == np.count_nonzero(x == 0)
    assert np.all(np.abs(counts[1:] - equal) <= equal / 4 + 1)


def test_a_spike_in_the_middle_has_its_own_cell():
    rng = np.random.default_rng(4)
    x = np.where(rng.random(8000) < 0.5, 3.0, rng.normal(size=8000) + 3)
    (feature,) = encode(x, b=20, tilings=4).features
    counts = cell_counts(feature, x)
    spike = oracle.cell(feature, 3.0)
    assert counts[spike] == np.count_nonzero(x == 3)
    others = np.delete(counts, spike)
    assert others.min() > 0.6 * others.mean()
    assert others.max() < 1.5 * others.mean()


def test_spikes_are_found_one_after_another():
    """The second spike is large only once the first has its own cell."""
    x = np.concatenate([np.zeros(9000), np.ones(120), 2 + np.random.default_rng(0).random(880)])
    (feature,) = encode(x, b=13, tilings=4).features
    counts = cell_counts(feature, x)
    assert counts[:2].tolist() == [9000, 120]
    assert np.all(np.abs(counts[2:] - 110) <= 110 / 4 + 1)


def test_uniform_bins_have_equal_width():
    x = np.random.default_rng(0).uniform(-5, 11, 20000)
    (feature,) = encode(x, binning="uniform", b=12, tilings=4).features
    width = (x.max() - x.min()) / feature.cells
    expected = np.linspace(x.min(), x.max(), feature.cells + 1)[1:-1]
    assert np.max(np.abs(feature.edges - expected)) < width / 4


def test_uniform_bins_ignore_the_density():
    x = np.concatenate([np.random.default_rng(0).uniform(0, 0.01, 5000), np.linspace(0, 1, 101)])
    (feature,) = features(x, binning="uniform", b=8, tilings=1)
    assert len(feature.edges) == 7
    assert np.max(np.abs(feature.edges - np.arange(1, 8) / 8)) < 0.05


# Special values


def test_nan_has_its_own_cell_only_if_training_had_it():
    x = np.random.default_rng(0).normal(size=(200, 2))
    x[::5, 0] = np.nan
    model = encode(x, tilings=3)
    seen, unseen = model.features
    missing = range(seen.missing_row, seen.missing_row + 3)
    others = {r for v in x[:, 0] if v == v for r in oracle.active_rows(model, [v, np.nan])}
    assert not others & set(missing)
    assert unseen.missing_row is None
    L, Q = model.terms([[np.nan, np.nan]])
    assert L.ravel() == model.w[missing].sum()
    signs = model.V[missing].astype(int)
    assert Q.ravel() == sum(signs[r] @ signs[s] for r in range(3) for s in range(r))


def test_infinities_are_ordinary_values():
    x = np.concatenate([np.random.default_rng(0).normal(size=500), [-np.inf] * 100, [np.inf] * 100])
    for binning in ("quantile", "uniform"):
        (feature,) = encode(x, binning=binning).features
        assert oracle.cell(feature, -np.inf) == 0
        assert oracle.cell(feature, np.inf) == feature.cells - 1
        assert not np.isnan(feature.edges).any()
        assert np.all(feature.edges[1:] > feature.edges[:-1])
    (feature,) = encode(x).features
    assert cell_counts(feature, x)[[0, -1]].tolist() == [100, 100], "each is a spike"
    (feature,) = encode([-np.inf, np.inf] * 9).features
    assert feature.cells == 2


def test_negative_zero_is_zero():
    (feature,) = encode(np.array([-0.0, 0.0, 1.0, -1.0] * 9)).features
    assert feature.cells == 3
    model = encode(np.array([0.0, -1.0] * 9), epochs=5)
    zero, negative_zero, minus_one = model.decision_function([[0.0], [-0.0], [-1.0]])
    assert zero == negative_zero != minus_one
    assert encode(np.array([-0.0, 0.0] * 9)).features[0].kind == "unused"


def test_denormals_are_distinguished():
    x = np.array([1e-45, 3e-45, -1e-45, 0.0], np.float32)
    (feature,) = encode(np.tile(x, 9)).features
    assert [oracle.cell(feature, v) for v in x] == [2, 3, 0, 1]
    (feature,) = encode(np.tile([1e-320, 1.0, 0.0], 9)).features
    assert feature.cells == 2, "1e-320 is 0 as a float32"


def test_float64_is_rounded_to_float32_in_training_and_prediction_alike():
    x = 1 + np.random.default_rng(0).random((3000, 1)) * 1e-5
    model = encode(x)
    assert model == encode(x.astype(np.float32))
    assert model.decision_function(x).tobytes() == model.decision_function(x.astype(np.float32)).tobytes()


@pytest.mark.parametrize("value", [0.0, 7.0, -np.inf, np.nan])
def test_a_constant_column_is_unused(value):
    x = np.random.default_rng(0).normal(size=(50, 2))
    x[:, 1] = value
    model = encode(x)
    used, unused = model.features
    assert (unused.kind, len(unused.rows), len(unused.edges), unused.missing_row) == ("unused", 0, 0, None)
    assert model.decision_function([[1.0, value]]) == model.decision_function([[1.0, 3.0]])
    assert model.w.shape == (len(used.rows),)


def test_one_value_and_nan_make_a_feature():
    x = np.where(np.arange(60) % 3, 5.0, np.nan)
    (feature,) = encode(x, tilings=2).features
    assert (feature.kind, feature.cells) == ("numeric", 1)
    model = encode(x, tilings=2)
    assert len(model.w) == 4
    assert oracle.active_rows(model, [5.0]) != oracle.active_rows(model, [np.nan])


# Edges where the target changes


def test_supervised_edges_lie_where_the_target_changes():
    x = np.random.default_rng(0).uniform(size=(4000, 1))
    y = (x[:, 0] > 1 / 6) & (x[:, 0] < 1 / 3)
    (feature,) = binfm.train(x, y, m=1, b=3, tilings=1, binning="supervised", epochs=1).features
    assert np.max(np.abs(feature.edges - [1 / 6, 1 / 3])) < 0.05, (
        "of the edges at sixths, the two nearest to the changes"
    )
    (plain,) = binfm.train(x, y, m=1, b=3, tilings=1, epochs=1).features
    assert np.max(np.abs(plain.edges - [1 / 3, 2 / 3])) < 0.05


def test_supervised_binning_into_very_many_cells_uses_quantiles():
    x = np.random.default_rng(0).normal(size=(6000, 1))
    models = [
        binfm.train(x, x[:, 0] > 0, m=1, b=2000, binning=binning, epochs=1, regularization=0)
        for binning in ("quantile", "supervised")
    ]
    assert models[0] == models[1]
