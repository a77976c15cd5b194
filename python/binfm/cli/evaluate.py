"""`binfm evaluate`: measure a model on a file of data."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from binfm._progress import Progress
from binfm.attributes import PROBABILISTIC
from binfm.cli._data import Source, add_arguments
from binfm.cli._messages import add_progress, naming, progress_of, tell
from binfm.cli._models import batches, load_model, truths
from binfm.model import Model

LEAST = float(np.finfo(float).tiny)
"""scikit-learn's deviance needs predictions above 0."""


def add(commands: Any) -> None:
    """Add the command and its arguments."""
    parser = commands.add_parser("evaluate", help="measure a model on a file", description=__doc__)
    parser.add_argument("model", metavar="MODEL", help="a saved model; - is standard input")
    add_arguments(parser, "samples with their target")
    parser.add_argument("--target", metavar="COLUMN", help="column to compare with (LIBSVM files have labels instead)")
    parser.add_argument("--n-jobs", type=int, metavar="N", help="number of threads (default: all cores)")
    parser.add_argument("--json", action="store_true", help="report as JSON")
    add_progress(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Score batch after batch, then compare."""
    model = load_model(args.model)
    truth: list[Any] = []
    predicted: list[Any] = []
    with (
        Source.opened(args.data, args) as source,
        Progress(progress_of(args.progress), source.rows, "row", "evaluating") as bar,
        naming(source.name, args.target),
    ):
        if args.target is None and not source.is_sparse:
            raise ValueError(f"{source.name}: --target must be one of its columns, {', '.join(source.columns())}")
        for batch in batches(model, source, args.target):
            truth.append(truths(batch, source, args.target))
            predicted.append(_predicted(model, batch.X, args.n_jobs))
            bar.advance(batch.X.shape[0])
        rows = sum(map(len, truth))
        if rows == 0:
            raise ValueError(f"{source.name} must have at least one row, got none")
        report = metrics_of(model, np.concatenate(truth), np.concatenate(predicted), source.name)
    tell({"rows": rows, **report}, args.json)


def metrics_of(model: Model, truth: Any, predicted: Any, data: str) -> dict[str, Any]:
    """Return the usual metrics of predictions."""
    try:
        from sklearn import metrics
    except ImportError:
        raise ImportError("binfm evaluate needs scikit-learn: pip install 'binfm[cli]'") from None
    classes = model.classes
    if classes is None:
        numbers = truth.astype(float)
        more: dict[str, Any] = {}
        if model.loss == "poisson" and numbers.min() >= 0:
            more["Poisson deviance"] = float(metrics.mean_poisson_deviance(numbers, np.maximum(predicted, LEAST)))
        if model.loss == "quantile":
            more["share below"] = float(np.mean(numbers <= predicted))
        return {
            "RMSE": float(np.sqrt(metrics.mean_squared_error(numbers, predicted))),
            "MAE": float(metrics.mean_absolute_error(numbers, predicted)),
            **({"R2": float(metrics.r2_score(numbers, predicted))} if len(numbers) > 1 else {}),
            **more,
        }
    numbers = _class_numbers(truth, classes, data)
    chosen = predicted.argmax(axis=1)
    report = {
        "accuracy": float(metrics.accuracy_score(numbers, chosen)),
        "balanced accuracy": float(metrics.recall_score(numbers, chosen, average="macro", zero_division=0.0)),
    }
    if model.loss in PROBABILISTIC:
        report["log loss"] = float(metrics.log_loss(numbers, predicted, labels=range(len(classes))))
    if len(classes) == 2 and len(np.unique(numbers)) == 2:
        report["AUC"] = float(metrics.roc_auc_score(numbers, predicted[:, 1] - predicted[:, 0]))
    return report


def _predicted(model: Model, X: Any, n_jobs: int | None) -> Any:
    """Return numbers, or a column per class, the largest of which is the prediction."""
    if model.classes is not None and model.loss in PROBABILISTIC:
        return model.predict_proba(X, n_jobs=n_jobs)
    if model.classes is None:
        return model.predict(X, n_jobs=n_jobs)
    scores = model.decision_function(X, n_jobs=n_jobs)
    return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores


def _class_numbers(truth: Any, classes: Any, data: str) -> Any:
    known = {label: number for number, label in enumerate(classes.tolist())}
    other = next((label for label in truth.tolist() if label not in known), None)
    if other is not None:
        raise ValueError(f"{data} must only have classes of training, {', '.join(map(str, known))}, got {other!r}")
    return np.array([known[label] for label in truth.tolist()])
