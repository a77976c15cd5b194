"""A model is its bytes: they survive a file, a pickle or a copy unchanged."""

import copy
import pickle

import binfm
import numpy as np
import polars as pl
import pytest
from oracle import header

KINDS = [
    "binary", "text labels", "text categories", "names", "sparse", "regression", "four bits", "additive", "sefm", "dfm",
    "fm",
]  # fmt: skip


@pytest.fixture(params=KINDS)
def saved(request, models):
    return models[request.param]


def assert_same_model(restored, model, X):
    assert restored == model
    assert restored.to_bytes() == model.to_bytes()
    assert restored.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    np.testing.assert_array_equal(restored.predict(X), model.predict(X))
    assert (restored.classes is None) == (model.classes is None)
    if model.classes is not None:
        assert restored.classes.dtype == model.classes.dtype
        np.testing.assert_array_equal(restored.classes, model.classes)
    assert restored.feature_names == model.feature_names
    assert (restored.m, restored.tilings, restored.loss, restored.nbytes) == (
        model.m,
        model.tilings,
        model.loss,
        model.nbytes,
    )
    np.testing.assert_array_equal(restored.w, model.w)
    np.testing.assert_array_equal(restored.V, model.V)
    assert [str(f) for f in restored.features] == [str(f) for f in model.features]


@pytest.mark.parametrize("as_path", [str, lambda path: path, lambda path: bytes(path)], ids=["str", "Path", "bytes"])
def test_a_saved_model_loads_unchanged(saved, tmp_path, as_path):
    model, X = saved
    path = tmp_path / "größe 1.binfm"
    model.save(as_path(path))
    assert path.read_bytes() == model.to_bytes()
    assert_same_model(binfm.load(as_path(path)), model, X)
    first = path.read_bytes()
    binfm.load(path).save(path)
    assert path.read_bytes() == first
    assert [p.name for p in tmp_path.iterdir()] == [path.name], "nothing else is left in the directory"


def test_a_saved_file_has_the_usual_permissions(binary, tmp_path):
    binary.save(tmp_path / "m.binfm")
    (tmp_path / "plain").write_bytes(b"")
    assert (tmp_path / "m.binfm").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_carries_the_same_bytes(saved, protocol):
    model, X = saved
    blob = pickle.dumps(model, protocol)
    restored = pickle.loads(blob)
    assert_same_model(restored, model, X)
    assert (restored.history, restored.best_epoch) == (model.history, model.best_epoch)
    if protocol >= 3:
        assert model.to_bytes() in blob


def test_a_damaged_pickle_is_rejected(binary):
    blob = bytearray(pickle.dumps(binary, 4))
    at = bytes(blob).index(binary.to_bytes()) + binary.nbytes // 2
    blob[at] ^= 1
    with pytest.raises(binfm.ModelFormatError):
        pickle.loads(blob)


def test_copies_equal_the_model(saved):
    model, X = saved
    assert_same_model(copy.copy(model), model, X)
    assert_same_model(copy.deepcopy(model), model, X)
    assert copy.deepcopy([model])[0].history == model.history
    assert len({model, copy.copy(model)}) == 1


def test_from_bytes_takes_any_buffer(binary):
    blob = binary.to_bytes()
    for buffer in (bytearray(blob), memoryview(blob), np.frombuffer(blob, np.uint8)):
        assert binfm.Model.from_bytes(buffer) == binary
    with pytest.raises(TypeError, match="blob must be bytes, got str"):
        binfm.Model.from_bytes("text")


def test_a_loaded_model_has_no_history(binary):
    restored = binfm.Model.from_bytes(binary.to_bytes())
    assert (restored.history, restored.best_epoch) == ([], None)


@pytest.mark.parametrize(
    "labels",
    [
        [True, False],
        [-(2**63), 2**63 - 1],
        [0.5, -1e300, 3.0],
        ["", "b"],
        ["b" * 5000, "日本", "é"],
        [3, 1, 2],
        [1.0, 2.0],
    ],
    ids=["bool", "int", "float", "empty", "text", "three", "whole floats"],
)
def test_labels_of_every_kind_are_restored(labels):
    y = np.array(labels)[np.arange(60) % len(labels)]
    model = binfm.train(np.arange(60.0).reshape(-1, 1), y, epochs=1, m=2)
    np.testing.assert_array_equal(model.classes, np.unique(y))
    assert model.classes.dtype.kind == y.dtype.kind
    assert_same_model(binfm.Model.from_bytes(model.to_bytes()), model, [[1.0], [55.5]])


# Size


