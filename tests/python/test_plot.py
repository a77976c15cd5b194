"""Plots: what they contain, and that nothing is cut off."""

from collections import Counter

import binfm
import matplotlib as mpl
import numpy as np
import pytest
from binfm import plot

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    from matplotlib import pyplot

    pyplot.close("all")


@pytest.fixture(scope="module")
def table():
    """Numbers, a column with NaN, categories with a long name, and a column of 40 categories."""
    rng = np.random.default_rng(0)
    X = np.empty((600, 5), object)
    X[:, 0] = rng.normal(size=600) * 1e5
    X[:, 1] = np.where(rng.random(600) < 0.1, np.nan, rng.lognormal(3, 2, size=600))
    X[:, 2] = rng.choice(["red", "blue", "an unreasonably long name of a category"], 600)
    X[:, 3] = rng.choice([f"level {i}" for i in range(40)], 600)
    X[:, 4] = rng.integers(0, 3, 600)
    return X


@pytest.fixture(scope="module")
def two(table):
    return binfm.train(table, (table[:, 0] > 0) ^ (table[:, 2] == "red"), categorical=[2, 3], m=4, epochs=4)


@pytest.fixture(scope="module")
def three(table):
    names = np.where(table[:, 0].astype(float) > 5e4, "high", table[:, 2])
    return binfm.train(table, names, categorical=[2, 3], m=4, epochs=4)


def drawn_texts(display):
    """Draw a display, assert that nothing is cut off and no labels overlap, and return its texts."""
    figure = display.figure_
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    box, (width, height) = figure.get_tightbbox(renderer), figure.get_size_inches()
    assert min(box.x0, box.y0, width - box.x1, height - box.y1) > -0.02, (box, width, height)
    for ax in figure.axes:
        labels = ax.get_yticklabels() + [t for t in ax.get_xticklabels() if t.get_rotation() == 0]
        boxes = [label.get_window_extent(renderer) for label in labels if label.get_text() and ax.get_visible()]
        assert not any(b.count_overlaps(boxes[:i]) for i, b in enumerate(boxes)), labels
    return [text.get_text() for text in figure.findobj(mpl.text.Text) if text.get_text()]


def test_effects_of_two_classes(two, table):
    display = plot.EffectsDisplay.from_model(two, table).plot()
    texts = drawn_texts(display)
    assert display.axes_.size >= 5
    assert "missing" in texts
    assert any(text.endswith("right: more likely True\nthe 10 most frequent; 30 more not shown") for text in texts)
    for label, count in Counter(table[:, 2]).items():
        assert any(text.startswith(label[:10]) and text.endswith(f"({count})") for text in texts)
    panel = next(ax for ax, f in zip(display.axes_.ravel(), display.features, strict=False) if f.name == "x0")
    (steps,) = [p for p in panel.patches if isinstance(p, mpl.patches.StepPatch)]
    assert steps.get_data().values.tolist() == two.effects(table)[0].effect.tolist()


def test_a_display_prints_as_its_name(two):
    assert repr(plot.EffectsDisplay.from_model(two)) == "<binfm.plot.EffectsDisplay>"


def test_effects_of_three_classes(three):
    display = plot.EffectsDisplay.from_model(three, features=["x0", 2], classes=["red", "high"]).plot()
    texts = drawn_texts(display)
    assert display.shown == [three.classes.tolist().index(c) for c in ("red", "high")]
    assert {"x0", "x2", "high", "red"} <= set(texts)
    with pytest.raises(ValueError, match=r"classes must be among .* got 'green'"):
        plot.EffectsDisplay.from_model(three, classes=["green"])


def test_effects_on_given_axes(two):
    from matplotlib.figure import Figure

    axes = Figure(layout="constrained").subplots(1, 2)
    display = plot.EffectsDisplay.from_model(two, features=[0, 1]).plot(axes)
    assert display.axes_ is axes
    assert display.figure_ is axes[0].figure


