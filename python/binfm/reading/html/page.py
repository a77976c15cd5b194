"""The HTML page: size, parameters, effects and interactions of a model."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from binfm._core import __version__
from binfm._text import few, figure, number, signed
from binfm.card import card_lines
from binfm.reading.html import svg
from binfm.reading.html.elements import bar, cards, class_legend, folded, legend, more, sign_legend, table, text
from binfm.reading.html.shapes import shape
from binfm.reading.html.style import PAGE
from binfm.reading.interactions import MAX_FEATURES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from binfm.model import Model
    from binfm.reading.effects import Effects, FeatureEffects
    from binfm.reading.interactions import Interactions, PairCells

KINDS = {
    "bfm": "Binarized factorization machine",
    "sefm": "Factorization machine over bins",
    "dfm": "Discrete factorization machine",
    "fm": "Factorization machine",
}
WEIGHTS = {
    "bfm": "every entry of v is one bit, +1 or −1, and every w {w}",
    "sefm": "w and v are floats",
    "dfm": "w and v are multiplied by the value of their feature, and every entry of v is one bit",
    "fm": "w and v are floats, multiplied by the value of their feature",
}
MAX_PANELS = 24
MAX_LINES = 60
"""Lines of a table on the page."""
MAX_CLASSES = 7
MAX_IN_MATRIX = 24
MAX_PAIRS = 15
MAX_HEATS = 6


def html_report(model: Model, X: Any = None, *, title: str = "binfm model") -> str:
    """Return an HTML page that shows a model: its size, parameters, effects and interactions.

    The page is self-contained: it needs no network and no scripts, and follows the reader's choice of light or dark.

    Parameters
    ----------
    model
        The model.
    X
        Table on whose cell frequencies effects are centered; None weights all cells of a feature equally.
    title
        Heading of the page.

    Examples
    --------
    >>> import numpy as np, binfm
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> page = binfm.reading.html_report(binfm.train(X, X[:, 0] * X[:, 1] > 0, m=4))
    >>> page.startswith("<!doctype html>"), "http" in page
    (True, False)
    """
    body = [_head(model, title), _origin(model), _size(model), _parameters(model)]
    if model.method in ("bfm", "sefm"):  # the others have no bins
        effects = model.effects(X)
        strongest = effects.order()[:MAX_FEATURES]
        body += [_effects(effects), _interactions(model.interactions(X, features=strongest))]
    about = f'<p class="soft">Made by binfm {escape(__version__)}.</p>'
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{PAGE}</style></head>\n"
        f'<body class="binfm">\n{"".join(body)}{about}</body></html>\n'
    )


def _head(model: Model, title: str) -> str:
    return f"<header><h1>{escape(title)}</h1><p class='soft'>{about_model(model)}</p>{model_cards(model)}</header>"


def about_model(model: Model) -> str:
    """Return what a model is, in a sentence."""
    classes = model.classes
    task = "regression" if classes is None else f"{len(classes)} classes: {few(classes.tolist())}"
    return f"{KINDS[model.method]} for {text(task, 200)}."


def model_cards(model: Model) -> str:
    """Return the numbers that describe a model."""
    return cards(
        {
            "bytes": f"{model.nbytes:,}",
            "features": f"{model.n_features:,}",
            "parameter rows": f"{model.w.shape[-1]:,}",
            "factors m": str(model.m),
            "tilings": str(model.tilings),
        }
    )


def _origin(model: Model) -> str:
    """Return the card, if there is one."""
    if model.card is None:
        return ""
    lines = [(escape(name), text(value, 400)) for name, value in card_lines(model.card)]
    return _section("Card", table(("", ""), lines, left=2))


def _size(model: Model) -> str:
    return _section("Size", size_table(model))


def size_table(model: Model) -> str:
    """Return the bytes of each part of the file."""
    report = model.size_report()
    most = max(report.values())
    lines = [
        (escape(part), f"{count:,}", f"{100 * count / model.nbytes:.1f} %", bar(count / most))
        for part, count in report.items()
    ]
    lines.append(("all", f"{model.nbytes:,}", "100 %", ""))
    return table(("part of the file", "bytes", "share", ""), lines)


def _parameters(model: Model) -> str:
    lines = [
        ("method", model.method),
        ("loss", escape(model.loss)),
        ("m", str(model.m)),
        ("w_bits", str(model.w_bits)),
        ("tilings", str(model.tilings)),
    ]
    for name in ("alpha", "beta", "bias"):
        values = np.ravel(getattr(model, name)).tolist()
        lines.append((name, few([number(value, 6) for value in values])))
    w = "too" if model.w_bits == 1 else f"an odd whole number of {model.w_bits} bits"
    formula = (
        "<p>score = bias + α · Σ w<sub>r</sub> + β² · Σ<sub>r&lt;s</sub> v<sub>r</sub> · v<sub>s</sub> over the active"
        f" rows r, s; {WEIGHTS[model.method].format(w=w)}.</p>"
    )
    return _section("Parameters", formula + table(("parameter", "value"), lines))


def _effects(effects: Effects) -> str:
    order = effects.order()
    shown = list(range(len(effects.classes)))[:MAX_CLASSES]
    strengths = np.sqrt((np.atleast_2d(effects.strength) ** 2).mean(axis=0))
    most = float(strengths.max(initial=0)) or 1.0
    intro = (
        "<p>What each bin of a feature adds to the score, relative to the mean: its own part and the mean of its parts"
        f" with the other features, with {escape(effects.reference)}. Up and right mean {text(effects.direction.up)}."
        " Bins are equally wide, with their edges below."
        f" Mean score: {few([number(v, 4) for v in np.ravel(effects.mean)])}.</p>"
    )
    lines = [
        (text(effects.names[j]), number(strengths[j], 4), bar(strengths[j] / most), str(len(effects[j].cells)))
        for j in order[:MAX_LINES]
    ]
    summary = table(("feature", "strength", "", "bins"), lines) + more(len(order) - len(lines), "features")
    panels = "".join(_panel(effects[j], shown) for j in order[:MAX_PANELS])
    left = more(len(order) - MAX_PANELS, "features, weaker than these, are not drawn")
    colors = effects_legend(effects, shown, effects.is_counted)
    return _section("Effects", f'{intro}{summary}{colors}<div class="grid">{panels}</div>{left}')


def effects_legend(effects: Effects | FeatureEffects, shown: Sequence[int], is_counted: bool) -> str:
    """Return what the colors in figures of effects mean."""
    gray = '<span><i class="count"></i>samples per bin</span>' if is_counted else ""
    if len(effects.classes) == 1:
        return sign_legend(effects.direction, gray)
    return class_legend([effects.classes[k] for k in shown], len(effects.classes), gray)


def _panel(feature: FeatureEffects, shown: Sequence[int]) -> str:
    bins = folded(f"{len(feature.cells):,} bins", bin_table(feature, MAX_LINES))
    return f"<section><h3>{escape(feature.name)}</h3>{shape(feature, shown)}{bins}</section>"


def bin_table(feature: FeatureEffects, most: int) -> str:
    """Return the first bins of a feature as a table."""
    records = feature.to_records()
    of_class = ["class"] if feature.classes != (None,) else []
    counts = [] if feature.count is None else ["samples"]
    lines = [
        (
            text(record["cell"]),
            *(text(record[name]) for name in of_class),
            figure(record["own"]),
            signed(record["effect"]),
            *(f"{feature.count[i % len(feature.cells)]:,}" for _ in counts if feature.count is not None),
        )
        for i, record in enumerate(records[:most])
    ]
    return table(("bin", *of_class, "own part, units", "effect", *counts), lines) + more(len(records) - most, "bins")


def _interactions(pairs: Interactions) -> str:
    if len(pairs.indices) < 2:
        return _section("Interactions", "<p>Fewer than two features are in use.</p>")
    intro = (
        f"<p>{100 * float(np.mean(pairs.share)):.0f} % of the variance of the score is interaction of two features,"
        " beyond what each does alone. Strengths are standard deviations in units of the score.</p>"
    )
    heats = "".join(_heat(pairs, i, j) for i, j in pairs.order(MAX_HEATS))
    beside = f"{strength_matrix(pairs, MAX_IN_MATRIX)}<div>{pair_table(pairs, MAX_PAIRS)}</div>"
    about = "<p>What the strongest pairs add together, beyond their own effects:</p>"
    grid = f'{about}{sign_legend(pairs.direction)}<div class="grid">{heats}</div>'
    return _section("Interactions", f'{intro}<div class="beside">{beside}</div>{grid}')


def strength_matrix(pairs: Interactions, most: int) -> str:
    """Return the strengths of the features that interact most, with main effects on the diagonal."""
    count = len(pairs.indices)
    squares = np.square(pairs.strength).reshape(-1, count, count).mean(axis=0)
    squares[np.arange(count), np.arange(count)] = np.square(pairs.main).reshape(-1, count).mean(axis=0)
    kept = np.sort(np.argsort(-squares.sum(axis=0), kind="stable")[:most])
    strength = np.sqrt(squares[np.ix_(kept, kept)])
    picture = svg.matrix([pairs.names[i] for i in kept], strength)
    ends = [number(end) for end in svg.ends_of(strength)]
    colors = legend([("var(--c0)", f"pairs, up to {ends[0]}"), ("var(--c5)", f"main effects, up to {ends[1]}")])
    left = more(count - len(kept), "features, weaker than these, are not drawn")
    return f'<div class="wide">{colors}{picture}{left}</div>'


def pair_table(pairs: Interactions, most: int) -> str:
    """Return the strongest pairs as a table."""
    count, order = len(pairs.indices), pairs.order(most)
    both = np.sqrt(np.square(pairs.strength).reshape(-1, count, count).mean(axis=0))
    top = max((float(both[i, j]) for i, j in order), default=0.0) or 1.0
    lines = [
        (f"{text(pairs.names[i], 40)} × {text(pairs.names[j], 40)}", number(both[i, j], 4), bar(both[i, j] / top))
        for i, j in order
    ]
    return table(("pair", "strength", ""), lines) + more(count * (count - 1) // 2 - len(lines), "pairs")


def _heat(pairs: Interactions, i: int, j: int) -> str:
    """Return the cells of a pair, for the class in which it is strongest."""
    cells = pairs.cells(int(pairs.indices[i]), int(pairs.indices[j]))
    effect, whose = cells.effect, ""
    if len(pairs.classes) > 1:
        k = int(np.argmax(pairs.strength[:, i, j]))
        effect, whose = effect[k], f", class {pairs.classes[k]}"
    picture = heat_with_ends(cells, effect)
    names = f"{escape(cells.names[0])} (down) × {escape(cells.names[1])} (across){escape(whose)}"
    return f"<section><h3>{names}</h3>{picture}</section>" if picture else ""


def heat_with_ends(cells: PairCells, effect: NDArray[np.float64]) -> str:
    """Return the figure of a pair with its range; nothing if it has too many cells to see."""
    picture = svg.heat(cells, effect)
    ends = f"<p class='soft'>from {signed(effect.min(), 3)} to {signed(effect.max(), 3)}</p>"
    return picture + ends if picture else ""


def _section(title: str, body: str) -> str:
    return f"<h2>{title}</h2>{body}\n"
