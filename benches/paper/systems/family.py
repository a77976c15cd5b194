"""The four FMs of binfm. As in the paper, FM, SEFM and DFM choose their regularization; Binarized FM has none."""

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
from paper.systems.base import BINS, FACTORS, REGULARIZATION, Fitted, NotAvailableError, System, outputs


class Family(System):
    package = "binfm"
    method: ClassVar[str]
    fixed: ClassVar[Settings] = {}
    """Fixed parameters of `binfm.train`."""
    formula: ClassVar[Callable[[int, int, int], int]]

    def check(self) -> None:
        X = np.array([[0.0], [1.0]], np.float32)
        try:
            binfm.train(X, [0, 1], method=self.method, epochs=1)
        except ValueError as error:
            raise NotAvailableError(str(error)) from None

    def fit(self, settings: Settings, X: NDArray[Any], y: Codes, classes: int, seed: int, plan: Plan) -> Fitted:
        model = self.train(settings, X, y, seed, epochs=plan.epochs)
        return Fitted(lambda X: model.predict(X, n_jobs=1), model.nbytes, model.size_report())

    def train(self, settings: Settings, X: NDArray[Any], y: Codes, seed: int, **more: Any) -> binfm.Model:
        chosen = {**self.arguments(settings, len(y)), **self.fixed, **more}
        return binfm.train(
            X, y, method=self.method, seed=seed, n_jobs=1, early_stopping=False, regularization=0, **chosen
        )

    def arguments(self, settings: Settings, n_samples: int) -> Settings:
        """Return the settings as arguments of `binfm.train`.

        λ refers to the sum of the losses of all samples, so a step on one sample takes λ/n.
        """
        chosen = dict(settings)
        if "regularization" in chosen:
            chosen["lambda_w"] = chosen["lambda_v"] = chosen.pop("regularization") / n_samples
        return chosen

    def bits(self, settings: Settings, d: int, classes: int) -> int:
        return outputs(classes) * type(self).formula(d, settings["m"], settings.get("b", 1))


class Fm(Family):
    """The step size is larger than `binfm.train`'s default, which was better on ijcnn and segment."""

    name, label, method = "fm", "FM", "fm"
    fixed: ClassVar[Settings] = {"learning_rate": 0.1}
    grid: ClassVar[dict[str, Sequence[Any]]] = {"m": FACTORS, "regularization": REGULARIZATION}
    start: ClassVar[Settings] = {"m": 32, "regularization": 1.0}
    formula = staticmethod(memory.fm)


class Dfm(Fm):
    name, label, method = "dfm", "DFM", "dfm"
    formula = staticmethod(memory.dfm)


class Sefm(Family):
    """Equal-width bins: the paper's sparsity figure shows that its bins are not quantiles."""

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
    """One tiling with `binfm.train`'s default bins, to show the effect of the binning."""

    name, label = "quantile", "Binarized FM, quantile bins"
    fixed: ClassVar[Settings] = {"tilings": 1}


class Unscaled(Bfm1):
    name, label = "unscaled", "Binarized FM without scaling"
    fixed: ClassVar[Settings] = {"tilings": 1, "binning": "uniform", "scaling": False}
