"""docs/file-format.md is complete: a reader written from it alone agrees with the library on every field."""

import binfm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reader import File

KINDS = [
    "binary", "text labels", "text categories", "names", "sparse", "regression", "four bits", "additive", "sefm", "dfm",
    "fm",
]  # fmt: skip


def assert_agrees(model):
    file = File(model.to_bytes())
    assert (file.version, file.m, file.tilings, file.loss) == (1, model.m, model.tilings, model.loss)
    assert file.method == model.method
    assert file.w_bits == (model.w_bits if file.method == "bfm" else 1)
    assert len(file.columns) == model.n_features
    for column, feature in zip(file.columns, model.features, strict=True):
        assert column.kind == feature.kind
        assert column.rows(file.tilings) == len(feature.rows)
        assert column.missing == (feature.missing_row is not None)
        np.testing.assert_array_equal(np.array(column.edges, np.float32), feature.edges)
        assert tuple(column.categories) == tuple(feature.categories)
        assert column.units == (feature.center, feature.scale)
    weights = np.array(file.weights).reshape(file.rows, file.outputs, file.m + 1)
    np.testing.assert_array_equal(weights[:, :, 0].T, np.atleast_2d(model.w))
    V = model.V[None] if model.V.ndim == 2 else model.V
    np.testing.assert_array_equal(weights[:, :, 1:].transpose(1, 0, 2), V)
    assert_scales_agree(file, np.atleast_1d(model.alpha), np.atleast_1d(model.beta), np.atleast_1d(model.bias))
    if file.labels is not None:
        assert list(model.classes) == file.labels
    elif model.classes is not None:
        assert list(model.classes) == list(range(len(model.classes)))
    assert file.names == (None if model.feature_names is None else list(model.feature_names))


def assert_scales_agree(file, alpha, beta, bias):
    unit = 2.0**-file.exponent
    for k, scales in enumerate(file.scales):
        if file.method == "bfm":
            assert alpha[k] == scales[1] * 2.0 ** file.shifts[0] * unit
            assert beta[k] == np.sqrt(scales[2] * 2.0 ** file.shifts[1] * unit)
            assert bias[k] == scales[0] * 2.0 ** file.shifts[2] * unit
        else:
            assert (bias[k], alpha[k], beta[k]) == (scales[0], 1, scales[1] if file.method == "dfm" else 1)
            assert (file.shifts, file.exponent) == ((0, 0, 0), 0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_reader_written_from_the_page_agrees(models, kind):
    assert_agrees(models[kind][0])


@given(
    scale=st.sampled_from([1e-40, 1e-3, 1.0, 300.0, 1e30]),
    shift=st.sampled_from([0.0, 1.0, -2.5, 1e4]),
    spread=st.sampled_from(["normal", "lognormal", "whole"]),
    b=st.integers(2, 40),
    data=st.data(),
)
@settings(max_examples=60, deadline=None)
def test_it_agrees_whatever_the_edges(scale, shift, spread, b, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    draw = {"normal": rng.normal, "lognormal": lambda size: rng.lognormal(sigma=2, size=size)}
    X = draw[spread](size=(200, 4)) if spread != "whole" else rng.integers(0, 50, (200, 4)).astype(float)
    X = np.clip(X * scale + shift, -3e38, 3e38)
    X[:, data.draw(st.integers(0, 3))] = 7  # constant: unused
    tilings = data.draw(st.integers(1, min(4, b - 1)))
    assert_agrees(binfm.train(X, rng.integers(0, 3, 200), m=2, b=b, tilings=tilings, epochs=1))
