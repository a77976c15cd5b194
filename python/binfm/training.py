"""`binfm.train`, the front door, and the trainer behind it and behind the estimators."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from binfm import _core
from binfm._progress import Preparing, Progress, Reporter
from binfm.data.dataset import Dataset
from binfm.features import column_facts
from binfm.model import Model
from binfm.monitor import Callback, Monitor
from binfm.params import Params, documented

if TYPE_CHECKING:
    from collections.abc import Callable

    from binfm.cache.cache import Stored
    from binfm.features import ColumnFacts
    from binfm.search.search import Search


@documented()
def train(
    X: Any,
    y: Any = None,
    *,
    m: int | None = None,
    w_bits: int | None = None,
    b: int | None = None,
    tilings: int | None = None,
    binning: str | None = None,
    loss: str | None = None,
    quantile: float = 0.5,
    delta: float = 0.5,
    method: str = "bfm",
    scaling: bool = True,
    optimizer: str = "adagrad",
    epochs: int | None = None,
    learning_rate: float | None = None,
    batch_size: int | None = None,
    shards: int | None = None,
    regularization: float | str = "auto",
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
    eval_metric: Any = None,
    max_bytes: int | None = None,
    scoring: Any = None,
    target: str = "file",
    class_weight: Any = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool | Reporter = False,
    callback: Callback | None = None,
) -> Model:
    """Train a binarized factorization machine.

    Parameters
    ----------
    X : array, scipy.sparse matrix or table (pandas, polars, Arrow), n samples by d features
        Any real dtype and memory order, or objects with text in `categorical` columns. NaN and null are a value of
        their own. In a sparse X, zeros are absent: they activate nothing. Text and category columns of a table are
        categorical; dates and times become numbers of days. Samples that do not fit into memory are given as for
        :meth:`binfm.Cache.build`, by files, a LazyFrame or a function, or as a :class:`binfm.Cache`.
    y : array of n
        Class labels (integers, floats, booleans or strings), or numbers if `loss` is one of those for numbers. With
        files and lazy tables, the name of the column to predict; with a cache or a function, None.
    sample_weight : array of n, optional
        A weight for each sample; with files and lazy tables, the name of a column.
    eval_set : (X, y) or (X, y, sample_weight), optional
        Samples to measure the loss on after each epoch. A list with one such tuple is accepted, too.
    {parameters}

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
    params = Params.of(locals())
    if holds_or_names_samples(X, y):
        return train_stored(X, y, sample_weight, eval_set, params)
    dataset, valid = read_data(X, y, sample_weight, eval_set, params)
    params = params.resolve(len(dataset), valid is not None)
    found = None
    if params.searching:
        from binfm.search.search import search

        params, found = search(dataset, params)
    return Trainer(dataset, params).fit(dataset, valid, params, search=found)


def read_data(
    X: Any,
    y: Any,
    sample_weight: Any,
    eval_set: Any,
    params: Params,
    *,
    classes: Any = None,
    like: Trainer | None = None,
) -> tuple[Dataset, Dataset | None]:
    """Return the samples to train on and those of the `eval_set`, read like those a trainer has seen, if any.

    `classes` are all labels there can be, if the first y need not have them all.
    """
    if like is not None:
        dataset, valid = like.read(X, y, sample_weight, eval_set)
    else:
        dataset = Dataset.learn(X, y, sample_weight, params, classes)
        valid = dataset.read_eval_set(eval_set)
    return dataset.with_class_weight(params.class_weight), valid


class Trainer:
    """Training that can be resumed.

    Bins and categories are those of the first samples, and so are the units of targets and weights.
    """

    def __init__(self, dataset: Dataset, params: Params) -> None:
        self.params = params
        """The parameters training began with."""
        chooses = params.regularization == "auto"
        with Preparing(params.progress, "choosing the regularization" if chooses else "encoding samples"):
            chosen = self._chosen = params.chosen(dataset)
            self._core = _core.Trainer(dataset, chosen.core(), chosen.leave_out, chosen.n_jobs)
        self._like = dataset.emptied()
        self._unused: frozenset[int] = frozenset()

    def read(self, X: Any, y: Any, sample_weight: Any, eval_set: Any = None) -> tuple[Dataset, Dataset | None]:
        """Return more samples, read as the first ones were, and those of the `eval_set`."""
        return self._like.read(X, y, sample_weight, self._unused), self._like.read_eval_set(eval_set)

    def fit(
        self,
        dataset: Dataset,
        valid: Dataset | None,
        params: Params,
        *,
        steady: bool = False,
        search: Search | None = None,
    ) -> Model:
        """Train from where the last call ended; with `steady`, at the learning rate of the first epoch throughout."""
        columns = column_facts(dataset, self._chosen.leave_out)
        fit = partial(self._core.fit, dataset)
        model = fitted(fit, dataset, valid, params, self._chosen, columns, steady=steady, search=search)
        self._unused = frozenset(model._unused())
        return model


def fitted(
    fit: Callable[..., Any],
    dataset: Dataset | Stored,
    valid: Dataset | None,
    params: Params,
    chosen: Params,
    columns: tuple[ColumnFacts, ...],
    *,
    steady: bool = False,
    search: Search | None = None,
) -> Model:
    """Train with a function of the core, and return the model with what is known about it."""
    with Progress(params.progress if not steady else False, params.epochs, "epoch") as bar:
        monitor = Monitor(params, dataset if valid is None else valid, bar)
        schedule = params.schedule(steady=steady, scores=monitor.wants_scores)
        on_epoch = monitor if monitor.is_needed else None
        core, history, best = fit(valid, schedule, params.n_jobs, on_epoch)
    from binfm.baseline import warn_of_high_loss  # here and below: scoring does not wait for them
    from binfm.card import origin

    if not steady:
        warn_of_high_loss(history, best, dataset, valid, params)
    made_of = origin(dataset, chosen.replace(epochs=params.epochs))
    return Model._of(core, monitor.complete(history), best, search, columns, made_of)


def holds_or_names_samples(X: Any, y: Any) -> bool:
    """Return whether X is a cache, or says where samples are. Lazy tables may also be collected, beside an array y."""
    if isinstance(X, np.ndarray) or hasattr(X, "shape"):
        return False
    from binfm.cache import Cache
    from binfm.data.sources import is_source

    return isinstance(X, Cache) or (is_source(X) and (isinstance(y, str) or not hasattr(X, "collect")))


def train_stored(X: Any, y: Any, sample_weight: Any, eval_set: Any, params: Params) -> Model:
    """Train on a cache, or on a temporary one of other samples."""
    from binfm.cache import Cache
    from binfm.cache.build import build
    from binfm.data.sources import open_source

    if not isinstance(X, Cache):
        with tempfile.TemporaryDirectory(prefix="binfm-", ignore_cleanup_errors=True) as folder:
            path = Path(folder) / "samples.cache"
            found = build(open_source(X, y, sample_weight), path, params)
            cache = Cache(path)
            cache.search = found
            return train_stored(cache, None, None, eval_set, params)
    if y is not None or sample_weight is not None:
        raise ValueError("y and sample_weight must be None if X is a cache, which holds them")
    params = X.settled(params)
    valid = X.like().read_eval_set(eval_set)
    params = params.resolve(len(X), valid is not None)
    chosen = X.chosen(params)
    with X.releasing():
        X.verify()
        stored = X.stored()
        fit = partial(X.encoder.trainer(chosen.core()).fit_stored, stored)
        return fitted(fit, stored, valid, params, chosen, X.columns(), search=X.search)
