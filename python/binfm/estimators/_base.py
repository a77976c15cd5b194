"""What classifier and regressor share: they keep parameters, check input as scikit-learn does, and call `train`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from binfm._tables import is_table
from binfm._trainer import Trainer
from binfm.training import train

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm.model import Model

_OWN = {"class_weight", "random_state", "warm_start"}
"""Parameters that `train` does not have under that name."""


class BinFM(BaseEstimator):
    """A model of a few parameters under scikit-learn's conventions."""

    random_state: Any
    categorical: Any
    max_bytes: int | None
    warm_start: bool
    model_: Model
    _trainer: Trainer | None = None
    """What training goes on with; it stays in this process."""

    @property
    def n_iter_(self) -> int:
        """Number of passes over the data that were made."""
        return len(self.model_.history)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        return self.model_.decision_function(self._checked(X), n_jobs=self.n_jobs)

    def _goes_on(self) -> bool:
        """Return whether `fit` goes on where the last one ended."""
        return self.warm_start and self._trainer is not None

    def _train(self, X: Any, y: Any, weight: Any, eval_set: Any, **more: Any) -> Model:
        """Train, or go on with that."""
        given = {**self._parameters(), **more}
        if self.max_bytes is not None:
            if self.warm_start:
                raise ValueError("max_bytes: got a limit together with warm_start; accepted is one of them")
            self._trainer = None
            return train(X, y, sample_weight=weight, eval_set=eval_set, seed=self._seed(), **given)
        del given["max_bytes"]
        if self._trainer is not None and self.warm_start:
            return self._trainer.go_on(X, y, weight, eval_set, given)
        self._trainer = Trainer(X, y, given, sample_weight=weight, eval_set=eval_set, seed=self._seed())
        return self._trainer.start()

    def _take(self, X: Any, y: Any, weight: Any, **more: Any) -> Model:
        """Make one pass over some rows."""
        given = {**self._parameters(), **more}
        classes = given.pop("classes", None)
        del given["max_bytes"]
        if self.max_bytes is not None:
            raise ValueError("max_bytes: got a limit in partial_fit; accepted in fit, which knows all rows")
        if self._trainer is not None:
            return self._trainer.take(X, y, weight, given)
        self._trainer = Trainer(X, y, given, sample_weight=weight, classes=classes, seed=self._seed())
        return self._trainer.take(None, None, None, given)

    def _begins(self) -> bool:
        """Return whether `partial_fit` is the first call; refuse it where there is nothing to go on with."""
        if hasattr(self, "model_") and self._trainer is None:
            raise ValueError(
                "partial_fit: training cannot go on from a copy or pickle, or after fit with max_bytes; "
                "accepted is a new estimator"
            )
        return self._trainer is None

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters that `train` has, too."""
        return {name: value for name, value in self.get_params(deep=False).items() if name not in _OWN}

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _checked(self, X: Any, y: Any = "no_validation", *, reset: bool = False) -> Any:
        """Return X, or X and y, as `train` takes them. Tables keep their columns, arrays become numbers."""
        if is_table(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X if isinstance(y, str) else (X, column_or_1d(y, warn=True))
        holds_text = self.categorical is not None and np.asarray(X).dtype.kind in "OUS"
        dtype = None if holds_text else "numeric"
        return validate_data(self, X, y, reset=reset, accept_sparse="csr", ensure_all_finite=False, dtype=dtype)

    def __getstate__(self) -> Any:
        return {name: value for name, value in super().__getstate__().items() if name != "_trainer"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags
