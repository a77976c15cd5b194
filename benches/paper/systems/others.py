"""Other FM implementations, on standardized features and one-vs-rest, to show that our FM is not a weak baseline."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from paper.choice import Settings
from paper.data import Codes
from paper.memory import FLOAT
from paper.plan import Plan
from paper.systems.base import FACTORS, REGULARIZATION, Fitted, NotAvailableError, System, outputs


class OtherFm(System):
    module: ClassVar[str]
    counted = "weights"

    def check(self) -> None:
        try:
            import_module(self.module)
        except ImportError as error:
            raise NotAvailableError(str(error)) from None

    def fit(self, settings: Settings, X: NDArray[Any], y: Codes, classes: int, seed: int, plan: Plan) -> Fitted:
        scaler = StandardScaler().fit(X)
        X_scaled = scaler.transform(X).astype(np.float32)
        codes = [1] if classes == 2 else range(classes)
        scorers = [self.fit_output(settings, X_scaled, (y == code).astype(np.int64), seed) for code in codes]

        def predict(X: NDArray[Any]) -> NDArray[Any]:
            X = scaler.transform(X).astype(np.float32)
            scores = np.column_stack([score(X) for score in scorers])
            return scores.argmax(1) if classes > 2 else (scores[:, 0] > 0).astype(int)

        return Fitted(predict, outputs(classes) * (1 + X.shape[1] * (1 + settings["m"])) * FLOAT // 8)

    def fit_output(self, settings: Settings, X: NDArray[Any], y: Codes, seed: int) -> Any:
        """Fit a binary problem and return a function whose result is positive if the class is likely."""
        raise NotImplementedError


class ModernFm(OtherFm):
    """Adagrad in small batches, with λ/n like ours."""

    name, label, package, module = "modern-fm", "modern-fm", "modern-fm", "modern_fm"
    grid: ClassVar[dict[str, Sequence[Any]]] = {"m": FACTORS, "regularization": REGULARIZATION}
    start: ClassVar[Settings] = {"m": 32, "regularization": 1.0}
    epochs = 30
    batch = 16

    def fit_output(self, settings: Settings, X: NDArray[Any], y: Codes, seed: int) -> Any:
        strength = settings["regularization"] / len(y)
        model = import_module(self.module).FMClassifier(
            n_factors=settings["m"], l2_linear=strength, l2_factors=strength, max_iter=self.epochs,
            batch_size=self.batch, init_scale=0.1, random_state=seed, n_jobs=1,
        )  # fmt: skip
        return model.fit(X, y).decision_function


class MyFm(OtherFm):
    """Gibbs sampling, like the MCMC of libFM and fastFM. It samples its regularization too, so nothing is chosen."""

    name, label, package, module = "myfm", "myFM", "myfm", "myfm"
    start: ClassVar[Settings] = {"m": 16}
    samples = 100

    def fit_output(self, settings: Settings, X: NDArray[Any], y: Codes, seed: int) -> Any:
        model = import_module(self.module).MyFMClassifier(rank=settings["m"], random_seed=seed)
        model.fit(X.astype(np.float64), y, n_iter=self.samples)
        return partial(_above_half, model)


def _above_half(model: Any, X: NDArray[Any]) -> NDArray[Any]:
    return model.predict_proba(X.astype(np.float64), n_workers=1) - 0.5
