"""The loader, the protocol and the tables of `make paper`. Its measurements are not repeated here."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHES = Path(__file__).parents[2] / "benches"


@pytest.fixture(autouse=True)
def _benches(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHES))
    yield
    for name in [name for name in sys.modules if name.split(".")[0] in ("paper", "datasets", "machine")]:
        del sys.modules[name]


def _import(name):
    return importlib.import_module(f"paper.{name}")


@pytest.mark.parametrize(("name", "values"), [("circles", 402), ("moons", 452)])
def test_generated_sets_have_as_many_values_as_the_papers(name, values):
    X = _import("data").load(name).X
    assert X.shape == (5000, 2)
    assert sum(len(np.unique(np.round(column, 2))) for column in X.T) == values


def test_a_libsvm_file_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv("BINFM_DATA", str(tmp_path))
    (tmp_path / "webspam.txt").write_text("+1 1:0.5 3:2\n-1 2:1\n-1 1:3\n")
    data = _import("data").load("webspam")
    assert data.X.tolist() == [[0.5, 0, 2], [0, 1, 0], [3, 0, 0]]
    assert data.y.tolist() == [1, 0, 0]
    assert data.shape == "3/3/2"


def test_a_set_without_a_source_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("BINFM_DATA", str(tmp_path))
    assert _import("data").load("webspam") is None


def test_a_split_holds_every_sample_once():
    data = _import("data")
    moons = data.load("moons")
    part = data.split(moons, 3)
    assert len(part.y_test) == 1500
    together = np.concatenate([part.X, part.X_test])
    assert np.array_equal(together[np.lexsort(together.T)], moons.X[np.lexsort(moons.X.T)])


def test_the_race_returns_the_best_and_drops_the_clearly_worse():
    choice = _import("choice")
    rng = np.random.default_rng(0)
    tried = []

    def hits(settings, fold):
        tried.append((settings["m"], fold))
        return rng.random(400) < {1: 0.5, 2: 0.9, 3: 0.6}[settings["m"]]

    best, validated = choice.race([{"m": 1}, {"m": 2}, {"m": 3}], 5, hits)
    assert best == {"m": 2}
    assert 0.85 < validated < 0.95
    assert tried == [(1, 0), (2, 0), (3, 0), (2, 1), (2, 2), (2, 3), (2, 4)]


def test_ties_go_to_the_first():
    choice = _import("choice")
    best, _ = choice.race([{"m": 16}, {"m": 32}], 2, lambda settings, fold: np.array([True, False]))
    assert best == {"m": 16}


def test_parameters_are_chosen_one_at_a_time_and_nothing_is_fitted_twice():
    choice = _import("choice")
    tried = []

    def hits(settings, fold):
        tried.append((settings["m"], settings["b"], fold))
        return np.arange(100) < settings["m"] + settings["b"]

    chosen = choice.choose({"m": (10, 20), "b": (30, 40)}, {"m": 10, "b": 30}, 2, hits)
    assert chosen.settings == {"m": 20, "b": 40}
    assert chosen.validated == pytest.approx(0.6)
    assert len(tried) == len(set(tried)) == chosen.fits


def test_folds_use_only_the_allowed_samples():
    folds = _import("choice").folds_of(np.zeros((500, 1)), np.arange(500) % 2, 100, 5, 0)
    held_out = np.concatenate([rows for _, rows in folds])
    assert len(held_out) == len(np.unique(held_out)) == 100
    assert all(not set(fitted) & set(tried) for fitted, tried in folds)


@pytest.mark.parametrize(
    ("method", "relative"), [("fm", 1), ("dfm", 0.0388), ("sefm", 30), ("bfm", 30 / 32)], ids=lambda value: str(value)
)
def test_formulas_give_the_papers_ratios_for_webspam(method, relative):
    memory = _import("memory")
    assert getattr(memory, method)(254, 128, 30) / memory.fm(254, 128, 30) == pytest.approx(relative, abs=1e-4)


def test_the_store_resumes_where_it_stopped(tmp_path):
    store = _import("store")
    path = tmp_path / "results.json"
    first = store.Store(path)
    first.put("accuracy/banana/fm/0", {"accuracy": 55.0})
    first.put("accuracy/banana/dfm/0", {"accuracy": 56.0})
    again = store.Store(path)
    assert again.records == first.records
    again.drop(["fm"])
    assert list(json.loads(path.read_text())) == ["accuracy/banana/dfm/0"]


def test_a_measurement_uses_the_test_part_once_and_counts_by_the_formula():
    tasks, plan = _import("tasks"), _import("plan")
    small = plan.Plan(**{**vars(plan.QUICK), "most_rows": 400})
    record = tasks.accuracy("moons", "bfm1", 0, small)
    assert record["accuracy"] > 95
    assert record["bits"] == 2 * record["settings"]["b"] * (record["settings"]["m"] + 1)
    assert record["bytes"] > record["bits"] / 8


def test_tables_show_means_beside_the_papers_figures(tmp_path):
    data, store, plan, summary, tables, checks = map(_import, ("data", "store", "plan", "summary", "tables", "checks"))
    results = store.Store(tmp_path / "results.json")
    for seed, accuracy in enumerate((99.0, 97.0)):
        for system, bits in (("fm", 1000), ("bfm1", 500)):
            record = {"accuracy": accuracy, "bits": bits, "bytes": 80, "settings": {}}
            results.put(f"accuracy/moons/{system}/{seed}", record)
    results.put("times/moons", {"rows": 1500, "ms": {"fm": 2.0, "bfm1": 0.5}})
    absent = dict.fromkeys(("liblinear", "dfm", "nfm", "nfm-ids", "sefm", "bfm4"), "not here")
    found = summary.Summary(results, plan.QUICK, {"moons": data.load("moons")}, ["webspam"], absent)
    assert "| **moons** | here | **98.00 ± 1.41** | **98.00 ± 1.41** |" in tables.accuracies(found)
    assert "| 5,000/2/2 | paper | 88.57 ± 0.37 | 99.99 ± 0.00 |" in tables.accuracies(found)
    assert "| **webspam** | here | missing | missing |" in tables.accuracies(found)
    assert "| 1,500 rows | Binarized FM = 1 | 4× | 1× |" in tables.times(found)
    assert "| **moons** | here, FM = 1 | 1× | 0.5× |" in tables.memory(found)
    assert "| moons | 98.00 | 99.99 | **no** |" in checks.reached(found)
    assert "FM 4–4 (4)" in checks.speed(found)


def test_the_papers_table_is_complete():
    published, data = _import("published"), _import("data")
    assert tuple(published.TABLE_2) == tuple(published.WITHOUT_SCALING) == data.NAMES
    assert all(tuple(row) == published.SYSTEMS for row in published.TABLE_2.values())
    assert all(row["fm"].memory == 1 for row in published.TABLE_2.values())
