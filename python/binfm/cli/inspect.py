"""`binfm inspect`: show what a model is made of."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from binfm._text import number, table
from binfm.attributes import Feature
from binfm.card import card_lines
from binfm.cli._messages import tell
from binfm.cli._models import load_model
from binfm.model import Model
from binfm.reading import html_report

SHOWN = 40
"""Maximum number of characters for the values of a feature."""


def add(commands: Any) -> None:
    """Add the command and its arguments."""
    parser = commands.add_parser("inspect", help="show what a model is made of", description=__doc__)
    parser.add_argument("model", metavar="MODEL", help="a saved model; - is standard input")
    parser.add_argument(
        "--device", metavar="NAME", help='what it needs there: "avr", "cortex-m0", "cortex-m3" or "riscv32"'
    )
    parser.add_argument("--html", metavar="PAGE", help="write effects and interactions to a self-contained HTML page")
    parser.add_argument("--json", action="store_true", help="report as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Print the summary and the features."""
    model = load_model(args.model)
    if args.html is not None:
        Path(args.html).write_text(html_report(model, title=Path(args.model).name), encoding="utf-8")
    report = summary(model, args.device)
    features = [feature_report(model, j, feature) for j, feature in enumerate(model.features)]
    if args.json:
        tell({**report, "features": features, **({} if model.card is None else {"card": model.card})}, True)
        return
    tell({**report, "features": len(features)}, False)
    head = ["feature", "kind", "cells", "rows", "missing", "values"]
    print(table(head, [[_cell(feature[name]) for name in head] for feature in features], left=0))
    if model.card is not None:
        print()
        tell({f"card {name}": value for name, value in card_lines(model.card)}, False)


def summary(model: Model, device: str | None) -> dict[str, Any]:
    """Return the facts about the model as a whole."""
    classes = model.classes
    sizes = model.size_report()
    on_device = {} if device is None else {f"{device} {name}": size for name, size in model.size_report(device).items()}
    return {
        "task": "regression" if classes is None else "classification",
        **({} if classes is None else {"classes": classes}),
        "method": model.method,
        "loss": model.loss,
        "m": model.m,
        "w_bits": model.w_bits,
        "tilings": model.tilings,
        "alpha": model.alpha,
        "beta": model.beta,
        "bias": model.bias,
        "bytes": model.nbytes,
        **{f"bytes of {name}": size for name, size in sizes.items()},
        **on_device,
    }


def feature_report(model: Model, number: int, feature: Feature) -> dict[str, Any]:
    """Return the facts about a feature."""
    return {
        "feature": number if model.feature_names is None else model.feature_names[number],
        "kind": feature.kind,
        "cells": feature.cells,
        "rows": len(feature.rows),
        "missing": feature.missing_row is not None,
        "values": list(feature.categories) or [float(edge) for edge in feature.edges],
    }


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    if not isinstance(value, list):
        return str(value)
    text = " ".join(number(v, 4) if isinstance(v, float) else str(v) for v in value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
