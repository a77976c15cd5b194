"""The tables for regression: scikit-learn's generators, a generated one with heavy tails, and CSV files of packages.

Rows with missing values are left out. Text columns are categorical, except the three grades of diamonds, which are
ordered and therefore numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets as sklearn_datasets

from defaults import packaged

GENERATED_SAMPLES = 5_000
LINEAR_SAMPLES = 1_000
HEAVY_SAMPLES = 6_000
FLIGHTS = 20_000
"""Flights drawn from the 327,346 that have an arrival delay."""
FLIGHT_COLUMNS = (
    "month", "day", "dep_time", "sched_dep_time", "dep_delay", "sched_arr_time", "distance", "hour", "minute", "flight",
)  # fmt: skip
GRADES = {
    "cut": ("Fair", "Good", "Very Good", "Premium", "Ideal"),
    "color": tuple("JIHGFED"),
    "clarity": ("I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"),
}
"""The grades of diamonds, from the worst to the best."""
HOUSING = ("city", "year", "month", "sales", "listings", "inventory", "median")
MOVIES = (
    "year", "length", "votes", "Action", "Animation", "Comedy", "Drama", "Documentary", "Romance", "Short", "rating",
)  # fmt: skip
PYDATASET = {
    "computers": ("Ecdat/Computers", "price"),
    "wages": ("Ecdat/Wages", "lwage"),
    "boston": ("MASS/Boston", "medv"),
    "workhours": ("Ecdat/Workinghours", "hours"),
    "medexp": ("Ecdat/MedExp", "med"),
    "star": ("Ecdat/Star", "tmathssk"),
    "food": ("Ecdat/BudgetFood", "wfood"),
}
"""Tables of pydataset that are used whole: their names there and their targets."""


class Numbers(NamedTuple):
    X: NDArray[Any]
    y: NDArray[Any]
    categorical: tuple[int, ...] = ()


def heavy_tails() -> Numbers:
    """Return lognormal, Student and Pareto columns, and a target with interactions and heavy-tailed noise."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(HEAVY_SAMPLES, 8))
    X[:, 0] = np.exp(1.5 * X[:, 0])
    X[:, 1] = rng.standard_t(2, size=HEAVY_SAMPLES)
    X[:, 2] = rng.pareto(1.5, size=HEAVY_SAMPLES)
    alone = 0.4 * np.minimum(X[:, 0], 60) + np.clip(X[:, 1], -15, 15) + np.abs(X[:, 6])
    together = 2 * np.log1p(X[:, 2]) * X[:, 3] + 1.5 * np.sin(2 * X[:, 4]) * X[:, 5]
    return Numbers(X, alone + together + rng.standard_t(3, size=HEAVY_SAMPLES))


def flights() -> Numbers | None:
    frame = packaged.flights()
    if frame is None:
        return None
    frame = frame.dropna().sample(FLIGHTS, random_state=0)
    return _numbers(frame[[*FLIGHT_COLUMNS, "arr_delay"]], "arr_delay")


def diamonds() -> Numbers | None:
    frame = packaged.plotnine("diamonds")
    if frame is None:
        return None
    for column, grades in GRADES.items():
        frame[column] = frame[column].map({grade: place for place, grade in enumerate(grades)})
    return _numbers(frame, "price")


def txhousing() -> Numbers | None:
    frame = packaged.plotnine("txhousing")
    return None if frame is None else _numbers(frame[list(HOUSING)], "median")


def movies() -> Numbers | None:
    frame = packaged.pydataset("ggplot2/movies")
    return None if frame is None else _numbers(frame[list(MOVIES)], "rating")


def vietnam() -> Numbers | None:
    """Return medical expenses of households. One column, lnmed, is almost the target: a table to fit exactly."""
    frame = packaged.pydataset("Ecdat/VietNamH")
    return None if frame is None else _numbers(frame.drop(columns="lnrlfood"), "lnexp12m")


def _packaged(name: str) -> Numbers | None:
    path, target = PYDATASET[name]
    frame = packaged.pydataset(path)
    return None if frame is None else _numbers(frame, target)


def _numbers(frame: Any, target: str) -> Numbers:
    """Return a data frame as numbers, its text columns as codes."""
    import pandas as pd

    frame = frame.dropna()
    y = frame[target].to_numpy(np.float64)
    frame = frame.drop(columns=target)
    text = [place for place, kind in enumerate(frame.dtypes) if not pd.api.types.is_numeric_dtype(kind)]
    codes = {frame.columns[place]: pd.factorize(frame.iloc[:, place], sort=True)[0] for place in text}
    return Numbers(frame.assign(**codes).to_numpy(np.float64), y, tuple(text))


def _generated(name: str, *arguments: Any, **settings: Any) -> Numbers:
    make = getattr(sklearn_datasets, f"make_{name}")
    return Numbers(*make(*arguments, **settings, random_state=0))


LOADERS: dict[str, Callable[[], Numbers | None]] = {
    "diabetes": lambda: Numbers(*sklearn_datasets.load_diabetes(return_X_y=True)),
    "friedman1": partial(_generated, "friedman1", GENERATED_SAMPLES, noise=1),
    "friedman2": partial(_generated, "friedman2", GENERATED_SAMPLES, noise=100),
    "friedman3": partial(_generated, "friedman3", GENERATED_SAMPLES, noise=0.1),
    "linear20": partial(_generated, "regression", LINEAR_SAMPLES, 20, n_informative=3),
    "linear10": partial(_generated, "regression", LINEAR_SAMPLES, 10, noise=10),
    "heavy_tails": heavy_tails,
    "flights": flights,
    "diamonds": diamonds,
    "txhousing": txhousing,
    **{name: partial(_packaged, name) for name in PYDATASET},
    "movies": movies,
    "vietnam": vietnam,
}
"""The tables by name; a loader returns None if its package is missing."""
