"""`binfm predict`: predict the rows of a file."""

from __future__ import annotations

import argparse
from typing import Any

from binfm._progress import Progress
from binfm.cli._data import Source, add_arguments
from binfm.cli._messages import add_progress, naming, progress_of, tell
from binfm.cli._models import Batch, batches, load_model
from binfm.cli._output import output_to
from binfm.model import Model


def add(commands: Any) -> None:
    """Add the command and its arguments."""
    parser = commands.add_parser("predict", help="predict the rows of a file", description=__doc__)
    parser.add_argument("model", metavar="MODEL", help="a saved model; - is standard input")
    add_arguments(parser, "samples to predict")
    parser.add_argument(
        "-o", "--output", default="-", metavar="FILE", help="CSV, TSV, NDJSON or Parquet (default: CSV to -)"
    )
    parser.add_argument("--probabilities", action="store_true", help="add the probability of each class")
    parser.add_argument("--scores", action="store_true", help="add the scores")
    parser.add_argument(
        "--keep", action="append", default=[], metavar="COLUMN", help="column to copy from the data; may be repeated"
    )
    parser.add_argument("--n-jobs", type=int, metavar="N", help="number of threads (default: all cores)")
    parser.add_argument(
        "--json", action="store_true", help="NDJSON to standard output, or a report of what was written"
    )
    add_progress(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Score batch after batch."""
    model = load_model(args.model)
    to_pipe = args.output == "-"
    progress = progress_of("no" if to_pipe and args.progress == "auto" else args.progress)
    with (
        Source.opened(args.data, args) as source,
        output_to(args.output, "ndjson" if to_pipe and args.json else None) as output,
        Progress(progress, source.rows, "row", "predicting") as bar,
        naming(source.name),
    ):
        for batch in batches(model, source):
            output.write(predictions(model, batch, args))
            bar.advance(batch.X.shape[0])
    if not to_pipe:
        report = {"predictions": args.output, "rows": output.rows}
        if args.json:
            tell(report, True)


def predictions(model: Model, batch: Batch, args: argparse.Namespace) -> Any:
    """Return a table of predictions."""
    import polars

    missing = [name for name in args.keep if batch.table is None or name not in batch.table.columns]
    if missing:
        raise ValueError(f"--keep must be a column of the data, got {missing[0]!r}")
    columns: dict[str, Any] = {name: batch.table[name] for name in args.keep}
    columns["prediction"] = model.predict(batch.X, n_jobs=args.n_jobs)
    if args.probabilities:
        columns |= _by_class("probability", model, model.predict_proba(batch.X, n_jobs=args.n_jobs))
    if args.scores:
        columns |= _by_class("score", model, model.decision_function(batch.X, n_jobs=args.n_jobs))
    return polars.DataFrame(columns)


def _by_class(name: str, model: Model, values: Any) -> dict[str, Any]:
    classes = model.classes
    if values.ndim == 1 or classes is None:
        return {name: values}
    return {f"{name}_{label}": values[:, k] for k, label in enumerate(classes)}
