"""`binfm.BinFMClassifier`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from binfm.attributes import OF_NUMBERS, PROBABILISTIC
from binfm.estimators._base import BinFM
from binfm.params import documented

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm._progress import Reporter
    from binfm.monitor import Callback


def _gives_probabilities(estimator: Any) -> bool:
    loss = estimator.model_.loss if hasattr(estimator, "model_") else estimator.loss
    if loss in (None, *PROBABILISTIC):
        return True
    raise AttributeError(f"predict_proba needs loss 'logistic' or 'softmax', got {loss!r}")


@documented("quantile", "delta", "seed")
class BinFMClassifier(ClassifierMixin, BinFM):
    """A binarized factorization machine as a scikit-learn classifier.

    Parameters are those of :func:`binfm.train`; `random_state` is its `seed`, and the loss is one of those for classes.

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
    classes_ : ndarray
        The class labels.
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
    >>> from binfm import BinFMClassifier
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(2000, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "opposite")
    >>> classifier = BinFMClassifier(m=8).fit(X[:1000], y[:1000])
    >>> classifier.score(X[1000:], y[1000:]) > 0.95
    True
    """

    loss: str | None
    class_weight: Any

    def __init__(
        self,
        *,
        m: int | None = None,
        w_bits: int | None = None,
        b: int | None = None,
        tilings: int | None = None,
        binning: str | None = None,
        loss: str | None = None,
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
        class_weight: Any = None,
        random_state: Any = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        progress: bool | Reporter = False,
        callback: Callback | None = None,
    ) -> None:
        self._store(locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None) -> BinFMClassifier:
        """Train.

        Parameters
        ----------
        X : array, scipy.sparse matrix or table (pandas, polars, Arrow), n samples by d features
        y : n class labels
        sample_weight : a weight for each sample
        eval_set : (X, y) or (X, y, sample_weight), for early stopping
        """
        self._check_loss()
        resumes = self._resumable() is not None
        X, y = self._checked(X, y, reset=not resumes)
        check_classification_targets(y)
        if not resumes:
            self.classes_ = np.unique(y)
        self.model_ = self._fit(X, y, sample_weight, eval_set)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> BinFMClassifier:
        """Make one pass over some samples; the next call resumes from there.

        Bins and categories are those of the first call, which should have enough samples to determine them, and the
        step size stays that of the first epoch. A copy or pickle of the estimator has the model, but not the state that
        training resumes from: proxies, optimizer and order of samples.

        Parameters
        ----------
        X : array, scipy.sparse matrix or table (pandas, polars, Arrow), n samples by d features
        y : n class labels
        classes : all labels that will occur; required in the first call
        sample_weight : a weight for each sample, in the units of the first call

        Examples
        --------
        >>> import numpy as np
        >>> from binfm import BinFMClassifier
        >>> X = np.random.default_rng(0).uniform(-1, 1, size=(6000, 2))
        >>> y = X[:, 0] * X[:, 1] > 0
        >>> classifier = BinFMClassifier(m=8)
        >>> for rows in np.array_split(np.arange(5000), 10):
        ...     classifier = classifier.partial_fit(X[rows], y[rows], classes=[False, True])
        >>> classifier.score(X[5000:], y[5000:]) > 0.9
        True
        """
        self._check_loss()
        begins = self._begins()
        if self.class_weight == "balanced":
            raise ValueError("class_weight must be a dict or None in partial_fit, got 'balanced'")
        if begins and classes is None:
            raise ValueError("classes must have all labels in the first call of partial_fit, got None")
        X, y = self._checked(X, y, reset=begins)
        check_classification_targets(y)
        if begins:
            self.classes_ = np.unique(classes)
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"classes must be {self.classes_.tolist()}, as in the first call of partial_fit, got {list(classes)}"
            )
        self.model_ = self._partial_fit(X, y, sample_weight, self.classes_)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the score of each sample: shape (n,), or (n, classes) if there are more than two."""
        return self._scores(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class label of each sample."""
        check_is_fitted(self)
        labels: NDArray[Any] = self.classes_[self.model_._classify(self._checked(X), self.n_jobs)]
        return labels

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, shape (n, classes)."""
        check_is_fitted(self)
        return self.model_.predict_proba(self._checked(X), n_jobs=self.n_jobs)

    @available_if(_gives_probabilities)
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each class, shape (n, classes)."""
        probabilities: NDArray[np.float64] = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(probabilities)

    def _check_loss(self) -> None:
        if self.loss in OF_NUMBERS:
            losses = "'logistic', 'softmax', 'hinge' or 'squared_hinge'"
            raise ValueError(f"loss must be {losses}, got {self.loss!r}, which is for BinFMRegressor")
