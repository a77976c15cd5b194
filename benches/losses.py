"""The losses of numbers beside those of other packages: `make -C benches losses`.

Everything with its defaults, one thread, one random 70/30 split of each data set.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import binfm
import machine
import numpy as np
from lightgbm import LGBMRegressor
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import HuberRegressor, PoissonRegressor, QuantileRegressor
from sklearn.metrics import mean_absolute_error, mean_pinball_loss, mean_poisson_deviance
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

RESULTS = Path(__file__).parent / "results"
SAMPLES = 4000
WRONG = 0.05
"""Share of outliers."""


class Data(NamedTuple):
    """Samples, their targets, and what predictions are compared with."""

    X: NDArray[Any]
    y: NDArray[Any]
    truth: NDArray[Any]


class Case(NamedTuple):
    """A loss on some data."""

    data: Callable[[], Data]
    loss: str
    quantile: float = 0.5


def counts() -> Data:
    """Return counts with a mean of about two that depends on pairs, too."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(SAMPLES, 8))
    score = 0.3 + 0.6 * X[:, 0] - 0.5 * np.abs(X[:, 1]) + 0.5 * X[:, 2] * X[:, 3] + 0.3 * np.sin(3 * X[:, 4])
    y = rng.poisson(np.exp(np.clip(score, -4, 3.5))).astype(float)
    return Data(X, y, y)


def rare() -> Data:
    """Return counts that are mostly zero and depend on two features in a straight line."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(SAMPLES, 8))
    y = rng.poisson(np.exp(-2 + 0.5 * X[:, 0] + 0.3 * X[:, 1])).astype(float)
    return Data(X, y, y)


def spread() -> Data:
    """Return numbers whose noise depends on a feature."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(SAMPLES, 6))
    y = X[:, 0] ** 2 + X[:, 1] * X[:, 2] + rng.normal(size=SAMPLES) * (0.3 + np.abs(X[:, 3]))
    return Data(X, y, y)


def friedman() -> Data:
    """Return Friedman's first function with noise of standard deviation one."""
    X, y = make_friedman1(SAMPLES, noise=1.0, random_state=0)
    return Data(X, y, y)


def outliers() -> Data:
    """Return the same with some wild targets, to be compared with the function itself."""
    rng = np.random.default_rng(0)
    X, y = make_friedman1(SAMPLES, noise=1.0, random_state=0)
    truth = make_friedman1(SAMPLES, noise=0.0, random_state=0)[1]
    return Data(X, y + (rng.random(SAMPLES) < WRONG) * rng.standard_t(1.5, SAMPLES) * 60, truth)


def diabetes() -> Data:
    """Return the table of 442 patients that scikit-learn has."""
    X, y = load_diabetes(return_X_y=True)
    return Data(X, y, y)


CASES = (
    *(Case(data, "poisson") for data in (counts, rare, diabetes)),
    *(Case(data, "quantile", level) for data in (spread, friedman, diabetes) for level in (0.5, 0.9)),
    *(Case(data, "huber") for data in (outliers, friedman, diabetes)),
)


def systems(case: Case) -> dict[str, Any]:
    """Return an estimator of each package for a loss."""
    q = case.quantile
    trees: dict[str, tuple[Any, Any, Any]] = {
        "poisson": (PoissonRegressor(max_iter=1000), {"objective": "poisson"}, {"loss": "poisson"}),
        "quantile": (
            QuantileRegressor(quantile=q, alpha=0),
            {"objective": "quantile", "alpha": q},
            {"loss": "quantile", "quantile": q},
        ),
        "huber": (HuberRegressor(max_iter=1000), {"objective": "huber"}, {"loss": "absolute_error"}),
    }
    linear, lightgbm, histogram = trees[case.loss]
    return {
        "linear": make_pipeline(StandardScaler(), linear),
        "binfm": binfm.BinFMRegressor(loss=case.loss, quantile=q, n_jobs=1),
        "LightGBM": LGBMRegressor(**lightgbm, verbose=-1, n_jobs=1),
        "HistGradientBoosting": HistGradientBoostingRegressor(**histogram, random_state=0),
    }


def error(case: Case, truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    """Return what a loss is judged by."""
    if case.loss == "poisson":
        return float(mean_poisson_deviance(truth, np.maximum(predicted, 1e-9)))
    if case.loss == "quantile":
        return float(mean_pinball_loss(truth, predicted, alpha=case.quantile))
    return float(mean_absolute_error(truth, predicted))


def row(case: Case) -> str:
    """Measure all systems on a case."""
    X, y, truth = case.data()
    X_train, X_test, y_train, _, _, expected = train_test_split(X, y, truth, test_size=0.3, random_state=0)
    constant = {"poisson": y_train.mean(), "quantile": np.quantile(y_train, case.quantile), "huber": np.median(y_train)}
    found = {"constant": error(case, expected, np.full(len(expected), constant[case.loss]))}
    shares = []
    for name, system in systems(case).items():
        predicted = system.fit(X_train, y_train).predict(X_test)
        found[name] = error(case, expected, predicted)
        shares.append(f"{100 * np.mean(expected <= predicted):.0f}")
    least = min(found.values())
    shown = [f"**{value:.4g}**" if value == least else f"{value:.4g}" for value in found.values()]
    level = f" {case.quantile}" if case.loss == "quantile" else ""
    below = " / ".join(shares) if level else "–"
    return f"| {case.data.__name__} | {case.loss}{level} | {' | '.join(shown)} | {below} |"


def main() -> None:
    """Measure everything, and write the page."""
    lines = [
        "# Losses of numbers",
        "",
        " ".join(str(__doc__).split("\n\n")[1].split()),
        "Poisson deviance, pinball loss and mean absolute error on the held-out samples: lower is better. The last",
        "column has, for quantiles, the share of those targets in percent that lie below the prediction: linear,",
        "binfm, LightGBM, HistGradientBoosting. The linear models are scikit-learn's PoissonRegressor,",
        "QuantileRegressor without penalty and HuberRegressor; HistGradientBoosting has no Huber loss and minimizes",
        "the absolute error.",
        "",
        f"Written by `make -C benches losses` on {date.today()}: {machine.cpu()}.",
        "",
        "| data | loss | constant | linear | binfm | LightGBM | HistGradientBoosting | below, % |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        *map(row, CASES),
    ]
    (RESULTS / "losses.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
