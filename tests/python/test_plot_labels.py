"""Plots of columns that are hard to label: years, dates, flags, heavy tails, many categories, long names."""

import datetime
from collections import Counter

import binfm
import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
from binfm import plot
from test_plot import _close_figures, drawn_texts  # noqa: F401


def panel_of(display, name):
    """Return the axes of a feature."""
    return next(ax for ax, f in zip(display.axes_.ravel(), display.features, strict=False) if f.name == name)


def labels_of(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


@pytest.fixture(scope="module")
def flights():
    """Return a table with the kinds of columns that are hard to label, and a model of it."""
    rng, n = np.random.default_rng(0), 900
    X = pl.DataFrame(
        {
            "year": rng.integers(2004, 2021, n),
            "departure": [datetime.date(2012, 1, 1) + datetime.timedelta(days=int(d)) for d in rng.integers(0, 900, n)],
            "is_weekend": rng.integers(0, 2, n),
            "income": rng.lognormal(10.5, 1.3, n),
            "population": rng.lognormal(14, 2, n),
            "tiny": rng.uniform(0, 1, n) * 1e-7,
            "city": [f"city {i}" for i in rng.geometric(0.05, n).clip(max=150)],
            "a_feature_whose_name_is_far_too_long_for_a_title_of_a_panel": rng.normal(size=n),
            "cost in $ per $": rng.normal(size=n),
        }
    )
    late = (X["year"] > 2013) ^ (X["is_weekend"] == 1)
    return X, np.where(late, "late", "on time")


@pytest.fixture(scope="module")
def flight_models(flights):
    X, y = flights
    small = {"m": 4, "epochs": 2}
    three = np.where(X["income"].to_numpy() > 1e5, "never", y)
    return {
        "two": binfm.train(X, y, **small),
        "three": binfm.train(X, three, **small),
        "regression": binfm.train(X, (X["year"].to_numpy() - 2012) * 1e5, loss="squared", **small),
    }


@pytest.mark.parametrize("name", ["two", "three", "regression"])
@pytest.mark.parametrize("given", [True, False])
def test_no_label_is_cut_off_or_repeated(flight_models, flights, name, given):
    model, X = flight_models[name], flights[0]
    display = plot.EffectsDisplay.from_model(model, X if given else None).plot()
    texts = drawn_texts(display)
    assert not any("e+" in text for text in texts)
    for ax in display.axes_.ravel()[: len(display.features)]:
        assert len(set(labels_of(ax.xaxis))) == len(labels_of(ax.xaxis))
        assert len(set(labels_of(ax.yaxis))) == len(labels_of(ax.yaxis))
    up = {"two": "more likely on time", "three": "more likely that class", "regression": "higher prediction"}[name]
    assert sum(f": {up}" in text for text in texts) == len(display.features)
    drawn_texts(plot.ExplanationDisplay.from_model(model, X[0], X if given else None).plot())
    of_class = "late" if name == "three" else None
    drawn_texts(plot.PairDisplay.from_model(model, "departure", "city", X if given else None, of_class=of_class).plot())


def test_ticks_are_years_dates_and_flags_if_the_table_is_given(flight_models, flights):
    display = plot.EffectsDisplay.from_model(flight_models["two"], flights[0]).plot()
    assert labels_of(panel_of(display, "is_weekend").xaxis) == ["0", "1"]
    assert all(2004 <= int(text.strip("≤≥ ")) <= 2020 for text in labels_of(panel_of(display, "year").xaxis))
    days = [datetime.date.fromisoformat(text) for text in labels_of(panel_of(display, "departure").xaxis)]
    assert days == sorted(days)
    assert datetime.date(2012, 1, 1) < days[0] < days[-1] < datetime.date(2014, 6, 19)


def test_a_histogram_counts_the_samples_given(flight_models, flights):
    X = flights[0]
    display = plot.EffectsDisplay.from_model(flight_models["two"], X, features=["is_weekend"]).plot()
    gray = mpl.colors.to_rgb("#8A8A8A")
    heights = [p.get_height() for p in display.axes_[0].patches if p.get_facecolor()[:3] == gray]
    counts = np.bincount(X["is_weekend"])
    assert np.divide(*heights) == pytest.approx(counts[0] / counts[1])
    assert str(counts.max()) in drawn_texts(display)
    without = plot.EffectsDisplay.from_model(flight_models["two"], features=["is_weekend"]).plot()
    assert not [p for p in without.axes_[0].patches if p.get_facecolor()[:3] == gray]
    assert "samples per bin" not in drawn_texts(without)


def test_frequent_categories_come_first_and_else_the_strongest(flight_models, flights):
    X = flights[0]
    display = plot.EffectsDisplay.from_model(flight_models["two"], X, features=["city"]).plot()
    expected = [f"{city} ({count})" for city, count in Counter(X["city"]).most_common(10)]
    shown = labels_of(display.axes_[0].yaxis)
    assert sorted(label.split("(")[1] for label in shown) == sorted(label.split("(")[1] for label in expected)
    assert shown[0] == expected[0]
    assert shown[0] == max(zip(display.axes_[0].get_yticks(), shown, strict=True))[1]  # at the top
    effect = flight_models["two"].effects()["city"]
    strongest = np.sort(np.abs(effect.effect))[-10:]
    without = plot.EffectsDisplay.from_model(flight_models["two"], features=["city"]).plot()
    widths = [abs(p.get_width()) for p in without.axes_[0].patches]
    assert sorted(widths) == pytest.approx(strongest)
    left = len(effect.cells) - 10
    assert any(f"the 10 strongest; {left} more not shown" in text for text in drawn_texts(without))


def test_colors_that_mean_something_have_a_legend(flight_models, flights):
    X = flights[0]
    both = {"more likely on time", "less likely on time"}
    assert both <= set(drawn_texts(plot.EffectsDisplay.from_model(flight_models["two"]).plot()))
    assert both <= set(drawn_texts(plot.ExplanationDisplay.from_model(flight_models["two"], X[0]).plot()))
    numbers = X.select("year", "income").to_numpy()
    model = binfm.train(numbers, flights[1], m=4, epochs=2)
    display = plot.DecisionBoundaryDisplay.from_model(model, numbers, resolution=20).plot()
    assert {"late", "on time"} <= set(drawn_texts(display))


def test_names_are_drawn_as_they_are(flight_models):
    """Dollar signs would begin a formula."""
    display = plot.EffectsDisplay.from_model(flight_models["two"], features=["cost in $ per $"]).plot()
    assert r"cost in \$ per \$" in drawn_texts(display)
