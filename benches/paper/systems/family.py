"""The four FMs of binfm. FM, SEFM and DFM also choose their regularization, as in the paper; Binarized FM has none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import binfm
import numpy as np
from numpy.typing import NDArray

from paper import memory
from paper.choice import Settings
from paper.data import Codes
from paper.plan import Plan
from paper.systems.base import BINS, FACTORS, REGULARIZATION, Fitted, NotAvailableError, System, functions


class Family(System):
    package = "binfm"
    method: ClassVar[str]
    fixed: ClassVar[Settings] = {}
    """Parameters of `binfm.train` that are not chosen."""
    formula: ClassVar[Callable[[int, int, int], int]]

    def check(self) -> None:
        X = np.array([[0.0], [1.0]], np.float32)
        try:
            binfm.train(X, [0, 1], method=self.method, epochs=1)
        except ValueError as error:
            raise NotAvailableError(str(error)) from None

    def fit(self, settings: Settings, X: NDArray[Any], y: Codes, classes: int, seed: int, plan: Plan) -> Fitted:
        model = self.train(settings, X, y, seed, epochs=plan.epochs)
        return Fitted(lambda rows: model.predict(rows, n_jobs=1), model.nbytes, model.size_report())

    def train(self, settings: Settings, X: NDArray[Any], y: Codes, seed: int, **more: Any) -> binfm.Model:
        chosen = {**self.arguments(settings, len(y)), **self.fixed, **more}
        return binfm.train(X, y, method=self.method, seed=seed, n_jobs=1, early_stopping=False, **chosen)

    def arguments(self, settings: Settings, rows: int) -> Settings:
        """Return the settings as `binfm.train` calls them.

        λ is that of the sum of the losses of all rows, so a step on one row takes λ/n of it.
        """
        chosen = dict(settings)
        if "regularization" in chosen:
            chosen["lambda_w"] = chosen["lambda_v"] = chosen.pop("regularization") / rows
        return chosen

    def bits(self, settings: Settings, d: int, classes: int) -> int:
        return functions(classes) * type(self).formula(d, settings["m"], settings.get("b", 1))


class Fm(Family):
    """The step size is larger than `binfm.train`'s default: that is better for it on ijcnn and segment."""

    name, label, method = "fm", "FM", "fm"
    fixed: ClassVar[Settings] = {"learning_rate": 0.1}
    grid: ClassVar[dict[str, Sequence[Any]]] = {"m": FACTORS, "regularization": REGULARIZATION}
    start: ClassVar[Settings] = {"m": 32, "regularization": 1.0}
    formula = staticmethod(memory.fm)


class Dfm(Fm):
    name, label, method = "dfm", "DFM", "dfm"
    formula = staticmethod(memory.dfm)


class Sefm(Family):
    """Equal bins: the paper's figure of sparsity shows that its bins are not quantiles."""

    name, label, method = "sefm", "SEFM", "sefm"
    fixed: ClassVar[Settings] = {"tilings": 1, "binning": "uniform"}
    grid: ClassVar[dict[str, Sequence[Any]]] = {"m": FACTORS, "b": BINS, "regularization": REGULARIZATION}
    start: ClassVar[Settings] = {"m": 32, "b": 20, "regularization": 1.0}
    formula = staticmethod(memory.sefm)


class Bfm1(Family):
    name, label, method = "bfm1", "Binarized FM", "bfm"
    fixed: ClassVar[Settings] = {"tilings": 1, "binning": "uniform"}
    grid: ClassVar[dict[str, Sequence[Any]]] = {"m": FACTORS, "b": BINS}
    start: ClassVar[Settings] = {"m": 32, "b": 20}
    formula = staticmethod(memory.bfm)


class Bfm4(Bfm1):
    name, label = "bfm4", "Binarized FM, tilings=4"
    fixed: ClassVar[Settings] = {"tilings": 4}


class Quantile(Bfm1):
    """One grid with the bins that `binfm.train` has by default: shows what the choice of bins is worth."""

    name, label = "quantile", "Binarized FM, quantile bins"
    fixed: ClassVar[Settings] = {"tilings": 1}


class Unscaled(Bfm1):
    name, label = "unscaled", "Binarized FM without scaling"
    fixed: ClassVar[Settings] = {"tilings": 1, "binning": "uniform", "scaling": False}
