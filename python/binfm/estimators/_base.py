"""What classifier and regressor share: they keep parameters, check input as scikit-learn does, and call `train`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from binfm._tables import is_table
from binfm.training import train

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm.model import Model

_OWN = {"class_weight", "random_state"}
"""Parameters that `train` does not have under that name."""


class BinFM(BaseEstimator):
    """A model of a few parameters under scikit-learn's conventions."""

    random_state: Any
    categorical: Any
    model_: Model

    @property
    def n_iter_(self) -> int:
        """Number of passes over the data that were made."""
        return len(self.model_.history)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        return self.model_.decision_function(self._checked(X), n_jobs=self.n_jobs)

    def _train(self, X: Any, y: Any, weight: Any, eval_set: Any, **more: Any) -> Model:
        given = {name: value for name, value in self.get_params(deep=False).items() if name not in _OWN}
        return train(X, y, sample_weight=weight, eval_set=eval_set, seed=self._seed(), **{**given, **more})

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags
