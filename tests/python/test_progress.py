"""The time left of a search: the forecast of fits and of what they cost."""

import json
import re
from itertools import pairwise

import binfm
import numpy as np
import pytest
from binfm import _core
from binfm._progress import SearchProgress
from binfm.cli import main
from test_search import prepare, table


class Recorded(SearchProgress):
    """Records what is expected before each step, without a bar."""

    is_shown = True

    def __init__(self, wanted):
        super().__init__(False)
        Recorded.last = self
        self.expected = []

    def expect(self, fits, cost):
        super().expect(fits, cost)
        self.expected.append((*self.fits, *self.cost))


@pytest.fixture
def recorded(monkeypatch):
    for module in ("search", "curve"):
        monkeypatch.setattr(f"binfm.search.{module}.SearchProgress", Recorded)
    return lambda: Recorded.last


SLACK = 0.7
"""By how much the first forecasts may be wrong: on tiny data polish dominates, whose cost depends on the choice."""


def check(progress):
    """Check that forecasts are close to what was done, and that the last one is right."""
    (fits, all_fits), (cost, all_cost) = progress.fits, progress.cost
    assert fits == all_fits > 0
    assert cost == all_cost
    done = [before for before, *_ in progress.expected]
    assert done[0] == 0
    assert all(a <= b for a, b in pairwise(done))
    for _, total, spent, expected in progress.expected:
        assert total == pytest.approx(fits, rel=SLACK)
        assert expected - spent == pytest.approx(cost - spent, abs=SLACK * cost)
    assert progress.expected[-1][1] == fits


@pytest.mark.parametrize("limit", [300, 2048])
@pytest.mark.parametrize("kind", ["binary", "classes", "regression", "sparse"])
def test_the_work_of_a_search_is_known_from_the_first_rung_on(recorded, kind, limit):
    X, y, more = table(kind)
    model = binfm.train(X, y, max_bytes=limit, **more, epochs=2)
    inits = 4 if limit == 300 else 0
    assert recorded().fits[0] == sum(trial["folds"] for trial in model.search.trials) + inits
    check(recorded())


def test_the_work_of_all_budgets_is_known_from_the_first_rung_on(recorded):
    X, y, _ = table("binary")
    binfm.size_curve(X, y, budgets=(20, 200, 2000, 2000, 4000), epochs=2)
    check(recorded())


def test_a_forecast_changes_nothing(recorded, monkeypatch):
    X, y, _ = table("classes")
    told = binfm.train(X, y, max_bytes=300, epochs=2)
    monkeypatch.undo()
    assert told == binfm.train(X, y, max_bytes=300, epochs=2)


def test_late_fits_weigh_more(recorded):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 4))
    binfm.train(X, X[:, 0] * X[:, 1] > 0, max_bytes=400, epochs=4)
    fits, total, cost, total_cost = recorded().expected[1]  # after the first rung
    assert cost / total_cost < 0.8 * fits / total


def test_cost_grows_with_all_that_takes_time():
    X, y, _ = table("binary")
    _, params = prepare(X, y, m=8, polish=1)
    base = _core.cost(params.core(), 5000, 10.0, 1)
    for more in ({"epochs": 60}, {"m": 64}, {"m": 16, "ensemble": 2}, {"polish": 3}, {"b": 40}, {"batch_size": 1}):
        assert _core.cost(params.replace(**more).core(), 5000, 10.0, 1) > base
    assert _core.cost(params.core(), 5000, 20.0, 1) > 1.5 * base
    assert _core.cost(params.core(), 5000, 10.0, 5) >= 5 * base


def test_bars_show_the_share_done_and_the_time_left(capfd):
    X, y, _ = table("binary")
    binfm.train(X, y, max_bytes=200, progress=True, epochs=2)
    binfm.size_curve(X, y, budgets=(100, 200), progress=True, epochs=2)
    bars = re.findall(r"binfm: *(\d+)%\|[^|]*\| (\d+)/(\d+) fits \[[\d:]+<([\d:]+|\?)\]", capfd.readouterr().err)
    assert sum(share == "100" and done == total and left == "00:00" for share, done, total, left in bars) >= 2


