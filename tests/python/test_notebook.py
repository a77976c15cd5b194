"""What notebooks show of models and results."""

import re
from html import escape

import binfm
import numpy as np
import pytest
from scipy import sparse
from test_report import CHROMIUM, Nesting, browse, hostile  # noqa: F401

LARGEST = 300_000
"""Bytes that a notebook stores for a result, at most."""


def results_of(model, table, row):
    """Return all that a user gets from a model."""
    effects, pairs = model.effects(table), model.interactions(features=range(min(3, model.n_features)))
    return [model, effects, effects[0], pairs, pairs.cells(0, 1), model.explain(row, table)]


def check(html):
    """Assert that a result can be embedded in any notebook."""
    found = Nesting(html)
    assert found.links == []
    assert not found.tags & {"script", "link", "img", "iframe"}
    assert not re.search(r"http|@import|url\(", html)
    assert "prefers-color-scheme: dark" in html
    assert "background: transparent" in html
    style = re.search("<style>(.*?)</style>", html, re.DOTALL)[1]
    for selectors in re.findall(r"(?:^|\})\s*(?:@media[^{]*\{)?([^{}@]+)\{", style):
        assert all(".binfm" in selector for selector in selectors.split(",")), selectors
    assert len(html.encode()) < LARGEST
    return found


@pytest.mark.parametrize(
    "name", ["binary", "text labels", "text categories", "sparse", "regression", "softmax", "sefm"]
)
def test_every_result_has_html(models, name):
    model, table = models[name]
    row = table[:1] if sparse.issparse(table) else table[0]
    for result in results_of(model, table, row):
        check(result._repr_html_())
    assert f"<b>{model.nbytes:,}</b>" in model._repr_html_()


@pytest.mark.parametrize("name", ["dfm", "fm"])
def test_models_without_bins_have_html(models, name):
    model, table = models[name]
    check(model._repr_html_())
    check(model.explain(table[:1] if sparse.issparse(table) else table[0])._repr_html_())


def test_names_are_escaped(hostile):  # noqa: F811
    row = ["a & b", 0.1, 0.2]
    for result in [*results_of(hostile, None, row), hostile.effects()[1], hostile.interactions().cells(1, 2)]:
        html = result._repr_html_()
        check(html)
        assert "<b>up" not in html
        assert "<img" not in html
    assert "&lt;b&gt;up" in hostile._repr_html_()


def test_a_huge_model_stays_small():
    """Thousands of features and of categories with long names: the first are shown, the others counted."""
    rng, n = np.random.default_rng(0), 4000
    X = np.empty((n, 1202), object)
    X[:, :1200] = rng.normal(size=(n, 1200))
    X[:, 1200] = [f"{'long ' * 200}{i % 1500}" for i in range(n)]
    X[:, 1201] = [f"c{i % 1000}" for i in range(n)]
    y = np.arange(n) % 9
    model = binfm.train(X, y, categorical=[1200, 1201], m=2, epochs=1, n_jobs=1, regularization=0)
    effects, pairs = model.effects(), model.interactions()
    for result in (
        model,
        effects,
        effects[1200],
        pairs,
        pairs.cells(1200, 1201),
        pairs.cells(0, 1200),
        model.explain(X[0]),
    ):
        check(result._repr_html_())
    assert "1,190 more features." in model._repr_html_()
    assert "1,196 more features, weaker than these, are not drawn." in effects._repr_html_()
    assert "the 8 strongest; 1,492 more not shown" in effects[1200]._repr_html_()
    assert "the first 7 of 9 classes" in effects._repr_html_()
    assert f"{1202 * 1201 // 2 - 12:,} more pairs." in pairs._repr_html_()
    assert "1,190 others" in model.explain(X[0])._repr_html_()


