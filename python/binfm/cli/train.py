"""`binfm train`: a model from a file of data."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from binfm.cli._data import Source, add_arguments
from binfm.cli._messages import naming, on_terminal, tell
from binfm.cli._output import check_folder
from binfm.model import Model
from binfm.training import METHODS, train

YES_NO = {"yes": True, "no": False, "auto": "auto"}


def add(commands: Any) -> None:
    """Add the command and its arguments."""
    parser = commands.add_parser("train", help="train a model on a file", description=__doc__)
    add_arguments(parser, "rows to learn from")
    parser.add_argument(
        "-o", "--output", required=True, metavar="MODEL", help="where to save the model; - is standard output"
    )
    parser.add_argument("--target", metavar="COLUMN", help="what to predict (LIBSVM files have labels instead)")
    parser.add_argument("--regression", action="store_true", help="predict numbers, not classes")
    parser.add_argument("--valid", metavar="DATA", help="rows to choose the number of epochs on")
    parser.add_argument("--weight", metavar="COLUMN", help="weights of the rows")
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="COLUMN", help="not to learn from; may be repeated"
    )
    parser.add_argument("--json", action="store_true", help="report as JSON")
    _add_parameters(parser.add_argument_group("training, as in binfm.train"))
    parser.set_defaults(run=run)


def _add_parameters(group: Any) -> None:
    """Add the parameters of `binfm.train`; only those that are given are passed on."""
    for name, kind, text in (
        ("max-bytes", int, "size of the file at most; what is not given below is then chosen by cross-validation"),
        ("m", int, "factors, one bit each a parameter row (32)"),
        ("b", int, "parameter rows a numeric feature (20)"),
        ("tilings", int, "shifted grids (4)"),
        ("epochs", int, "passes over the data, at most (30)"),
        ("learning-rate", float, "step size of the first epoch (0.02)"),
        ("lambda-w", float, "regularization of the linear term (0)"),
        ("lambda-v", float, "regularization of the factors (0)"),
        ("dropout", float, "share of the features left out of each row at random while training (0)"),
        ("ensemble", int, "models trained apart and joined in one, a divisor of m (1)"),
        ("polish", int, "passes over all signs after training, each flipped where that helps (0)"),
        ("min-count", float, "categories seen fewer times are ignored (1)"),
        ("validation-fraction", float, "share of the rows held out for early stopping (0.1)"),
        ("patience", int, "epochs without improvement before stopping (5)"),
        ("seed", int, "the same seed gives the same model (0)"),
        ("n-jobs", int, "threads (all cores)"),
    ):
        group.add_argument(f"--{name}", type=kind, metavar="N", default=argparse.SUPPRESS, help=text)
    for name, choices, text in (
        ("method", METHODS, "which factorization machine (bfm)"),
        ("loss", ("logistic", "softmax", "hinge", "squared_hinge"), "of classes (logistic)"),
        ("binning", ("quantile", "uniform", "supervised"), "of numbers (quantile)"),
        ("optimizer", ("adagrad", "sgd"), "(adagrad)"),
        ("early-stopping", tuple(YES_NO), "stop when held-out rows no longer gain (auto: from 10,000 rows on)"),
    ):
        group.add_argument(f"--{name}", choices=choices, default=argparse.SUPPRESS, help=text)
    group.add_argument("--no-scaling", dest="scaling", action="store_false", default=argparse.SUPPRESS)
    group.add_argument(
        "--categorical", action="append", metavar="COLUMN", default=argparse.SUPPRESS,
        help="whose numbers are categories, as text always is; may be repeated",
    )  # fmt: skip


PASSED_ON = (
    "max_bytes", "m", "b", "tilings", "epochs", "learning_rate", "lambda_w", "lambda_v", "dropout", "ensemble",
    "polish", "min_count", "method", "validation_fraction", "patience", "seed", "n_jobs", "loss", "binning",
    "optimizer", "scaling", "categorical",
)  # fmt: skip


def run(args: argparse.Namespace) -> None:
    """Read, train, save, report."""
    check_folder(args.output)
    settings = {name: getattr(args, name) for name in PASSED_ON if hasattr(args, name)}
    if hasattr(args, "early_stopping"):
        settings["early_stopping"] = YES_NO[args.early_stopping]
    if args.regression:
        if "loss" in settings:
            raise ValueError("--loss: got a loss of classes together with --regression; accepted is one of them")
        settings["loss"] = "squared"
    with Source.opened(args.data, args) as source:
        X, y, weight, left_out = examples(source, args)
    eval_set = None
    if args.valid is not None:
        with Source.opened(args.valid, args) as source:
            X_valid, y_valid, weight_valid, _ = examples(source, args, features=X.shape[1])
            eval_set = (X_valid, y_valid, weight_valid)
    with naming(source.name if args.data == "-" else args.data, args.target):
        model = train(X, y, sample_weight=weight, eval_set=eval_set, progress=on_terminal(), **settings)
    if args.output == "-":
        sys.stdout.buffer.write(model.to_bytes())
        return
    model.save(args.output)
    tell(report(model, args.output, X.shape[0], left_out), args.json)


def examples(source: Source, args: argparse.Namespace, features: int | None = None) -> tuple[Any, Any, Any, int]:
    """Return features, target, weights, and the number of rows that have no target and were left out."""
    if source.is_sparse:
        X, y = source.stored(features)
        return X, _checked(y, source, None, args.regression), None, 0
    if args.target is None:
        raise ValueError(
            f"{source.name}: got no --target; accepted is one of its columns: {', '.join(source.columns())}"
        )
    columns = source.columns()
    for flag, names in (("target", [args.target]), ("weight", [args.weight]), ("ignore", args.ignore)):
        for name in names:
            if name is not None and name not in columns:
                raise ValueError(f"{source.name}: got no column {name!r} for --{flag}; it has {', '.join(columns)}")
    table = source.table([])
    known = table.filter(table[args.target].is_not_null())
    if len(known) == 0:
        raise ValueError(f"{source.name}: got no rows with a value in column {args.target!r}; accepted is one or more")
    y = _checked(known[args.target].to_numpy(), source, args.target, args.regression)
    weight = None if args.weight is None else known[args.weight].to_numpy()
    X = known.drop([args.target, *([args.weight] if args.weight else []), *args.ignore])
    return X, y, weight, len(table) - len(known)


def _checked(y: Any, source: Source, target: str | None, regression: bool) -> Any:
    """Refuse fractions as class labels: they are hardly meant so."""
    if not regression and y.dtype.kind == "f" and (y != y.astype(int)).any():
        where = "labels" if target is None else f"column {target!r}"
        raise ValueError(f"{source.name}: {where} holds fractions; accepted are classes, or numbers with --regression")
    return y


def report(model: Model, path: str, rows: int, left_out: int) -> dict[str, Any]:
    """Return what is worth knowing of a new model."""
    last = model.history[(model.best_epoch or len(model.history)) - 1]
    classes = model.classes
    return {
        "model": path,
        "bytes": model.nbytes,
        "rows": rows,
        **({"rows without target": left_out} if left_out else {}),
        "features": model.n_features,
        **({} if classes is None else {"classes": classes}),
        "m": model.m,
        "tilings": model.tilings,
        "epochs": len(model.history),
        **{name: value for name, value in last.items() if name != "epoch"},
        **({} if model.search is None else {f"{model.search.metric} (cross-validated)": model.search.chosen["score"]}),
    }