def test_interaction_matrix(two, three):
    display = plot.InteractionsDisplay.from_model(two).plot()
    assert f"{display.strength[0, 2]:.2g}" in drawn_texts(display)
    pairs = two.interactions()
    assert display.strength[0, 2] == pytest.approx(pairs.strength[0, 2])
    assert display.strength[1, 1] == pytest.approx(pairs.main[1])
    drawn_texts(plot.InteractionsDisplay.from_model(three, of_class="red", features=[0, 2]).plot())
    with pytest.raises(ValueError, match=r"of_class must be among .* got 7"):
        plot.InteractionsDisplay.from_model(three, of_class=7)


def test_a_wide_matrix_shows_the_strongest():
    X = np.random.default_rng(0).normal(size=(300, 30))
    model = binfm.train(X, X[:, 0] * X[:, 29] > 0, m=4)
    display = plot.InteractionsDisplay.from_model(model).plot()
    drawn_texts(display)
    assert len(display.names) == 25
    assert {"x0", "x29"} <= set(display.names)


def test_cells_of_a_pair(two, three):
    display = plot.PairDisplay.from_model(two, "x0", "x2").plot()
    texts = drawn_texts(display)
    assert {"x0", "x2", "red"} <= set(texts)
    assert display.effect.shape == (two.features[0].cells, 3)
    drawn_texts(plot.PairDisplay.from_model(three, 0, 3, of_class="red").plot())
    with pytest.raises(ValueError, match=r"of_class must be among .* got None"):
        plot.PairDisplay.from_model(three, 0, 1)


def test_features_that_are_not_used():
    X = np.random.default_rng(0).normal(size=(200, 3))
    X[:, 1] = 4
    model = binfm.train(X, X[:, 0] > 0, m=3, epochs=2)
    for table in (None, X):
        display = plot.EffectsDisplay.from_model(model, table, features=[0, 1]).plot()
        assert "not used by the model" in drawn_texts(display)
    with pytest.raises(ValueError, match=r"left and right must be features that the model uses, got 'x1'"):
        plot.PairDisplay.from_model(model, 0, 1)
    with pytest.raises(ValueError, match=r"model must use at least one feature"):
        plot.InteractionsDisplay.from_model(binfm.train(np.ones((50, 2)), np.arange(50) % 2, epochs=1))
    assert "does not use" in model.effects()[1]._repr_html_()
    assert "does not use" in model.interactions().cells(0, 1)._repr_html_()


def test_a_single_prediction(two, three, table):
    display = plot.ExplanationDisplay.from_model(two, table[0], table).plot()
    texts = drawn_texts(display)
    ends = [bar.get_x() + bar.get_width() for bar in display.axes_.patches]
    assert ends[-1] == pytest.approx(two.decision_function(table[:1])[0])
    assert any(text.startswith("x2: ") for text in texts)
    drawn = plot.ExplanationDisplay.from_model(three, table[0]).plot()
    drawn_texts(drawn)
    assert drawn.function == int(np.argmax(three.decision_function(table[:1])))
    assert plot.ExplanationDisplay.from_model(three, table[0], of_class="red").function == three.classes.tolist().index(
        "red"
    )
    with pytest.raises(ValueError, match=r"of_class must be among .* got 'green'"):
        plot.ExplanationDisplay.from_model(three, table[0], of_class="green")


def test_a_prediction_with_many_and_absent_features():
    X = np.random.default_rng(0).normal(size=(300, 30))
    X[:, 3] = np.repeat([0, 1, 2], 100)
    model = binfm.train(X, X[:, 0] > 0, m=4, categorical=[3], epochs=2)
    row = X[0].copy()
    row[3] = 77
    texts = drawn_texts(plot.ExplanationDisplay.from_model(model, row, X).plot())
    assert {"17 others", "absent features"} <= set(texts)