def test_a_bar_shows_epochs_done_and_all_and_what_is_prepared(capfd):
    X, y, _ = table("binary")
    binfm.train(X, y, epochs=4, progress=True, regularization="auto")
    shown = capfd.readouterr().err
    assert "binfm: choosing the regularization" in shown
    assert re.search(r"\| 4/4 \[[\d:]+<00:00, .* epochs/s, loss=0\.\d{4}\]", shown)


def test_a_bar_of_training_that_stops_early_ends_at_the_epochs_made(capfd):
    X, y, _ = table("binary")
    binfm.train(X, y, epochs=50, progress=True, callback=lambda epoch, record: epoch == 3)
    last = capfd.readouterr().err.strip().split("\r")[-1]
    assert re.search(r"100%\|.*\| 3/3 \[", last)


def test_an_interrupted_bar_claims_nothing(capfd):
    X, y, _ = table("binary")
    with pytest.raises(ZeroDivisionError):
        binfm.train(X, y, epochs=50, progress=True, callback=lambda epoch, record: 1 / 0)
    assert "100%" not in capfd.readouterr().err


def test_a_function_gets_records_of_training():
    X, y, _ = table("binary")
    told = []
    model = binfm.train(X, y, epochs=4, progress=told.append, regularization="auto")
    assert [record["task"] for record in told] == ["choosing the regularization"] * 2 + ["training"] * 4
    assert [(record["done"], record["total"], record["unit"]) for record in told[2:]] == [
        (epoch, 4, "epoch") for epoch in (1, 2, 3, 4)
    ]
    assert [record["loss"] for record in told[2:]] == [record["loss"] for record in model.history]
    assert told[-1]["seconds_left"] == 0
    for record in told[2:-1]:
        share = record["done"] / record["total"]
        assert record["seconds_left"] == pytest.approx(record["seconds"] * (1 / share - 1), abs=0.01)


def test_records_end_with_what_was_done():
    X, y, _ = table("binary")
    told = []
    binfm.train(X, y, epochs=50, progress=told.append, callback=lambda epoch, record: epoch == 3, regularization=0)
    assert [record["done"] for record in told[2:]] == [1, 2, 3, 3]
    assert told[-1]["total"] == 3
    assert told[-1]["seconds_left"] == 0


def test_a_function_gets_records_of_a_search():
    X, y, _ = table("binary")
    told = []
    model = binfm.train(X, y, max_bytes=200, progress=told.append, epochs=2)
    fits = [record for record in told if record["task"] == "search"]
    assert fits[-1]["done"] == fits[-1]["total"] >= len(model.search.trials)
    assert fits[-1]["seconds_left"] == 0
    assert fits[0]["seconds_left"] is None
    told.clear()
    binfm.size_curve(X, y, budgets=(100,), progress=told.append, epochs=2)
    assert {record["unit"] for record in told} == {"fit"}


def test_the_command_line_prints_records(tmp_path, capsys):
    data, model = str(tmp_path / "data.csv"), str(tmp_path / "model.binfm")
    (tmp_path / "data.csv").write_text("a,y\n" + "".join(f"{i % 7},{i % 2}\n" for i in range(200)))
    settings = ["--target", "y", "--epochs", "3", "--regularization", "0", "--progress", "json"]
    assert main(["train", data, "-o", model, *settings]) == 0
    records = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [record["done"] for record in records if record["task"] == "training"] == [1, 2, 3]
    assert main(["predict", model, data, "--progress", "json"]) == 0
    (record,) = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert (record["task"], record["unit"], record["done"], record["total"]) == ("predicting", "row", 200, 200)
    assert main(["evaluate", model, data, "--target", "y", "--progress", "no"]) == 0
    assert capsys.readouterr().err == ""
