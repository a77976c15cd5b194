"""`binfm.train`, the front door."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from binfm._checks import length, number, one_of, same_length, sized, text, whole
from binfm._inputs import Settings, rows_of, table_for, training_table, weights
from binfm._labels import REGRESSION, Labels, class_numbers, encode_classes, regression_target
from binfm._problem import Problem
from binfm._progress import Callback, Progress
from binfm._tables import is_table, read
from binfm.model import Model

if TYPE_CHECKING:
    from binfm._inputs import Csr, Dense
    from binfm._tables import Names

DEFAULTS: dict[str, Any] = {
    "m": 32, "b": 20, "tilings": 4, "binning": "quantile", "loss": "logistic", "epochs": 30, "learning_rate": 0.02,
    "dropout": 0.0, "ensemble": 1, "polish": 0,
}  # fmt: skip
"""What is not given, unless `max_bytes` has it chosen."""
METHODS = ("bfm", "sefm", "dfm", "fm")
"""The family: which features it sees and which weights are bits."""
HOLDOUT_FROM = 10_000
"""Rows from which `early_stopping="auto"` holds some out: below, they are worth more in training."""


def train(
    X: Any,
    y: Any,
    *,
    m: int | None = None,
    b: int | None = None,
    tilings: int | None = None,
    binning: str | None = None,
    loss: str | None = None,
    method: str = "bfm",
    scaling: bool = True,
    optimizer: str = "adagrad",
    epochs: int | None = None,
    learning_rate: float | None = None,
    lambda_w: float = 0.0,
    lambda_v: float = 0.0,
    dropout: float | None = None,
    ensemble: int | None = None,
    polish: int | None = None,
    categorical: Any = None,
    min_count: float = 1,
    sample_weight: Any = None,
    eval_set: Any = None,
    early_stopping: bool | str = "auto",
    validation_fraction: float = 0.1,
    patience: int = 5,
    max_bytes: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
    callback: Callback | None = None,
) -> Model:
    """Train a binarized factorization machine.

    Parameters
    ----------
    X : array, scipy.sparse matrix or table (pandas, polars, Arrow), n rows by d features
        Any real dtype and memory order, or objects with text in `categorical` columns. NaN and null are a value of
        their own. In a sparse X a zero is absent: it activates nothing. Text and category columns of a table are
        categorical; dates and times are numbers of days.
    y : array of n
        Class labels (integers, floats, booleans or strings), or numbers where `loss` is "squared".
    m : int, default 32
        Number of factors, one bit each a parameter row; from 1 up.
    b : int, default 20
        Number of parameter rows a numeric feature, at most.
    tilings : int, default 4
        Number of shifted grids: rows that each present feature activates; below `b`. 1 is the paper's method.
    binning : {"quantile", "uniform", "supervised"}
        Where a numeric feature is cut: at quantiles, at equal widths, or where the target changes, which is better
        where `b` is small.
    loss : {"logistic", "softmax", "hinge", "squared_hinge", "squared"}, default "logistic"
        "softmax" trains the scores of three and more classes together, which is better where the model is tiny;
        "squared" is regression.
    method : {"bfm", "sefm", "dfm", "fm"}
        Which factorization machine: "bfm" is the binarized one; "sefm" has bins and float weights, "fm" raw values and
        float weights, "dfm" raw values with float w and one-bit factors. The last two use no bins: `b`, `tilings` and
        `binning` do not count, numbers are standardised, and NaN counts as the mean.
    scaling : bool
        Learn the scales alpha and beta; False fixes both at 1.
    optimizer : {"adagrad", "sgd"}
        What steps the proxies take.
    epochs : int, default 30
        Passes over the data, at most.
    learning_rate : float, default 0.02
        Step size of the first epoch.
    lambda_w, lambda_v : float
        Regularization of the linear term and of the factors.
    dropout : float, default 0
        Share of the features that each visit of a row leaves out at random while training: regularization of signs,
        for models of several kilobytes and more.
    ensemble : int, default 1
        Train so many models apart from different random starts, each with its share of the m factors, and join them in
        one file of the same size: steadier, for models of several kilobytes and more. A divisor of `m`.
    polish : int, default 0
        Go so many times over all signs after training and flip each where that lowers the loss of the training rows:
        for models of a few hundred bytes to a few kilobytes, which have no sign to waste.
    categorical : list of column numbers or names, or boolean mask
        Columns whose values are categories.
    min_count : float
        Categories seen fewer times are ignored.
    sample_weight : array of n
        A weight for each row.
    eval_set : (X, y) or (X, y, sample_weight)
        To measure the loss on after each epoch.
    early_stopping : bool or "auto"
        True: stop when the loss on held-out rows no longer falls and return the best epoch. The rows are those of
        `eval_set`, or else some of X. "auto": with an `eval_set`, or from 10,000 rows on.
    validation_fraction : float
        Share of the rows of X to hold out for that.
    patience : int
        Epochs without improvement before stopping.
    max_bytes : int
        The saved file has at most so many bytes. Those of m, b, tilings, binning, loss, epochs, learning_rate, dropout,
        ensemble and polish that are not given, and the features to do without, are then chosen by cross-validation on
        X; `model.search` says what was tried. With "auto", early stopping needs an `eval_set`.
    seed : int
        The same data, parameters and seed give the same bytes on any machine.
    n_jobs : int
        Threads; None is all cores. The result does not depend on it.
    progress : bool
        Show a bar, if tqdm is installed.
    callback : function
        Called as callback(epoch, record) after each epoch; training stops if it returns True.

    Returns
    -------
    Model

    Examples
    --------
    >>> import numpy as np, binfm
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(2000, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = binfm.train(X[:1000], y[:1000], m=8)
    >>> bool(np.mean(model.predict(X[1000:]) == y[1000:]) > 0.95)
    True
    """
    problem, settings, free = prepare(
        X, y, m=m, b=b, tilings=tilings, binning=binning, loss=loss, method=method, scaling=scaling,
        optimizer=optimizer, epochs=epochs, learning_rate=learning_rate, lambda_w=lambda_w, lambda_v=lambda_v,
        dropout=dropout, ensemble=ensemble, polish=polish, categorical=categorical, min_count=min_count,
        sample_weight=sample_weight, eval_set=eval_set, early_stopping=early_stopping,
        validation_fraction=validation_fraction, patience=patience, seed=seed, n_jobs=n_jobs,
        searching=max_bytes is not None,
    )  # fmt: skip
    if callback is not None and not callable(callback):
        raise TypeError(f"callback: got {type(callback).__name__}; accepted is a function of epoch and record")
    found = None
    if max_bytes is not None:
        from binfm.tuning import search

        limit = whole("max_bytes", max_bytes)
        with Progress(progress, None, "fit") as bar:
            settings, found = search(problem, settings, free, limit, bar.advance)
    with Progress(progress, settings.epochs, "epoch") as bar:
        core, history, best = problem.fit(settings, bar.wrap(callback))
    return Model._of(core, history, best, found)


def prepare(
    X: Any,
    y: Any,
    *,
    m: Any = None,
    b: Any = None,
    tilings: Any = None,
    binning: Any = None,
    loss: Any = None,
    method: Any = "bfm",
    scaling: Any = True,
    optimizer: Any = "adagrad",
    epochs: Any = None,
    learning_rate: Any = None,
    lambda_w: Any = 0.0,
    lambda_v: Any = 0.0,
    dropout: Any = None,
    ensemble: Any = None,
    polish: Any = None,
    categorical: Any = None,
    min_count: Any = 1,
    sample_weight: Any = None,
    eval_set: Any = None,
    early_stopping: Any = "auto",
    validation_fraction: Any = 0.1,
    patience: Any = 5,
    seed: Any = 0,
    n_jobs: Any = None,
    searching: bool = False,
    classes: Any = None,
) -> tuple[Problem, Settings, frozenset[str]]:
    """Check what the user gave; return the data and the settings for the core, and which settings were left open.

    `classes` are the labels there can be, where y need not have them all.
    """
    open_or_given = {
        "m": m, "b": b, "tilings": tilings, "binning": binning, "loss": loss, "epochs": epochs,
        "learning_rate": learning_rate, "dropout": dropout, "ensemble": ensemble, "polish": polish,
    }  # fmt: skip
    free = frozenset(name for name, value in open_or_given.items() if value is None)
    given = DEFAULTS | {name: value for name, value in open_or_given.items() if value is not None}
    one_of("method", method, METHODS)
    if searching and method != "bfm":
        raise ValueError(f"max_bytes: got method {method!r}; accepted is method 'bfm'")
    one_of("loss", given["loss"], ("logistic", "softmax", "hinge", "squared_hinge", "squared"))
    if early_stopping not in ("auto", True, False):
        raise ValueError(f"early_stopping: got {early_stopping!r}; accepted are 'auto', True and False")
    min_count = number("min_count", min_count)
    X = read(X) if is_table(X) else X  # once: a stream of columns ends
    weight = weights(sample_weight, "sample_weight", length(X))
    table, columns, vocabularies, names = training_table(X, categorical, weight, min_count)
    target, labels = (regression_target(y, "y"), REGRESSION) if loss == "squared" else _classes(y, classes)
    same_length("X", rows_of(table), "y", len(target))
    valid = evaluation(eval_set, labels, vocabularies, names)
    if searching and early_stopping == "auto" and valid is None:
        early_stopping = False  # the search chooses the number of epochs
    early, holdout = early_stop(early_stopping, validation_fraction, valid is not None, len(target))
    settings = Settings(
        method=method,
        m=whole("m", given["m"]),
        b=whole("b", given["b"]),
        tilings=whole("tilings", given["tilings"]),
        binning=text("binning", given["binning"]),
        loss=given["loss"],
        scaling=bool(scaling),
        optimizer=text("optimizer", optimizer),
        epochs=whole("epochs", given["epochs"]),
        learning_rate=number("learning_rate", given["learning_rate"]),
        lambda_w=number("lambda_w", lambda_w),
        lambda_v=number("lambda_v", lambda_v),
        dropout=number("dropout", given["dropout"]),
        ensemble=whole("ensemble", given["ensemble"]),
        polish=whole("polish", given["polish"]),
        categorical=columns,
        leave_out=(),
        min_count=min_count,
        early_stopping=early,
        holdout=holdout,
        patience=whole("patience", patience),
        seed=whole("seed", seed),
        n_jobs=None if n_jobs is None else whole("n_jobs", n_jobs),
    )
    return Problem(table, target, weight, labels, vocabularies, names, valid), settings, free


def _classes(y: Any, classes: Any) -> tuple[Any, Labels]:
    """Return class numbers and labels: those of `classes`, or else those that y has."""
    if len(sized("y", y)) == 0:
        raise ValueError("y: got no rows; accepted is one row or more")
    if classes is None:
        return encode_classes(y)
    _, labels = encode_classes(classes)
    return class_numbers(y, labels, "y"), labels


def evaluation(
    eval_set: Any, labels: Labels, vocabularies: dict[int, list[str]], names: Names
) -> tuple[Dense | Csr, Any, Any] | None:
    """Return the rows to measure the loss on, read as those of training were."""
    if eval_set is None:
        return None
    if not isinstance(eval_set, tuple | list) or len(eval_set) not in (2, 3):
        raise ValueError("eval_set: got something else than (X, y) or (X, y, sample_weight), which are accepted")
    try:
        table = table_for(eval_set[0], vocabularies, frozenset, names)
    except (ValueError, TypeError) as error:
        raise type(error)(f"eval_set: {error}") from None
    name = "eval_set's y"
    regression = labels is REGRESSION
    target = regression_target(eval_set[1], name) if regression else class_numbers(eval_set[1], labels, name)
    same_length("eval_set's X", rows_of(table), name, len(target))
    weight = weights(eval_set[2] if len(eval_set) == 3 else None, "eval_set's sample_weight", len(target))
    return table, target, weight


def early_stop(early_stopping: bool | str, fraction: Any, has_eval_set: bool, rows: int) -> tuple[bool, float]:
    """Return whether to stop early, and the share of the rows to hold out for that."""
    share = number("validation_fraction", fraction)
    if not 0 < share < 1:
        raise ValueError(f"validation_fraction: got {share!r}; accepted are numbers between 0 and 1")
    early = (has_eval_set or rows >= HOLDOUT_FROM) if early_stopping == "auto" else bool(early_stopping)
    return early, share if early and not has_eval_set else 0.0
