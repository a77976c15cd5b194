"""`binfm train`: train a model on a file of data."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import Any

from binfm._checks import listed
from binfm.attributes import OF_NUMBERS
from binfm.cli._cache import cached, is_pattern
from binfm.cli._cells import text_among_numbers
from binfm.cli._data import Source, add_arguments
from binfm.cli._messages import add_progress, naming, progress_of, tell
from binfm.cli._output import check_folder
from binfm.data.targets import learn_labels, why_numbers
from binfm.model import Model
from binfm.params import DEFAULTS, PARAMETERS, TYPES
from binfm.training import train

EARLY_STOPPING = {"yes": True, "no": False, "auto": "auto"}
NOT_FLAGS = ("progress", "callback", "target")
"""Parameters that are not for the command line, or that mean something else there."""


def add(commands: Any) -> None:
    """Add the command and its arguments."""
    parser = commands.add_parser("train", help="train a model on a file", description=__doc__)
    add_arguments(parser, "samples to learn from")
    parser.add_argument(
        "-o", "--output", required=True, metavar="MODEL", help="where to save the model; - is standard output"
    )
    parser.add_argument("--target", metavar="COLUMN", help="column to predict (LIBSVM files have labels instead)")
    parser.add_argument("--regression", action="store_true", help="predict numbers, not classes")
    parser.add_argument("--valid", metavar="DATA", help="samples for early stopping")
    parser.add_argument("--weight", metavar="COLUMN", help="column of sample weights")
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="COLUMN", help="column not to learn from; may be repeated"
    )
    parser.add_argument(
        "--cache",
        metavar="PATH",
        help="file of encoded samples, for data larger than memory: written unless it is there, and trained on",
    )
    parser.add_argument("--no-names", action="store_true", help="save no column names, which a device does not need")
    parser.add_argument("--no-labels", action="store_true", help="save no class labels: predict 0, 1, 2, … instead")
    parser.add_argument(
        "--budget-for",
        choices=PARAMETERS["target"].choices,
        help="what --max-bytes counts: the file, or what a device has of it (default: what is saved)",
    )
    parser.add_argument(
        "--card", nargs="?", const=True, metavar="TEXT", help="save where the model comes from, and perhaps a text"
    )
    parser.add_argument("--json", action="store_true", help="report as JSON")
    add_progress(parser)
    group = parser.add_argument_group("training, as in binfm.train")
    for name in PARAMETERS:
        if name not in NOT_FLAGS:
            group.add_argument(_flag(name), dest=name, default=argparse.SUPPRESS, **_options(name))
    parser.set_defaults(run=run)


def _flag(name: str) -> str:
    return ("--no-" if DEFAULTS[name] is True else "--") + name.replace("_", "-")


def _options(name: str) -> dict[str, Any]:
    """Return how argparse is to read a parameter; only those given are passed on."""
    spec, default = PARAMETERS[name], DEFAULTS[name]
    text = spec.doc[0].lower() + spec.doc[1:].rstrip(".")
    if default is True:
        return {"action": "store_false", "help": f"do not {text}"}
    if name == "categorical":
        return {"action": "append", "metavar": "COLUMN", "help": f"{text}; may be repeated"}
    text += "" if default is None else f" (default: {default})"
    if name == "early_stopping":
        return {"choices": tuple(EARLY_STOPPING), "help": text}
    if spec.choices:
        return {"choices": spec.choices, "help": text}
    if name == "regularization":
        return {"type": _number_or_auto, "metavar": "N", "help": text}
    if name == "class_weight":
        return {"metavar": "WEIGHTS", "help": f"{text}: balanced, or LABEL=WEIGHT,LABEL=WEIGHT,…"}
    if name in ("eval_metric", "scoring"):
        return {"metavar": "NAME", "help": f"{text}, such as auc or log_loss"}
    return {"type": {"int": int, "float": float}[TYPES[name]], "metavar": "N", "help": text}


def _class_weight(text: str, y: Any) -> Any:
    """Return the weights of classes, whose labels are here text."""
    if text == "balanced":
        return text
    labels = {str(label): label for label in set(y.tolist())}
    weights = {}
    for part in text.split(","):
        label, _, weight = part.rpartition("=")
        try:
            weights[labels.get(label, label)] = float(weight)
        except ValueError:
            must = "be balanced or have the form LABEL=WEIGHT,LABEL=WEIGHT"
            raise ValueError(f"--class-weight must {must}, got {text!r}") from None
    return weights


def _number_or_auto(text: str) -> float | str:
    return text if text == "auto" else float(text)


def run(args: argparse.Namespace) -> None:
    """Read, train, save, report."""
    check_folder(args.output)
    given = {name: getattr(args, name) for name in PARAMETERS if name not in NOT_FLAGS and hasattr(args, name)}
    if "early_stopping" in given:
        given["early_stopping"] = EARLY_STOPPING[given["early_stopping"]]
    loss = given.get("loss", "squared" if args.regression else None)
    if args.regression and loss not in OF_NUMBERS:
        raise ValueError(f"--loss must be {listed(OF_NUMBERS)} with --regression, got {loss!r}")
    if args.regression or loss in OF_NUMBERS:
        args.regression, given["loss"] = True, loss
    given["target"] = args.budget_for or ("device" if args.no_names and args.no_labels else "file")
    if args.cache is not None or is_pattern(args.data):
        with cached(args, given) as cache:
            eval_set = None if args.valid is None else validation(args, len(cache.columns()))
            model = train(cache, eval_set=eval_set, progress=progress_of(args.progress), **given)
        finish(model, args, len(cache), 0, is_sparse=False)
        return
    with Source.opened(args.data, args) as source:
        X, y, weight, left_out = examples(source, args)
    if "class_weight" in given:
        given["class_weight"] = _class_weight(given["class_weight"], y)
    eval_set = None if args.valid is None else validation(args, X.shape[1])
    with naming(source.name if args.data == "-" else args.data, args.target):
        model = train(X, y, sample_weight=weight, eval_set=eval_set, progress=progress_of(args.progress), **given)
    finish(model, args, X.shape[0], left_out, is_sparse=source.is_sparse)


def validation(args: argparse.Namespace, features: int) -> tuple[Any, Any, Any]:
    """Return the samples of --valid."""
    with Source.opened(args.valid, args) as source:
        X, y, weight, _ = examples(source, args, features=features)
    return X, y, weight


def finish(model: Model, args: argparse.Namespace, samples: int, left_out: int, *, is_sparse: bool) -> None:
    """Save the model and report."""
    content: dict[str, Any] = {"names": not args.no_names, "labels": not args.no_labels, "card": args.card}
    blob = model.to_bytes(**content)
    if args.output == "-":
        sys.stdout.buffer.write(blob)
        return
    model.save(args.output, **content)
    told = report(model, args.output, len(blob), samples, left_out)
    tell({**told, "columns": model.features.to_records()} if args.json else told, args.json)
    if not args.json and not is_sparse:
        print(f"\n{model.features}")


def examples(source: Source, args: argparse.Namespace, features: int | None = None) -> tuple[Any, Any, Any, int]:
    """Return features, target, weights, and the number of samples left out for lack of a target."""
    if source.is_sparse:
        X, y = source.stored(features)
        return X, _checked(y, source, None, args.regression), None, 0
    if args.target is None:
        raise ValueError(f"{source.name}: --target must be one of its columns, {', '.join(source.columns())}")
    columns = source.columns()
    for flag, names in (("target", [args.target]), ("weight", [args.weight]), ("ignore", args.ignore)):
        for name in names:
            if name is not None and name not in columns:
                known = ", ".join(columns)
                raise ValueError(f"{source.name}: --{flag} must be one of its columns, {known}, got {name!r}")
    table = source.table([])
    if source.is_csv:
        used = [name for name in columns if name not in (args.target, *args.ignore)]
        kept = getattr(args, "categorical", None) or []
        cell = text_among_numbers(table, [name for name in used if name not in kept])
        advice = "" if cell is None else f", --categorical {shlex.quote(cell.column)} reads the column as categories"
        source.refuse_text(cell, "holds numbers, but", advice)
        if args.regression:
            source.refuse_text(text_among_numbers(table, [args.target]), "must hold numbers, got")
    known = table.filter(table[args.target].is_not_null())
    if len(known) == 0:
        raise ValueError(f"{source.name} must have at least one row with a value in column {args.target!r}, got none")
    y = _checked(known[args.target].to_numpy(), source, args.target, args.regression)
    weight = None if args.weight is None else known[args.weight].to_numpy()
    X = known.drop([args.target, *([args.weight] if args.weight else []), *args.ignore])
    return X, y, weight, len(table) - len(known)


def _checked(y: Any, source: Source, target: str | None, regression: bool) -> Any:
    """Refuse numbers as class labels, which are hardly intended."""
    if not regression and y.dtype.kind in "fiu":
        reason = why_numbers(learn_labels(y, None), len(y))
        if reason:
            where = "labels" if target is None else f"column {target!r}"
            raise ValueError(f"{source.name}: {where} must hold classes, got {reason}; --regression predicts numbers")
    return y


def report(model: Model, path: str, size: int, rows: int, left_out: int) -> dict[str, Any]:
    """Return what is worth knowing about a new model."""
    last = model.history[(model.best_epoch or len(model.history)) - 1]
    classes = model.classes
    return {
        "model": path,
        "bytes": size,
        "rows": rows,
        **({"rows without target": left_out} if left_out else {}),
        "features": model.n_features,
        **({} if classes is None else {"classes": classes}),
        "m": model.m,
        "tilings": model.tilings,
        "epochs": len(model.history),
        **{name: value for name, value in last.items() if name != "epoch"},
        **({} if model.search is None else {f"cross-validated {model.search.metric}": model.search.chosen["score"]}),
    }
