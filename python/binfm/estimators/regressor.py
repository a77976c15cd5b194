"""`binfm.BinFMRegressor`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import RegressorMixin

from binfm.estimators._base import BinFM

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm._progress import Callback


class BinFMRegressor(RegressorMixin, BinFM):
    """A binarized factorization machine as a scikit-learn regressor.

    Parameters are those of :func:`binfm.train`; `random_state` is its `seed`.

    Parameters
    ----------
    m : int, default 32
        Number of factors, one bit each a parameter row.
    b : int, default 20
        Number of parameter rows a numeric feature, at most.
    tilings : int, default 4
        Number of shifted grids; 1 is the paper's method.
    binning : {"quantile", "uniform", "supervised"}, default "quantile"
        Where numeric features are cut.
    method : {"bfm"}
    scaling : bool
        Learn the scales of the bits; False fixes them at 1.
    optimizer : {"adagrad", "sgd"}
    epochs : int, default 30
        Passes over the data, at most.
    learning_rate : float, default 0.02
    lambda_w, lambda_v : float
        Regularization of the linear term and of the factors.
    dropout : float, default 0
        Share of the features that each visit of a row leaves out at random.
    ensemble : int, default 1
        Models that are trained apart and joined; a divisor of `m`.
    polish : int, default 0
        Passes over all signs after training, each flipped where that lowers the loss: for small models.
    categorical : list of column numbers or names, or boolean mask
        Columns whose values are categories. Text and category columns of a table need no mention.
    min_count : float
        Categories seen fewer times are ignored.
    early_stopping : bool or "auto"
        Stop when the loss on held-out rows no longer falls. "auto": from 10,000 rows on, or with an `eval_set`.
    validation_fraction : float
        Share of the rows to hold out for that.
    patience : int
        Epochs without improvement before stopping.
    max_bytes : int
        The saved model has at most so many bytes; what is not given of m, b, tilings, binning, epochs and
        learning_rate, and the features to do without, are then chosen by cross-validation.
    random_state : int, RandomState or None
        The same number gives the same model on any machine.
    warm_start : bool
        Let `fit` go on where the last one ended, for `epochs` passes more, with the bins and categories of the first.
    n_jobs : int
        Threads; None is all cores. The result does not depend on it.
    progress : bool
        Show a bar, if tqdm is installed.
    callback : function
        Called as callback(epoch, record) after each epoch; training stops if it returns True.

    Attributes
    ----------
    model_ : binfm.Model
        The trained model, which can be saved, exported and read.
    n_features_in_ : int
    feature_names_in_ : ndarray
        Names of the columns, where X had names.
    n_iter_ : int
        Number of passes over the data that were made.

    Examples
    --------
    >>> import numpy as np
    >>> from binfm import BinFMRegressor
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(3000, 2))
    >>> y = X[:, 0] * X[:, 1]
    >>> regressor = BinFMRegressor(m=16).fit(X[:2000], y[:2000])
    >>> regressor.score(X[2000:], y[2000:]) > 0.9
    True
    """

    def __init__(
        self,
        *,
        m: int | None = None,
        b: int | None = None,
        tilings: int | None = None,
        binning: str | None = None,
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
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        patience: int = 5,
        max_bytes: int | None = None,
        random_state: Any = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        progress: bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.m = m
        self.b = b
        self.tilings = tilings
        self.binning = binning
        self.method = method
        self.scaling = scaling
        self.optimizer = optimizer
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.lambda_w = lambda_w
        self.lambda_v = lambda_v
        self.dropout = dropout
        self.ensemble = ensemble
        self.polish = polish
        self.categorical = categorical
        self.min_count = min_count
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.max_bytes = max_bytes
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.progress = progress
        self.callback = callback

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None) -> BinFMRegressor:
        """Train.

        Parameters
        ----------
        X : array, scipy.sparse matrix or table (pandas, polars, Arrow), n rows by d features
        y : n numbers
        sample_weight : a weight for each row
        eval_set : (X, y) or (X, y, sample_weight), to stop early on
        """
        X, y = self._checked(X, y, reset=not self._goes_on())
        self.model_ = self._train(X, y, sample_weight, eval_set, loss="squared")
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> BinFMRegressor:
        """Make one pass over some rows, and go on from there in the next call.

        Bins and categories are those of the first call, which should have rows enough to tell them, and the step size
        stays that of the first pass. A copy or pickle of the estimator has the model, but not what training goes on
        with: proxies, optimizer and order of rows.

        Parameters
        ----------
        X : array, scipy.sparse matrix or table (pandas, polars, Arrow), n rows by d features
        y : n numbers
        sample_weight : a weight for each row, in the units of the first call
        """
        X, y = self._checked(X, y, reset=self._begins())
        self.model_ = self._take(X, y, sample_weight, loss="squared")
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the predicted number of each row."""
        return self._scores(X)
