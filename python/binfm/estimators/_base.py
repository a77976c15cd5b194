"""What classifier and regressor share: they store parameters, check input as scikit-learn does, and train."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from binfm.data.categories import UNKNOWN_TEXT, refuse_text_in
from binfm.data.readers import collected, is_table
from binfm.params import PARAMETERS, Params
from binfm.training import Trainer, read_data, train

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm.model import Model


class BinFM(BaseEstimator):
    """A factorization machine under scikit-learn's conventions."""

    categorical: Any
    max_bytes: int | None
    random_state: Any
    warm_start: bool
    n_jobs: int | None
    model_: Model
    _trainer: Trainer | None = None
    """What training resumes from; it stays in this process."""

    def _store(self, arguments: Mapping[str, Any]) -> None:
        """Keep the arguments of `__init__` as attributes of the same names."""
        for name, value in arguments.items():
            if name != "self":
                setattr(self, name, value)

    @property
    def n_iter_(self) -> int:
        """Number of epochs trained."""
        return len(self.model_.history)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The share of the variance of the score that each column explains, all cells of a feature equally frequent.

        ``model_.feature_importances(X)`` takes the frequencies of a table.
        """
        check_is_fitted(self)
        shares: NDArray[np.float64] = self.model_.feature_importances()
        return shares

    def _scores(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        return self.model_.decision_function(self._checked(X), n_jobs=self.n_jobs)

    def _resumable(self) -> Trainer | None:
        """Return what `fit` resumes from, if it does."""
        return self._trainer if self.warm_start else None

    def _fit(self, X: Any, y: Any, weight: Any, eval_set: Any, **fixed: Any) -> Model:
        """Train, or resume training."""
        if self.max_bytes is not None:
            if self.warm_start:
                raise ValueError(f"max_bytes must be None with warm_start, got {self.max_bytes!r}")
            self._trainer = None
            given = {**self._given(), **fixed, "seed": self._seed()}
            return train(X, y, sample_weight=weight, eval_set=eval_set, **given)
        trainer = self._resumable()
        params = self._params(trainer, fixed)
        dataset, valid = read_data(X, y, weight, eval_set, params, like=trainer)
        params = params.resolve(len(dataset), valid is not None)
        self._trainer = trainer or Trainer(dataset, params)
        return self._trainer.fit(dataset, valid, params)

    def _partial_fit(self, X: Any, y: Any, weight: Any, classes: Any = None, **fixed: Any) -> Model:
        """Make one pass over some samples, at the learning rate of the first."""
        if self.max_bytes is not None:
            raise ValueError(f"max_bytes must be None in partial_fit, got {self.max_bytes!r}")
        trainer = self._trainer
        if self.regularization == "auto" and (trainer is None or trainer.params.regularization == 0):
            fixed["regularization"] = 0.0  # the first samples are too few to choose it by
        params = self._params(trainer, fixed).settled().replace(epochs=1, early_stopping=False)
        dataset, _ = read_data(X, y, weight, None, params, classes=classes, like=trainer)
        self._trainer = trainer or Trainer(dataset, params)
        return self._trainer.fit(dataset, None, params, steady=True)

    def _begins(self) -> bool:
        """Return whether this is the first call of `partial_fit`; refuse it if there is nothing to resume from."""
        if hasattr(self, "model_") and self._trainer is None:
            raise ValueError(
                "partial_fit cannot resume training from a copy or a pickle, or after fit with max_bytes; "
                "use a new estimator"
            )
        return self._trainer is None

    def _given(self) -> dict[str, Any]:
        """Return the parameters that `train` has, too; a subclass may have fewer in its `__init__`."""
        return {name: getattr(self, name) for name in PARAMETERS if hasattr(self, name)}

    def _params(self, trainer: Trainer | None, fixed: Mapping[str, Any]) -> Params:
        """Check the parameters; refuse changes that training cannot resume with."""
        seed = self._seed() if trainer is None else trainer.params.seed
        params = Params.of({**self._given(), **fixed, "seed": seed})
        if trainer is not None:
            params.settled().check_resumes(trainer.params)
        return params

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _checked(self, X: Any, y: Any = "no_validation", *, reset: bool = False) -> Any:
        """Return X, or X and y, as `train` takes them. Tables keep their columns, arrays become numbers."""
        if is_table(X):
            X = collected(X)
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X if isinstance(y, str) else (X, column_or_1d(y, warn=True))
        holds_text = self.categorical is not None and np.asarray(X).dtype.kind in "OUS"
        dtype = None if holds_text else "numeric"
        try:
            return validate_data(self, X, y, reset=reset, accept_sparse="csr", ensure_all_finite=False, dtype=dtype)
        except ValueError as error:
            if "convert string to float" in str(error):
                refuse_text_in(np.asarray(X, object), UNKNOWN_TEXT)
            raise

    def __getstate__(self) -> Any:
        return {name: value for name, value in super().__getstate__().items() if name != "_trainer"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags
