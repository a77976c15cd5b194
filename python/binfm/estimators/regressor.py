"""`binfm.BinFMRegressor`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from binfm._checks import one_of
from binfm.attributes import OF_NUMBERS
from binfm.estimators._base import BinFM
from binfm.params import documented

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm._progress import Reporter
    from binfm.monitor import Callback


@documented("class_weight", "seed")
class BinFMRegressor(RegressorMixin, BinFM):
    """A binarized factorization machine as a scikit-learn regressor.

    Parameters are those of :func:`binfm.train`; `random_state` is its `seed`, and the default loss is "squared".

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, default 0
        The same number gives the same model on any machine.
    warm_start : bool, default False
        Let `fit` resume where the last call ended and train for `epochs` more, with the bins and categories of the
        first.

    Attributes
    ----------
    model_ : binfm.Model
        The trained model, which can be saved, exported and explained.
    n_features_in_ : int
    feature_names_in_ : ndarray
        Column names, if X had any.
    n_iter_ : int
        Number of epochs trained.
    feature_importances_ : ndarray
        The share of the variance of the score that each column explains; see
        :meth:`binfm.Model.feature_importances`, which takes the frequencies of a table into account.

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
        w_bits: int | None = None,
        b: int | None = None,
        tilings: int | None = None,
        binning: str | None = None,
        loss: str = "squared",
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
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        patience: int = 5,
        eval_metric: Any = None,
        max_bytes: int | None = None,
        scoring: Any = None,
        target: str = "file",
        random_state: Any = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        progress: bool | Reporter = False,
        callback: Callback | None = None,
    ) -> None:
        self._store(locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None) -> BinFMRegressor:
        """Train.

        Parameters
        ----------
        X : array, scipy.sparse matrix or table (pandas, polars, Arrow), n samples by d features
        y : n numbers
        sample_weight : a weight for each sample
        eval_set : (X, y) or (X, y, sample_weight), for early stopping
        """
        loss = self._checked_loss()
        X, y = self._checked(X, y, reset=self._resumable() is None)
        self.model_ = self._fit(X, y, sample_weight, eval_set, loss=loss)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> BinFMRegressor:
        """Make one pass over some samples; the next call resumes from there.

        Bins and categories are those of the first call, which should have enough samples to determine them, and the
        step size stays that of the first epoch. A copy or pickle of the estimator has the model, but not the state that
        training resumes from: proxies, optimizer and order of samples.

        Parameters
        ----------
        X : array, scipy.sparse matrix or table (pandas, polars, Arrow), n samples by d features
        y : n numbers
        sample_weight : a weight for each sample, in the units of the first call
        """
        loss = self._checked_loss()
        X, y = self._checked(X, y, reset=self._begins())
        self.model_ = self._partial_fit(X, y, sample_weight, loss=loss)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the predicted number of each sample."""
        check_is_fitted(self)
        return self.model_.predict(self._checked(X), n_jobs=self.n_jobs)

    def _checked_loss(self) -> str:
        loss: str = getattr(self, "loss", "squared")  # a subclass may have fewer parameters
        one_of("loss", loss, OF_NUMBERS)
        return loss
