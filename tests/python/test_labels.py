"""How results name cells, count samples and say what a score means."""

import re

import binfm
import numpy as np
import polars as pl
import pytest
from scipy import sparse


@pytest.fixture(scope="module")
def trips():
    """Return a table of dates, years, flags and numbers, and a model of it."""
    rng = np.random.default_rng(0)
    days = rng.integers(15_000, 16_000, 800)
    X = pl.DataFrame(
        {
            "day": days.astype("datetime64[D]"),
            "year": rng.integers(2008, 2020, 800),
            "is_late": rng.integers(0, 2, 800),
            "income": rng.lognormal(10, 1, 800),
            "when": (days * 86_400_000_000 + rng.integers(0, 86_400_000_000, 800)).astype("datetime64[us]"),
        }
    )
    y = np.where((days > 15_500) ^ (X["year"].to_numpy() > 2013), "late", "on time")
    return binfm.train(X, y, m=4, b=6, tilings=2, epochs=3, regularization=0), X


def test_cells_are_written_as_the_table_has_them(trips):
    model, X = trips
    effects = model.effects(X)
    first, last = effects["day"].cells[0], effects["day"].cells[-1]
    assert first.startswith("≤ 2011-")
    assert last.startswith("≥ 2013-")
    for cell, (low, high) in zip(effects["day"].cells[1:-1], effects["day"].bounds[1:-1], strict=True):
        begin, end = (np.datetime64(text, "D").astype(int) for text in cell.split(" to "))
        assert low <= begin <= end < high
        assert begin - 1 < low
        assert end + 1 >= high
    assert effects["is_late"].cells == ("0", "1")
    assert all(re.fullmatch(r"≤ 20\d\d|20\d\d( to 20\d\d)?|≥ 20\d\d", cell) for cell in effects["year"].cells)
    assert all("-" in cell for cell in effects["when"].cells)
    assert not any("e+" in cell for effect in effects for cell in effect.cells)


def test_dates_are_found_in_any_table(trips):
    model, X = trips
    objects = X.to_pandas()
    objects["day"] = objects["day"].dt.date.astype(object)
    expected = model.effects(X)["day"].cells
    assert model.effects(X.to_pandas())["day"].cells == expected
    assert model.effects(objects)["day"].cells == expected
    assert model.effects(X.to_arrow())["day"].cells == expected
    assert model.explain(X[3], X).cells[0] in expected
    assert "-" in model.explain(X[3]).cells[0]


def test_without_a_table_edges_stay_numbers(trips):
    """The file does not know of dates, and an edge of 2013.5 may be one of any numbers."""
    effects = trips[0].effects()
    assert effects["is_late"].cells == ("< 0.5", "≥ 0.5")
    assert not any("-" in cell for cell in effects["day"].cells)
    assert effects["day"].count is None


def test_a_few_samples_do_not_show_what_a_column_holds():
    X = np.random.default_rng(0).normal(size=(300, 2)) * 100
    model = binfm.train(X, X[:, 0] > 0, m=2, epochs=1)
    assert model.effects(np.round(X[:5]))[0].cells == model.effects()[0].cells
    assert model.effects(np.full((50, 2), np.nan))[0].cells == model.effects()[0].cells
    assert model.effects(np.round(X)).to_dict()["x0"]["cells"] != model.effects()[0].cells
    stored = sparse.csr_array((X > 0).astype(float))
    flags = binfm.train(stored, X[:, 0] > 0, m=2, epochs=1)
    assert flags.effects(stored)[0].cells == flags.effects()[0].cells  # one cell: what is stored is 1


def test_samples_are_counted(trips):
    model, X = trips
    effects = model.effects(X)
    assert all(effect.count.sum() == len(X) for effect in effects)
    assert effects["is_late"].count.tolist() == np.bincount(X["is_late"]).tolist()
    low, high = effects["year"].bounds[1]
    assert effects["year"].count[1] == X["year"].is_between(low, high).sum()


@pytest.mark.parametrize(
    ("name", "up", "down"),
    [
        ("binary", "more likely class 1", "less likely class 1"),
        ("text categories", "more likely True", "less likely True"),
        ("text labels", "more likely that class", "less likely that class"),
        ("regression", "higher prediction", "lower prediction"),
    ],
)
def test_results_say_what_a_higher_score_means(models, trips, name, up, down):
    model, table = models[name]
    assert model.effects().direction == model.effects()[0].direction == model.interactions().direction == (up, down)
    why = model.explain(table[0])
    label = model.classes.tolist()[1] if name == "text labels" else None
    assert why.direction(1 if label else 0).up == (f"more likely {label}" if label else up)
    assert trips[0].effects().direction.up == "more likely on time"
