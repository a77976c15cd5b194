"""`binfm.BinFMClassifier`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from binfm.estimators._base import BinFM
from binfm.parameters import PROBABLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm._progress import Callback


def _gives_probabilities(estimator: Any) -> bool:
    loss = estimator.model_.loss if hasattr(estimator, "model_") else estimator.loss
    if loss in (None, *PROBABLE):
        return True
    raise AttributeError(f"predict_proba: the loss is {loss!r}; probabilities come from 'logistic' and 'softmax'")


class BinFMClassifier(ClassifierMixin, BinFM):
    """A binarized factorization machine as a scikit-learn classifier.

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
    loss : {"logistic", "softmax", "hinge", "squared_hinge"}, default "logistic"
        Probabilities need the logistic one.
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
        The saved model has at most so many bytes; what is not given of m, b, tilings, binning, loss, epochs,
        learning_rate, dropout, ensemble and polish, and the features to do without, are then chosen by
        cross-validation.
    class_weight : dict or "balanced"
        Weights of the classes.
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
    classes_ : ndarray
        The class labels.
    n_features_in_ : int
    feature_names_in_ : ndarray
        Names of the columns, where X had names.
    n_iter_ : int
        Number of passes over the data that were made.

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

    def __init__(
        self,
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
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        patience: int = 5,
        max_bytes: int | None = None,
        class_weight: Any = None,
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
        self.loss = loss
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
        self.class_weight = class_weight
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.progress = progress
        self.callback = callback

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None) -> BinFMClassifier:
        """Train.

        Parameters
        ----------
        X : array, scipy.sparse matrix or table (pandas, polars, Arrow), n rows by d features
        y : n class labels
        sample_weight : a weight for each row
        eval_set : (X, y) or (X, y, sample_weight), to stop early on
        """
        self._check_loss()
        goes_on = self._goes_on()
        X, y = self._checked(X, y, reset=not goes_on)
        check_classification_targets(y)
        if not goes_on:
            self.classes_ = np.unique(y)
        self.model_ = self._train(X, y, self._weighted(y, sample_weight), eval_set)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> BinFMClassifier:
        """Make one pass over some rows, and go on from there in the next call.

        Bins and categories are those of the first call, which should have rows enough to tell them, and the step size
        stays that of the first pass. A copy or pickle of the estimator has the model, but not what training goes on
        with: proxies, optimizer and order of rows.

        Parameters
        ----------
        X : array, scipy.sparse matrix or table (pandas, polars, Arrow), n rows by d features
        y : n class labels
        classes : all labels there will be; needed in the first call
        sample_weight : a weight for each row, in the units of the first call

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
            raise ValueError(
                "class_weight: got 'balanced' in partial_fit; accepted is a dict, as not all rows are known"
            )
        if begins and classes is None:
            raise ValueError(
                "classes: got none in the first call of partial_fit; accepted are all labels there will be"
            )
        X, y = self._checked(X, y, reset=begins)
        check_classification_targets(y)
        if begins:
            self.classes_ = np.unique(classes)
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError("classes: got others than in the first call of partial_fit, which are accepted")
        self.model_ = self._take(X, y, self._weighted(y, sample_weight), classes=self.classes_)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the score of each row: shape (n,), or (n, classes) where there are more than two."""
        return self._scores(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class label of each row."""
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
        if self.loss == "squared":
            raise ValueError(
                "loss: got 'squared', which is for BinFMRegressor; accepted are 'logistic', 'softmax', "
                "'hinge' and 'squared_hinge'"
            )

    def _weighted(self, y: Any, sample_weight: Any) -> Any:
        """Return the weights of rows and classes together."""
        if self.class_weight is None:
            return sample_weight
        by_class = compute_sample_weight(self.class_weight, y)
        return by_class if sample_weight is None else by_class * np.asarray(sample_weight)
