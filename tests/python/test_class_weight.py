"""`class_weight` of `binfm.train`, the estimators and the command line is one thing: a factor of sample weights."""

import binfm
import numpy as np
import polars
import pytest
from binfm import BinFMClassifier
from binfm.cli import main
from sklearn.utils import compute_sample_weight

QUICK = {"m": 2, "epochs": 3, "regularization": 0, "early_stopping": False}
rng = np.random.default_rng(0)
X = rng.normal(size=(600, 2))
Y = np.where(X[:, 0] + 0.5 * rng.normal(size=600) > 1.4, "rare", "usual")
WEIGHT = rng.random(600)


@pytest.mark.parametrize("given", ["balanced", {"rare": 5.0}, {"rare": 2, "usual": 0.5}])
def test_it_multiplies_sample_weights(given):
    by_class = compute_sample_weight(given, Y)
    assert binfm.train(X, Y, class_weight=given, **QUICK) == binfm.train(X, Y, sample_weight=by_class, **QUICK)
    both = binfm.train(X, Y, class_weight=given, sample_weight=WEIGHT, **QUICK)
    assert both == binfm.train(X, Y, sample_weight=by_class * WEIGHT, **QUICK)
    assert both == BinFMClassifier(class_weight=given, **QUICK).fit(X, Y, WEIGHT).model_


def test_balance_finds_the_rare_class():
    found = [
        np.mean(binfm.train(X, Y, class_weight=given, **QUICK).predict(X) == "rare") for given in (None, "balanced")
    ]
    assert found[1] > 2 * found[0]


def test_the_card_says_so():
    assert binfm.train(X, Y, class_weight={"rare": 5.0}, **QUICK).card["settings"]["class_weight"] == {"rare": 5.0}


def test_wrong_weights_are_refused():
    with pytest.raises(TypeError, match=r"^class_weight must be None, 'balanced' or a dict .*, got 'even'$"):
        binfm.train(X, Y, class_weight="even", **QUICK)
    with pytest.raises(ValueError, match=r"^class_weight must only have labels of y, got 'rar'$"):
        binfm.train(X, Y, class_weight={"rar": 2}, **QUICK)
    with pytest.raises(ValueError, match=r"^class_weight must have finite weights of at least 0"):
        binfm.train(X, Y, class_weight={"rare": -1}, **QUICK)
    with pytest.raises(ValueError, match=r"^class_weight must be None for regression, got 'balanced'$"):
        binfm.train(X, X[:, 0], class_weight="balanced", loss="squared", **QUICK)


def test_command_line(tmp_path, capsys):
    data, path = str(tmp_path / "data.csv"), str(tmp_path / "model.binfm")
    polars.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": np.where(Y == "rare", 1, 0)}).write_csv(data)
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in QUICK.items() if name != "early_stopping"]
    common = ["train", data, "-o", path, "--target", "y", "--early-stopping=no", *flags]
    for text, given in (("balanced", "balanced"), ("1=5", {1: 5.0}), ("0=0.5,1=2", {0: 0.5, 1: 2.0})):
        assert main([*common, "--class-weight", text]) == 0
        table = polars.read_csv(data)
        assert binfm.load(path) == binfm.train(table[["a", "b"]], table["y"], class_weight=given, **QUICK)
    assert main([*common, "--class-weight", "1:5"]) == 1
    assert "--class-weight must be balanced or have the form LABEL=WEIGHT" in capsys.readouterr().err