def test_the_size_report_adds_up(saved, tmp_path):
    model, _ = saved
    model.save(tmp_path / "m")
    report = model.size_report()
    assert sum(report.values()) == model.nbytes == (tmp_path / "m").stat().st_size == len(model.to_bytes())
    assert all(isinstance(size, int) and size >= 0 for size in report.values())
    outputs, rows = np.atleast_2d(model.w).shape
    weights = rows * outputs
    sizes = {"sefm": 4 * weights * (model.m + 1), "fm": 4 * weights * (model.m + 1)}
    sizes["dfm"] = 4 * weights - (-weights * model.m // 8)
    if model.method == "bfm":
        assert report["bits"] == -(-weights * (model.w_bits + model.m) // 8)
    else:
        assert report["weights"] == sizes[model.method]
    assert header(model.to_bytes())[0]["length"] == model.nbytes


def test_the_default_layout_takes_as_much_memory_as_in_the_paper():
    """d·b·(m+1) bits of weights, whatever the number of tilings."""
    X = np.random.default_rng(0).normal(size=(2000, 6))
    for tilings in (1, 2, 4, 7):
        model = binfm.train(X, X[:, 0] > 0, m=32, b=20, tilings=tilings, epochs=1, regularization=0)
        most = 6 * 20 * 33 // 8  # with one tiling, cells with the same signs are merged
        assert 0.9 * most < model.size_report()["bits"] <= most if tilings == 1 else model.size_report()["bits"] == most
        assert model.nbytes < 6 * 20 * 33 // 8 + 6 * 19 * 2 + 80


# A model never changes


def test_attributes_cannot_be_set(binary):
    for name in ("m", "w", "best_epoch", "_core", "anything"):
        with pytest.raises(AttributeError, match=name):
            setattr(binary, name, 1)
        with pytest.raises(AttributeError, match=name):
            delattr(binary, name)
    with pytest.raises(TypeError, match=r"binfm\.train"):
        binfm.Model()


def test_changing_returned_arrays_does_not_change_the_model(models):
    model, X = models["text labels"]
    before, blob = model.decision_function(X), model.to_bytes()
    for array in (
        model.w,
        model.V,
        model.classes,
        model.alpha,
        model.bias,
        *model.edges,
        model.features[0].edges,
    ):
        try:
            array[...] = array[::-1].copy()
        except ValueError:
            assert not array.flags.writeable
    model.history.append({})
    model.history[0].clear()
    assert model.history[0]["epoch"] == 1
    assert model.to_bytes() == blob
    assert model.decision_function(X).tobytes() == before.tobytes()


def test_training_neither_changes_its_input_nor_keeps_a_view_of_it():
    X = np.random.default_rng(0).normal(size=(80, 2)).astype(np.float32)
    y = np.array(["a", "b"])[np.arange(80) % 2]
    x_before, y_before = X.copy(), y.copy()
    model = binfm.train(X, y, epochs=2)
    expected = model.decision_function(x_before)
    np.testing.assert_array_equal(X, x_before)
    np.testing.assert_array_equal(y, y_before)
    X[:], y[:] = 0, "z"
    assert model.decision_function(x_before).tobytes() == expected.tobytes()
    assert model.classes.tolist() == ["a", "b"]


def test_repr_shows_the_size(models):
    model, _ = models["text labels"]
    assert (
        repr(model) == f"<binfm.Model: 4 classes, 5 features, m={model.m}, w_bits=8, tilings=2, {model.nbytes} bytes>"
    )
    assert "regression" in repr(models["regression"][0])


def test_names_can_be_omitted(models, tmp_path):
    model, X = models["names"]
    path = tmp_path / "m.binfm"
    model.save(path, names=False)
    assert path.read_bytes() == model.to_bytes(names=False)
    plain = binfm.load(path)
    assert plain.feature_names is None
    assert plain != model
    np.testing.assert_array_equal(plain.decision_function(X), model.decision_function(X))
    name_bytes = sum(1 + len(name.encode()) for name in model.feature_names)
    assert model.size_report()["names"] == name_bytes == model.nbytes - plain.nbytes
    assert "names" not in plain.size_report()


def test_labels_can_be_omitted(models, tmp_path):
    path = tmp_path / "m.binfm"
    for kind in ("binary", "text labels", "text categories", "names", "regression", "fm"):
        model, X = models[kind]
        model.save(path, labels=False)
        assert path.read_bytes() == model.to_bytes(labels=False)
        plain = binfm.load(path)
        np.testing.assert_array_equal(plain.decision_function(X), model.decision_function(X))
        assert model.nbytes - plain.nbytes == model.size_report().get("labels", 0)
        if model.classes is None:
            assert plain == model
        else:
            assert plain.classes.tolist() == list(range(len(model.classes)))
            assert (model.classes[plain.predict(X)] == model.predict(X)).all()
    assert len(models["text labels"][0].to_bytes(labels=False)) < models["text labels"][0].nbytes


def test_names_count_towards_the_size_limit():
    table = pl.DataFrame(np.random.default_rng(0).normal(size=(200, 2)), schema=["a" * 50, "b" * 50])
    y = np.arange(200) % 2
    model = binfm.train(table, y, max_bytes=200, epochs=2)
    assert model.nbytes <= 200
    assert len(model.feature_names) == 2
    with pytest.raises(ValueError, match=r"max_bytes must be .* got 120"):
        binfm.train(table, y, max_bytes=120, epochs=2)
