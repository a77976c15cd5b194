"""The HTML page: size, parameters, effects and interactions of a model."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from binfm._core import __version__
from binfm._text import figure
from binfm.reading.html import svg
from binfm.reading.html.style import CSS
from binfm.reading.interactions import MAX_FEATURES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from binfm.model import Model
    from binfm.reading.effects import Effects, FeatureEffects
    from binfm.reading.interactions import Interactions

KINDS = {
    "bfm": "Binarized factorization machine",
    "sefm": "Factorization machine over bins",
    "dfm": "Discrete factorization machine",
    "fm": "Factorization machine",
}
WEIGHTS = {
    "bfm": "every w and every entry of v is one bit, +1 or −1",
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
MAX_HEAT_CELLS = 1000
"""Cells in the figure of a pair; more would be too small to see."""


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
    body = [_head(model, title), _size(model), _parameters(model)]
    if model.method in ("bfm", "sefm"):  # the others have no bins
        effects = model.effects(X)
        strongest = effects.order()[:MAX_FEATURES]
        body += [_effects(effects), _interactions(model.interactions(X, features=strongest))]
    about = f'<p class="soft">Made by binfm {escape(__version__)}.</p>'
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{CSS}</style></head>\n<body>\n{''.join(body)}{about}</body></html>\n"
    )


def _head(model: Model, title: str) -> str:
    classes = model.classes
    task = "regression" if classes is None else f"{len(classes)} classes: {_few(classes.tolist())}"
    cards = {
        "bytes": f"{model.nbytes:,}",
        "features": f"{model.n_features:,}",
        "parameter rows": f"{model.w.shape[-1]:,}",
        "factors m": str(model.m),
        "tilings": str(model.tilings),
    }
    boxes = "".join(f"<div><b>{value}</b>{name}</div>" for name, value in cards.items())
    kind = KINDS[model.method]
    head = f"<h1>{escape(title)}</h1><p class='soft'>{kind} for {escape(task)}.</p>"
    return f'<header>{head}<div class="cards">{boxes}</div></header>'


def _size(model: Model) -> str:
    report = model.size_report()
    most = max(report.values())
    lines = [
        (escape(part), f"{count:,}", f"{100 * count / model.nbytes:.1f} %", _bar(count / most))
        for part, count in report.items()
    ]
    lines.append(("all", f"{model.nbytes:,}", "100 %", ""))
    return _section("Size", _table(("part of the file", "bytes", "share", ""), lines))


def _parameters(model: Model) -> str:
    lines = [
        ("method", model.method),
        ("loss", escape(model.loss)),
        ("m", str(model.m)),
        ("tilings", str(model.tilings)),
    ]
    for name in ("alpha", "beta", "bias"):
        values = np.ravel(getattr(model, name)).tolist()
        lines.append((name, _few([f"{value:.6g}" for value in values])))
    formula = (
        "<p>score = bias + α · Σ w<sub>r</sub> + β² · Σ<sub>r&lt;s</sub> v<sub>r</sub> · v<sub>s</sub> over the active"
        f" rows r, s; {WEIGHTS[model.method]}.</p>"
    )
    return _section("Parameters", formula + _table(("parameter", "value"), lines))


def _effects(effects: Effects) -> str:
    order = effects.order()
    shown = list(range(len(effects.classes)))[:MAX_CLASSES]
    strengths = np.sqrt((np.atleast_2d(effects.strength) ** 2).mean(axis=0))
    most = float(strengths.max(initial=0)) or 1.0
    text = (
        "<p>What each bin of a feature adds to the score, relative to the mean: its own part and the mean of its parts"
        f" with the other features, with {escape(effects.reference)}. Bins are equally wide, with their edges below."
        f" Mean score: {_few([f'{v:.4g}' for v in np.ravel(effects.mean)])}.</p>"
    )
    lines = [
        (escape(effects.names[j]), f"{strengths[j]:.4g}", _bar(strengths[j] / most), str(_cells(effects, j)))
        for j in order[:MAX_LINES]
    ]
    summary = _table(("feature", "strength", "", "bins"), lines) + _more(len(order) - len(lines), "features")
    panels = "".join(_panel(effects[j], shown) for j in order[:MAX_PANELS])
    left = _more(len(order) - MAX_PANELS, "features, weaker than these, are not drawn")
    legend = _legend([effects.classes[k] for k in shown], len(effects.classes))
    return _section("Effects", f'{text}{summary}{legend}<div class="grid">{panels}</div>{left}')


def _cells(effects: Effects, j: int) -> int:
    return len(effects[j].cells)


def _panel(feature: FeatureEffects, shown: Sequence[int]) -> str:
    records = feature.to_records()
    of_class = ["class"] if feature.classes != (None,) else []
    lines = [
        (
            escape(str(record["cell"])),
            *(escape(str(record[name])) for name in of_class),
            figure(record["own"]),
            f"{record['effect']:+.4g}",
        )
        for record in records[:MAX_LINES]
    ]
    table = _table(("bin", *of_class, "own part, units", "effect"), lines) + _more(len(records) - len(lines), "bins")
    details = f"<details><summary>{len(feature.cells)} bins</summary>{table}</details>"
    return f"<section><h3>{escape(feature.name)}</h3>{svg.shape(feature, shown)}{details}</section>"


def _interactions(pairs: Interactions) -> str:
    if len(pairs.indices) < 2:
        return _section("Interactions", "<p>Fewer than two features are in use.</p>")
    count = len(pairs.indices)
    squares = np.square(pairs.strength).reshape(-1, count, count).mean(axis=0)
    squares[np.arange(count), np.arange(count)] = np.square(pairs.main).reshape(-1, count).mean(axis=0)
    strength = np.sqrt(squares)
    kept = np.sort(np.argsort(-squares.sum(axis=0), kind="stable")[:MAX_IN_MATRIX])
    share = 100 * float(np.mean(pairs.share))
    text = (
        f"<p>{share:.0f} % of the variance of the score is interaction of two features, beyond what each does alone."
        " The matrix shows standard deviations in units of the score; main effects are on the diagonal."
        f" The most saturated color is {strength.max():.3g}.</p>"
    )
    square = svg.matrix([pairs.names[i] for i in kept], strength[np.ix_(kept, kept)])
    order = pairs.order(MAX_PAIRS)
    top = float(max((strength[i, j] for i, j in order), default=0)) or 1.0
    lines = [
        (f"{escape(pairs.names[i])} × {escape(pairs.names[j])}", f"{strength[i, j]:.4g}", _bar(strength[i, j] / top))
        for i, j in order
    ]
    more = _more(count * (count - 1) // 2 - len(lines), "pairs")
    heats = "".join(_heat(pairs, i, j) for i, j in order[:MAX_HEATS])
    listed = f"<div>{_table(('pair', 'strength', ''), lines)}{more}</div>"
    body = f'{text}<div class="beside"><div class="wide">{square}</div>{listed}</div>'
    return _section("Interactions", f'{body}<div class="grid">{heats}</div>')


def _heat(pairs: Interactions, i: int, j: int) -> str:
    """Return the cells of a pair, for the class in which it is strongest."""
    cells = pairs.cells(int(pairs.indices[i]), int(pairs.indices[j]))
    if len(cells.cells[0]) * len(cells.cells[1]) > MAX_HEAT_CELLS:
        return ""
    effect, whose = cells.effect, ""
    if len(pairs.classes) > 1:
        k = int(np.argmax(pairs.strength[:, i, j]))
        effect, whose = effect[k], f", class {pairs.classes[k]}"
    names = f"{escape(cells.names[0])} (down) × {escape(cells.names[1])} (across){escape(whose)}"
    ends = f"<p class='soft'>from {effect.min():+.3g} to {effect.max():+.3g}</p>"
    return f"<section><h3>{names}</h3>{svg.heat(cells, effect)}{ends}</section>"


def _section(title: str, body: str) -> str:
    return f"<h2>{title}</h2>{body}\n"


def _table(head: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    """Return a table whose cells are HTML."""
    top = "".join(f"<th>{name}</th>" for name in head)
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in line)}</tr>" for line in lines)
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table></div>'


def _bar(share: float) -> str:
    return f'<span class="track"><span class="bar" style="width:{100 * share:.1f}%"></span></span>'


def _more(count: int, what: str) -> str:
    return f'<p class="soft">{count:,} more {what}.</p>' if count > 0 else ""


def _legend(classes: Sequence[Any], of: int) -> str:
    if of == 1:
        return ""
    items = "".join(
        f'<span><i style="background:var(--c{k % svg.COLORS})"></i>{escape(str(label))}</span>'
        for k, label in enumerate(classes)
    )
    left = f'<span class="soft">the first {len(classes)} of {of} classes</span>' if len(classes) < of else ""
    return f'<div class="legend">{items}{left}</div>'


def _few(values: Sequence[Any], most: int = 8) -> str:
    return ", ".join(map(str, values[:most])) + (", …" if len(values) > most else "")
