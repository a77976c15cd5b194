"""The data, the summary and the page of `make -C benches defaults`. Its measurements are not repeated here."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHES = Path(__file__).parents[2] / "benches"
MODULES = ("defaults", "datasets", "engine", "paper", "pages", "pareto")


@pytest.fixture(autouse=True)
def _benches(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHES))
    yield
    for name in [name for name in sys.modules if name.split(".")[0] in MODULES]:
        del sys.modules[name]


def _import(name):
    return importlib.import_module(f"defaults.{name}")


def _record(**figures):
    made = {"version": "1", "date": "2026-01-01", "cpu": "any"}
    return {"seconds": 2.0, "bytes": 100, "samples": 70, "features": 2, **figures, **made}


@pytest.fixture
def summary():
    accuracy = {"binfm": (90, 91), "lightgbm": (92, 91), "linear": (80, 84)}
    records = {
        f"banana/{seed}/{name}": _record(accuracy=value, log_loss=0.3, calibration=0.02)
        for name, values in accuracy.items()
        for seed, value in enumerate(values)
    }
    records["diabetes/0/binfm"], records["diabetes/0/lightgbm"] = _record(r2=0.5), _record(r2=0.4)
    records["diabetes/0/linear"] = {"failed": "ValueError: no"}
    return _import("summary").Summary(records, ["banana", "diabetes"], ["adult"], 2, 70)


def test_systems_are_compared_on_the_same_splits(summary):
    assert summary.mean("banana", "binfm", "accuracy").mean == 90.5
    assert summary.difference("banana", "binfm", "lightgbm", "accuracy") == -1
    assert summary.compare(["banana"], "linear", "lightgbm", "accuracy").worst == -9.5
    assert summary.mean("diabetes", "linear", "r2") is None


def test_the_page_lists_results_missing_data_and_failures(summary):
    text = _import("page").page(summary)
    assert "| banana | 70 | 2 | 90.50 ± 0.71 | **91.50 ± 0.71** | 82.00 ± 2.83 |" in text
    assert "| diabetes | 70 | 2 | **0.5000** | 0.4000 | – |" in text
    assert "| R², mean of 0 | – | – | – |" in text  # linear failed on the only one
    assert "missing: adult." in text
    assert "* linear on diabetes: ValueError: no" in text


def test_the_picture_has_a_panel_for_each_kind_of_data(summary):
    assert len(_import("picture").draw(summary).axes) == 2


@pytest.mark.parametrize("name", ["diabetes", "linear20", "wide"])
def test_a_split_has_70_percent_of_the_samples_up_to_a_limit(name):
    sets = _import("sets")
    table = sets.load(name)
    whole, limited = sets.split(name, 0), sets.split(name, 0, 100)
    assert len(whole.y) + len(whole.y_test) == len(table.y)
    assert len(whole.y) == int(0.7 * len(table.y))
    assert len(limited.y) == len(limited.y_test) == 100
    assert np.array_equal(sets.split(name, 0).X, whole.X)


def test_data_without_a_source_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("BINFM_DATA", str(tmp_path))
    assert _import("sets").load("adult+S") is None
