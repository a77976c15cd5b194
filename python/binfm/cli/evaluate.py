"""`binfm evaluate`: how good a model is on the rows of a file."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from binfm._progress import Progress
from binfm.cli._data import Source, add_arguments
from binfm.cli._messages import naming, on_terminal, tell
from binfm.cli._models import batches, load_model, truths
from binfm.model import Model
from binfm.parameters import PROBABLE


def add(commands: Any) -> None:
    """Add the command and its arguments."""
    parser = commands.add_parser("evaluate", help="measure a model on a file", description=__doc__)
    parser.add_argument("model", metavar="MODEL", help="a saved model; - is standard input")
    add_arguments(parser, "rows with their target")
    parser.add_argument("--target", metavar="COLUMN", help="what the model predicts (LIBSVM files have labels instead)")
    parser.add_argument("--n-jobs", type=int, metavar="N", help="threads (all cores)")
    parser.add_argument("--json", action="store_true", help="report as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Score batch after batch, then compare."""
    model = load_model(args.model)
    truth: list[Any] = []
    said: list[Any] = []
    with (
        Source.opened(args.data, args) as source,
        Progress(on_terminal(), None, "batch") as bar,
        naming(source.name, args.target),
    ):
        if args.target is None and not source.is_sparse:
            raise ValueError(
                f"{source.name}: got no --target; accepted is one of its columns: {', '.join(source.columns())}"
            )
        for batch in batches(model, source, args.target):
            truth.append(truths(batch, source, args.target))
            said.append(_answer(model, batch.X, args.n_jobs))
            bar.advance()
        rows = sum(map(len, truth))
        if rows == 0:
            raise ValueError(f"{source.name}: got no rows; accepted is one or more")
        report = measures(model, np.concatenate(truth), np.concatenate(said), source.name)
    tell({"rows": rows, **report}, args.json)


def measures(model: Model, truth: Any, said: Any, data: str) -> dict[str, Any]:
    """Return the usual measures of what the model said of rows whose truth is known."""
    try:
        from sklearn import metrics
    except ImportError:
        raise ImportError("binfm evaluate needs scikit-learn: pip install 'binfm[cli]'") from None
    classes = model.classes
    if classes is None:
        numbers = truth.astype(float)
        return {
            "RMSE": float(np.sqrt(metrics.mean_squared_error(numbers, said))),
            "MAE": float(metrics.mean_absolute_error(numbers, said)),
            **({"R2": float(metrics.r2_score(numbers, said))} if len(numbers) > 1 else {}),
        }
    numbers = _class_numbers(truth, classes, data)
    chosen = said.argmax(axis=1)
    report = {
        "accuracy": float(metrics.accuracy_score(numbers, chosen)),
        "balanced accuracy": float(metrics.recall_score(numbers, chosen, average="macro", zero_division=0.0)),
    }
    if model.loss in PROBABLE:
        report["log loss"] = float(metrics.log_loss(numbers, said, labels=range(len(classes))))
    if len(classes) == 2 and len(np.unique(numbers)) == 2:
        report["AUC"] = float(metrics.roc_auc_score(numbers, said[:, 1] - said[:, 0]))
    return report


def _answer(model: Model, X: Any, n_jobs: int | None) -> Any:
    """Return numbers, or a column for each class of which the largest is the prediction."""
    if model.classes is not None and model.loss in PROBABLE:
        return model.predict_proba(X, n_jobs=n_jobs)
    scores = model.decision_function(X, n_jobs=n_jobs)
    return np.column_stack([-scores, scores]) if model.classes is not None and scores.ndim == 1 else scores


def _class_numbers(truth: Any, classes: Any, data: str) -> Any:
    known = {label: number for number, label in enumerate(classes.tolist())}
    other = next((label for label in truth.tolist() if label not in known), None)
    if other is not None:
        raise ValueError(
            f"{data}: got the class {other!r}; accepted are those of training: {', '.join(map(str, known))}"
        )
    return np.array([known[label] for label in truth.tolist()])