def test_a_pair_of_many_bins_is_a_table_of_the_strongest_cells():
    X = np.random.default_rng(0).normal(size=(3000, 2))
    model = binfm.train(X, X[:, 0] * X[:, 1] > 0, b=80, m=4, epochs=1)
    pair = model.interactions().cells(0, 1)
    html = pair._repr_html_()
    check(html)
    assert f"{pair.effect.size - 12:,} more pairs of cells." in html
    i, j = np.unravel_index(np.argmax(np.abs(pair.effect)), pair.effect.shape)
    first = re.search("<tbody><tr><td>(.*?)</td><td>(.*?)</td>", html)
    assert first.groups() == (escape(pair.cells[0][i]), escape(pair.cells[1][j]))


def test_bars_lead_from_the_mean_to_the_score(binary, numbers):
    why = binary.explain(numbers[0][0], numbers[0])
    bars = re.findall(r'class="(bar|bar down)" style="margin-left:([\d.]+)%;width:([\d.]+)%', why._repr_html_())
    assert len(bars) == len(why.names)
    order = np.argsort(-np.abs(why.shapley))
    assert [kind == "bar" for kind, _, _ in bars] == (why.shapley[order] >= 0).tolist()
    path = why.mean + np.cumsum([0, *why.shapley[order]])
    assert [float(width) for _, _, width in bars] == pytest.approx(
        100 * np.abs(why.shapley[order]) / np.ptp(path), abs=0.06
    )
    assert f"{why.score:.4g}" in why._repr_html_()


def test_the_counts_of_a_table_are_shown(models):
    model, table = models["text categories"]
    effects = model.effects(table)
    html = effects[2]._repr_html_()
    for cell, count in zip(effects[2].cells, effects[2].count, strict=True):
        assert f"{cell} ({count})" in html
    assert 'class="count"' in effects[0]._repr_html_()
    assert 'class="count"' not in model.effects()[0]._repr_html_()


def test_a_search_and_a_curve(numbers):
    X, y = numbers
    search = binfm.train(X, y, max_bytes=120, epochs=2).search
    html = search._repr_html_()
    check(html)
    assert html.count("✓</td>") == 1
    assert f"{search.chosen['nbytes']}" in html
    assert f"{len(search) - 12:,} more trials." in html
    curve = binfm.size_curve(X, y, budgets=(20, 64, 128), epochs=2)
    html = curve._repr_html_()
    check(html)
    assert html.count("<circle") == sum(point["nbytes"] is not None for point in curve.points)
    assert "none fits" in html
    check(binfm.size_curve(X, y, budgets=(20,), epochs=1)._repr_html_())


def test_html_needs_no_other_package(run_python):
    run_python("""
import sys
for name in ("matplotlib", "pandas", "narwhals", "sklearn"):
    sys.modules[name] = None
import numpy as np, binfm
X = np.random.default_rng(0).normal(size=(60, 2))
model = binfm.train(X, X[:, 0] > 0, epochs=1)
for result in (model, model.effects(X), model.interactions(), model.explain(X[0])):
    assert "prefers-color-scheme" in result._repr_html_()
""")


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.parametrize(
    ("scheme", "body", "line"),
    [
        (1, "", 0x0072B2),
        (0, "", 0x56B4E9),
        (1, 'data-jp-theme-light="false" style="background:#111;color:#eee"', 0x56B4E9),
        (0, 'data-jp-theme-light="true" style="background:#fff;color:#111"', 0x0072B2),
    ],
    ids=["light", "dark", "dark theme", "light theme"],
)
def test_colors_follow_the_reader_and_the_theme(binary, tmp_path, scheme, body, line):
    from matplotlib import image

    html = binary.effects()._repr_html_()
    page = (
        f'<!doctype html><html style="color-scheme: light dark"><meta charset="utf-8"><body {body}>{html}</body></html>'
    )
    screenshot = tmp_path / "card.png"
    color_scheme = f"--blink-settings=preferredColorScheme={scheme}"
    browse(page, tmp_path, color_scheme, "--window-size=900,700", f"--screenshot={screenshot}")
    pixels = (image.imread(screenshot)[:, :, :3] * 255).round().astype(int) @ [0x10000, 0x100, 1]
    assert np.count_nonzero(pixels == line) > 300
