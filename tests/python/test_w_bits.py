"""w as a small number, and models without factors."""

import binfm
import numpy as np
import oracle
import pytest
from scipy import sparse
from test_damage import signed


@pytest.fixture(scope="module")
def additive():
    """Samples whose class depends on a sum of functions of single features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    curve = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + np.abs(X[:, 2])
    return X, curve > np.median(curve)


def accuracy(model, X, y):
    return np.mean(model.predict(X) == y)


@pytest.mark.parametrize("w_bits", range(1, 9))
def test_w_is_an_odd_number_of_so_many_bits(additive, w_bits):
    model = binfm.train(*additive, w_bits=w_bits, m=3, epochs=3)
    most = 2**w_bits - 1
    assert model.w_bits == w_bits
    assert np.abs(model.w).max() == most, "the largest w uses all bits"
    assert np.all(model.w % 2 == 1)
    assert (f"w_bits={w_bits}" in repr(model)) == (w_bits > 1)


def test_each_bit_of_w_takes_a_bit_of_the_file(additive):
    sizes = [binfm.train(*additive, w_bits=bits, m=0, epochs=1, regularization=0).size_report() for bits in range(1, 9)]
    rows = len(binfm.train(*additive, epochs=1, regularization=0).w)
    assert [size["bits"] for size in sizes] == [-(-rows * bits // 8) for bits in range(1, 9)]
    assert len({size["header"] + size["scales"] + size["features"] for size in sizes}) == 1


def test_numbers_fit_a_sum_of_curves_better_than_signs(additive):
    X, y = additive
    signs, numbers = (accuracy(binfm.train(X, y, w_bits=bits, m=0), X, y) for bits in (1, 8))
    assert numbers > signs + 0.03
    assert numbers > 0.92


def test_eight_bits_are_close_to_floats(additive):
    """sefm without factors is the same model before rounding."""
    X, y = additive
    exact = binfm.train(X, y, method="sefm", m=0).decision_function(X)
    rounded = binfm.train(X, y, w_bits=8, m=0, regularization=0).decision_function(X)
    assert np.abs(exact - rounded).max() < 0.02 * exact.std()


def test_every_unit_is_that_of_its_class(additive):
    """With several classes the multipliers have four bits; w makes up for it."""
    X, _ = additive
    y = np.digitize(X[:, 0], [-1, 0, 1])
    exact = binfm.train(X, y, method="sefm", m=0).decision_function(X)
    rounded = binfm.train(X, y, w_bits=8, m=0, regularization=0).decision_function(X)
    assert np.corrcoef(exact.ravel(), rounded.ravel())[0, 1] > 0.999


def test_without_factors_there_are_no_interactions(additive):
    X, y = additive
    model = binfm.train(X, y, m=0, w_bits=4)
    assert model.V.shape == (len(model.w), 0)
    assert not model.terms(X)[1].any()
    assert not model.interactions().strength.any()
    model = binfm.train(X, np.digitize(X[:, 0], [-1, 1]), m=0)
    assert model.V.shape == (3, model.w.shape[1], 0)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "softmax", "squared"])
def test_any_loss_is_trained(additive, loss):
    X, _ = additive
    y = X[:, 0] * 100 + 5000 if loss == "squared" else np.digitize(X[:, 0], [-1, 1])
    model = binfm.train(X, y, loss=loss, w_bits=6, m=2)
    if loss == "squared":
        assert np.mean((model.predict(X) - y) ** 2) < 0.1 * np.var(y)
    else:
        assert accuracy(model, X, y) > 0.9


@pytest.mark.parametrize(
    "parameters",
    [{"polish": 2}, {"ensemble": 2}, {"dropout": 0.3}, {"polish": 1, "ensemble": 3, "dropout": 0.2}, {"shards": 3}],
    ids=str,
)
def test_w_bits_go_with_other_parameters(additive, parameters):
    X, y = additive
    model = binfm.train(X, y, w_bits=6, m=6, **parameters)
    assert accuracy(model, X, y) > 0.92
    assert model == binfm.train(X, y, w_bits=6, m=6, n_jobs=1, **parameters)


def test_an_additive_model_is_polished(additive):
    X, y = additive
    plain, polished = (binfm.train(X, y, m=0, epochs=2, polish=passes, regularization=0) for passes in (0, 3))
    assert accuracy(polished, X, y) >= accuracy(plain, X, y)


def test_regularization_shrinks_numbers(additive):
    """As it does for float w."""
    scales = [binfm.train(*additive, w_bits=8, m=0, lambda_w=strength, regularization=0).alpha for strength in (0, 0.3)]
    assert scales[1] < 0.8 * scales[0]


@pytest.mark.parametrize("method", ["sefm", "dfm", "fm"])
def test_other_methods_have_no_factors_either(additive, method):
    X, y = additive
    model = binfm.train(X, y, method=method, m=0)
    assert (model.w_bits, model.V.shape) == (32, (len(model.w), 0))
    assert binfm.Model.from_bytes(model.to_bytes()) == model
    linear, pairs = model.terms(X)
    assert not pairs.any()
    np.testing.assert_allclose(model.decision_function(X), model.bias + linear)
    np.testing.assert_allclose(model.decision_function(sparse.csr_array(X)), model.decision_function(X))


def test_cells_with_the_same_numbers_are_merged():
    X = np.repeat(np.arange(12.0), 50)[:, None]
    for w_bits in (1, 2, 8):
        w = binfm.train(X, X[:, 0] >= 6, m=0, w_bits=w_bits, b=20, tilings=1).w
        assert len(w) <= 12
        assert np.all(np.diff(w) != 0)


def test_a_size_limit_holds_with_numbers_and_without_factors(additive):
    X, y = additive
    for given in ({"w_bits": 4}, {"w_bits": 4, "m": 0}, {"m": 0}):
        model = binfm.train(X[:400], y[:400], max_bytes=200, seed=1, **given)
        assert model.nbytes <= 200
        assert model.w_bits == given.get("w_bits", 1)
        assert model.m == given.get("m", model.m)
    with pytest.raises(ValueError, match=r"max_bytes must be at least \d+"):
        binfm.train(X[:400], y[:400], max_bytes=40, m=0, w_bits=8)


def test_training_resumes_from_numbers_that_were_not_rounded(additive):
    X, y = additive
    estimator = binfm.BinFMClassifier(w_bits=2, m=2, tilings=2)
    for _ in range(8):
        estimator.partial_fit(X, y, classes=[False, True])
    assert set(np.abs(estimator.model_.w)) == {1, 3}
    assert accuracy(estimator, X, y) > 0.8


def test_the_largest_numbers_add_up():
    """255 tilings of rows with w = ±255: the sums of a start take 16 bits."""
    X = np.random.default_rng(0).normal(size=(300, 3))
    model = binfm.train(X, np.arange(300) % 2, m=0, w_bits=8, b=300, tilings=255, epochs=1)
    body, bits = bytearray(model.to_bytes()[:-4]), model.size_report()["bits"]
    body[-bits:] = b"\xff" * bits
    model = binfm.Model.from_bytes(signed(body))
    assert np.all(model.w == 255)
    assert set(model.terms(X)[0].tolist()) == {3 * 255 * 255}
    np.testing.assert_array_equal(model.terms(X)[0], oracle.terms(model, X)[0][:, 0])
