"""What a notebook shows of models and results: the parts of the page in short, with a style of their own."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from binfm._text import few, figure, number, signed
from binfm.data.kinds import ValueKind
from binfm.features import HEAD
from binfm.reading._cells import Direction, cell_labels, names_of
from binfm.reading.html.curve import size_curve_chart
from binfm.reading.html.elements import bar, floating_bar, folded, more, sign_legend, table, text
from binfm.reading.html.page import (
    about_model,
    bin_table,
    effects_legend,
    heat_with_ends,
    model_cards,
    pair_table,
    size_table,
    strength_matrix,
)
from binfm.reading.html.shapes import shape
from binfm.reading.html.style import NOTEBOOK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from binfm.features import Features
    from binfm.model import Model
    from binfm.reading.effects import Effects, FeatureEffects
    from binfm.reading.explanation import Explanation
    from binfm.reading.interactions import Interactions, PairCells
    from binfm.search import Search, SizeCurve

MAX_LINES = 12
"""Lines of a table in a notebook."""
MAX_BINS = 40
"""Lines of a table that is folded."""
MAX_PANELS = 6
MAX_CLASSES = 7
MAX_IN_MATRIX = 12
HIDDEN = ("chosen", "leave_out")
"""Entries of a trial that are no column of a table."""


def model_card(model: Model) -> str:
    """Return kind, size and first features of a model."""
    names = names_of(model)[:MAX_LINES]
    lines = []
    for j, name in enumerate(names):
        feature = model._feature(j)
        cells = cell_labels(feature, ValueKind())
        lines.append((text(name, 40), feature.kind, f"{len(cells):,}", text(few(cells, 4), 80)))
    features = table(("feature", "kind", "cells", "first cells"), lines) + more(
        model.n_features - len(lines), "features"
    )
    folds = folded("features", features) + folded("where the bytes go", size_table(model))
    return _card("Model", f"<p>{about_model(model)}</p>{model_cards(model)}{folds}")


def features_card(features: Features) -> str:
    """Return the columns of a model."""
    records = features.to_records()
    lines = [tuple(text("" if value is None else _value(value)) for value in r.values()) for r in records[:MAX_LINES]]
    body = table(HEAD, lines, left=2) + more(len(records) - len(lines), "features")
    return _card(f"{len(records):,} features", body)


def effects_card(effects: Effects) -> str:
    """Return the strongest features: their strengths and their shapes."""
    order = effects.order()
    shown = list(range(len(effects.classes)))[:MAX_CLASSES]
    strengths = np.sqrt((np.atleast_2d(effects.strength) ** 2).mean(axis=0))
    most = float(strengths.max(initial=0)) or 1.0
    lines = [
        (text(effects.names[j], 40), number(strengths[j], 4), bar(strengths[j] / most), f"{len(effects[j].cells):,}")
        for j in order[:MAX_LINES]
    ]
    listed = table(("feature", "strength", "", "bins"), lines) + more(len(order) - len(lines), "features")
    panels = "".join(
        f"<section><h3>{text(effects.names[j])}</h3>{shape(effects[j], shown)}</section>" for j in order[:MAX_PANELS]
    )
    left = more(len(order) - MAX_PANELS, "features, weaker than these, are not drawn")
    note = f'<p class="soft">Centered with {escape(effects.reference)}. Strength is the standard deviation.</p>'
    colors = effects_legend(effects, shown, effects.is_counted)
    return _card("Effects", f'{colors}<div class="grid">{panels}</div>{left}{folded("strengths", listed)}{note}')


def feature_card(feature: FeatureEffects) -> str:
    """Return the shape and the bins of a feature."""
    shown = list(range(len(feature.classes)))[:MAX_CLASSES]
    bins = folded(f"{len(feature.cells):,} bins", bin_table(feature, MAX_BINS))
    panel = f'<div class="grid"><section>{shape(feature, shown)}</section></div>'
    colors = effects_legend(feature, shown, feature.count is not None and feature.kind != "categorical")
    return _card(f"Effects of {feature.name}", colors + panel + bins)


def interactions_card(pairs: Interactions) -> str:
    """Return the strongest pairs, and the matrix of the features in them."""
    if len(pairs.indices) < 2:
        return _card("Interactions", "<p>Fewer than two features are in use.</p>")
    share = 100 * float(np.mean(pairs.share))
    note = (
        f"<p>{share:.0f} % of the variance of the score is interaction of two features, with {escape(pairs.reference)}."
        " Strength is the standard deviation.</p>"
    )
    beside = f"{strength_matrix(pairs, MAX_IN_MATRIX)}<div>{pair_table(pairs, MAX_LINES)}</div>"
    return _card("Interactions", f'{note}<div class="beside">{beside}</div>')


def pair_card(pair: PairCells) -> str:
    """Return the cells of two features, of the class in which they interact most."""
    if not all(pair.cells):
        return _card(" × ".join(pair.names), "<p>The model does not use both of these features.</p>")
    effect = pair.effect.reshape(len(pair.classes), len(pair.cells[0]), len(pair.cells[1]))
    k = int(np.argmax(np.square(effect).sum(axis=(1, 2))))
    picture = heat_with_ends(pair, effect[k]) or _strongest_cells(pair, effect[k])
    one = len(pair.classes) == 1
    direction = pair.direction if one else Direction.toward(pair.classes[k])
    left = "" if one else more(len(pair.classes) - 1, "classes, in which they interact less, are not drawn")
    what = '<p class="soft">What the two add together, beyond their own effects.</p>'
    title = f"{pair.names[0]} (down) × {pair.names[1]} (across)"
    return _card(title, f'{sign_legend(direction)}<div class="grid"><section>{picture}</section></div>{left}{what}')


def explanation_card(why: Explanation) -> str:
    """Return what moves the score of a sample from the mean, as bars that follow one another."""
    k = why.shown()
    moves = np.atleast_2d(why.shapley)[k]
    absent = float(np.ravel(why.absent_shapley)[k])
    mean, score = (float(np.ravel(value)[k]) for value in (why.mean, why.score))
    order = np.argsort(-np.abs(moves), kind="stable")
    steps = [(text(why.names[i], 40), text(why.cells[i], 40), float(moves[i])) for i in order[:MAX_LINES]]
    if len(order) > MAX_LINES:
        steps.append((f"{len(order) - MAX_LINES:,} others", "", float(moves[order[MAX_LINES:]].sum())))
    if absent:
        steps.append(("absent features", "", absent))
    ends = mean + np.cumsum([0.0, *(move for _, _, move in steps)])
    low, span = float(ends.min()), float(np.ptp(ends)) or 1.0
    lines = [
        (name, cell, floating_bar((begin - low) / span, (end - low) / span), signed(move))
        for (name, cell, move), begin, end in zip(steps, ends, ends[1:], strict=False)
    ]
    whose = "Score" if why.classes[k] is None else f"Score of class {text(why.classes[k])}"
    head = f"<p>{whose}: <b>{number(score, 4)}</b>, and {number(mean, 4)} on average over {escape(why.reference)}.</p>"
    body = table(("feature", "cell", "from the mean to the score", ""), lines, left=2)
    return _card("Explanation of a sample", head + sign_legend(why.direction(k)) + body)


def search_card(search: Search) -> str:
    """Return the chosen trial, and the last of the others."""
    best = _last_first(search)
    shown = best[:MAX_LINES]
    names = [name for name in best[0] if name not in HIDDEN]
    same = [name for name in names if all(trial[name] == shown[0][name] for trial in shown)]
    differ = [name for name in names if name not in same]
    lines = [("✓" * trial["chosen"], *(text(_value(trial[name])) for name in differ)) for trial in shown]
    what = f"<p>The chosen one (✓), and the others from the last on. The score is {text(search.metric)}.</p>"
    alike = ", ".join(f"{name} {_value(shown[0][name])}" for name in same)
    note = f'<p class="soft">The same in all of these: {text(alike, 400)}.</p>' if same else ""
    title = f"{len(best):,} trials for {search.max_bytes:,} bytes"
    return _card(title, what + table(("", *differ), lines) + more(len(best) - len(lines), "trials") + note)


def curve_card(curve: SizeCurve) -> str:
    """Return the score by bytes, as a figure and as a table."""
    names = ("m", "b", "tilings", "loss")
    lines = []
    for point in curve.points[:MAX_BINS]:
        limit = f"{point['max_bytes']:,}"
        if point["nbytes"] is None:
            lines.append((limit, "none fits", "", "", *[""] * len(names)))
            continue
        score = (number(point["score"], 4), number(point["spread"], 2))
        lines.append((limit, f"{point['nbytes']:,}", *score, *(text(point[name]) for name in names)))
    listed = table(("max_bytes", "nbytes", curve.metric, "spread", *names), lines)
    left = more(len(curve.points) - len(lines), "budgets")
    return _card("Size curve", size_curve_chart(curve) + listed + left)


def _strongest_cells(pair: PairCells, effect: Any) -> str:
    """Return the strongest pairs of cells as a table, where a figure would have too many."""
    order = np.argsort(-np.abs(effect), axis=None, kind="stable")[:MAX_LINES]
    places = [np.unravel_index(at, effect.shape) for at in order]
    lines = [(text(pair.cells[0][i], 30), text(pair.cells[1][j], 30), signed(effect[i, j], 3)) for i, j in places]
    return table((*pair.names, "effect"), lines) + more(effect.size - len(lines), "pairs of cells")


def _last_first(search: Search) -> list[Mapping[str, Any]]:
    """Return the chosen trial, then those of later rungs before those of earlier ones."""
    last_first = list(search.trials)[::-1]
    return sorted(last_first, key=lambda trial: (not trial["chosen"], -trial.get("rung", 0)))


def _value(value: Any) -> str:
    return figure(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _card(title: str, html: str) -> str:
    return f'<div class="binfm"><style>{NOTEBOOK}</style><h3>{text(title, 120)}</h3>{html}</div>'