@pytest.mark.parametrize("target", ["classes", "numbers"])
def test_the_boundary_of_two_features(target):
    X = np.random.default_rng(0).normal(size=(400, 3))
    y = np.where(X[:, 0] * X[:, 2] > 0, "in", "out") if target == "classes" else X[:, 0] * X[:, 2]
    model = binfm.train(X, y, m=4, loss=None if target == "classes" else "squared")
    display = plot.DecisionBoundaryDisplay.from_model(model, X, y, features=(0, "x2"), resolution=40).plot()
    assert {"x0", "x2"} <= set(drawn_texts(display))
    middle = [display.extent[0], np.median(X[:, 1]), display.extent[2]]
    expected = model.predict([middle])[0]
    assert display.response[0, 0] == (["in", "out"].index(expected) if target == "classes" else expected)
    drawn_texts(plot.DecisionBoundaryDisplay.from_model(model, X, resolution=20).plot())


@pytest.mark.parametrize("X", [[["a", 1.0, 2.0]], np.empty((0, 3)), np.zeros(3)])
def test_a_boundary_needs_numbers(X):
    model = binfm.train(np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2, epochs=1)
    with pytest.raises(ValueError, match=r"^X must be a 2-D table of .* got "):
        plot.DecisionBoundaryDisplay.from_model(model, X)


def test_the_history(numbers):
    X, y = numbers
    model = binfm.train(X, y, m=4, epochs=6, eval_set=(X[:50], y[:50]))
    display = plot.HistoryDisplay.from_model(model).plot()
    assert f"kept: epoch {model.best_epoch}" in drawn_texts(display)
    assert list(display.losses) == ["training samples", "held-out samples"]
    with pytest.raises(ValueError, match="model must have a history"):
        plot.HistoryDisplay.from_model(binfm.Model.from_bytes(model.to_bytes()))


def test_the_size_curve(numbers):
    curve = binfm.size_curve(*numbers, budgets=(64, 128, 256), epochs=3)
    display = plot.SizeCurveDisplay.from_curve(curve).plot()
    sizes = [point["nbytes"] for point in curve.points if point["nbytes"] is not None]
    assert {str(min(sizes)), str(max(sizes)), "accuracy"} <= set(drawn_texts(display))


def test_without_matplotlib_the_error_says_what_to_install(run_python):
    run_python("""
import sys
sys.modules["matplotlib"] = None
import numpy as np, binfm
X = np.random.default_rng(0).normal(size=(60, 2))
display = binfm.plot.EffectsDisplay.from_model(binfm.train(X, X[:, 0] > 0, epochs=1))
try:
    display.plot()
except ImportError as error:
    assert "pip install 'binfm[plot]'" in str(error)
else:
    raise AssertionError
""")


def test_without_matplotlib_every_display_says_so(run_python):
    run_python("""
import sys
sys.modules["matplotlib"] = None
import numpy as np, binfm
from binfm import plot
X = np.random.default_rng(0).normal(size=(60, 2))
model = binfm.train(X, X[:, 0] > 0, epochs=1)
curve = binfm.SizeCurve("accuracy", ({"max_bytes": 99, "nbytes": 90, "score": 0.9, "spread": 0.1},), 50)
displays = [plot.InteractionsDisplay.from_model(model), plot.PairDisplay.from_model(model, 0, 1),
            plot.ExplanationDisplay.from_model(model, X[0]), plot.HistoryDisplay.from_model(model),
            plot.DecisionBoundaryDisplay.from_model(model, X, resolution=5), plot.SizeCurveDisplay(curve)]
for display in displays:
    try:
        display.plot()
    except ImportError as error:
        assert "pip install 'binfm[plot]'" in str(error), display
    else:
        raise AssertionError(display)
""")


def test_importing_binfm_does_not_import_matplotlib(run_python):
    run_python("import sys, binfm; assert 'matplotlib' not in sys.modules and binfm.plot.EffectsDisplay")
