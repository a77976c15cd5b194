"""Models that must stay what they are: the same bytes from training, the same bits from scoring.

The data come from whole numbers by additions and products alone, so no library's random numbers or functions decide.
"""

import binfm
import numpy as np


def draws(rows, columns, seed):
    """Return numbers in [0, 1), evenly: SplitMix64 of their places."""
    state = np.arange(1, rows * columns + 1, dtype=np.uint64) + np.uint64(seed << 32)
    state *= np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ state >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ state >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    state ^= state >> np.uint64(31)
    return ((state >> np.uint64(11)) * 2.0**-53).reshape(rows, columns)


def numbers(rows=400, columns=5, seed=1):
    """Return even numbers around zero, long-tailed ones in every third column, and whether two of them agree."""
    X = 6 * draws(rows, columns, seed) - 3
    X[:, 2::3] = (X[:, 2::3] * X[:, 2::3]) ** 2 * 50
    return X, X[:, 0] * X[:, 1] > 0


def holes(rows=400):
    """Return numbers with missing values, and with two columns that tell nothing."""
    X, y = numbers(rows, 7, seed=2)
    X[draws(rows, 7, seed=3) < 0.15] = np.nan
    X[:, 4], X[:, 6] = 1.5, np.nan
    return X, y


def mixed(rows=400):
    """Return objects: numbers, numbers with holes, texts, whole numbers, texts with holes."""
    u = draws(rows, 6, seed=4)
    X = np.empty((rows, 5), object)
    X[:, 0] = u[:, 0] * 10 - 5
    X[:, 1] = np.where(u[:, 5] < 0.2, np.nan, u[:, 1] - 0.5)
    X[:, 2] = np.array(["red", "green", "blau", "日本", ""], object)[(u[:, 2] * 5).astype(int)]
    X[:, 3] = (u[:, 3] * 6).astype(int) * 40_000 - 70_000
    X[:, 4] = np.where(u[:, 5] > 0.9, None, np.array(["a", "bb"], object)[(u[:, 4] * 2).astype(int)])
    return X, (u[:, 0] > 0.5) ^ (u[:, 2] < 0.4)


def stored(rows=400, columns=12):
    """Return a sparse matrix of which a quarter is stored, some columns with ones alone."""
    from scipy import sparse

    u = draws(rows, columns, seed=5)
    X = np.where(u < 0.25, u * 80 - 8, 0.0)
    X[:, ::4] = X[:, ::4] != 0
    return sparse.csr_array(X), (X[:, 0] + (X[:, 1] > 2)).astype(int)


def classes(count, rows=400, columns=5, seed=6):
    """Return numbers and as many classes as asked for."""
    X, _ = numbers(rows, columns, seed)
    return X, ((X[:, 0] + 3) / 6 * (count - 0.01)).astype(int)


def named(frame, X):
    return frame({"age": X[:, 0], "": X[:, 1], "größe": X[:, 2], "日本": X[:, 3], "a, name": X[:, 4]})


def _table(X):
    import polars

    return named(polars.DataFrame, X)


FEW = {"m": 3, "b": 6, "tilings": 2, "epochs": 2}
TEXTS = np.array(["ja", "nein", "vielleicht", "日本"])

CASES = {
    "binary": lambda: binfm.train(*numbers(), m=7, b=9, tilings=3, epochs=3),
    "one-grid": lambda: binfm.train(*numbers(), m=5, b=12, tilings=1, epochs=3),
    "missing": lambda: binfm.train(*holes(), m=4, b=7, tilings=3, epochs=3),
    "supervised": lambda: binfm.train(*numbers(), binning="supervised", m=4, b=8, tilings=2, epochs=3),
    "uniform": lambda: binfm.train(*numbers(), binning="uniform", m=9, b=8, epochs=2, loss="hinge"),
    "categories": lambda: binfm.train(*mixed(), categorical=[2, 3, 4], **FEW),
    "sparse": lambda: binfm.train(*stored(), **FEW),
    "text-labels": lambda: binfm.train(classes(4)[0], TEXTS[classes(4)[1]], **FEW),
    "number-labels": lambda: binfm.train(classes(3)[0], classes(3)[1] * 0.5 - 1e9, loss="squared_hinge", **FEW),
    "regression": lambda: binfm.train(numbers()[0], numbers()[0][:, 0] * 2.5e6, loss="squared", **FEW),
    "medium": lambda: binfm.train(*classes(6, 1500, 12), m=32, b=14, epochs=3),
    "wide": lambda: binfm.train(*numbers(), m=130, b=5, tilings=2, epochs=2, optimizer="sgd"),
    "constant": lambda: binfm.train(np.ones((20, 3)), np.arange(20) % 3, **FEW),
    "names": lambda: binfm.train(_table(classes(3)[0]), classes(3)[1], **FEW),
    "early": lambda: binfm.train(*classes(3, 1200), m=16, early_stopping=True, patience=2, epochs=8, seed=7),
    "softmax": lambda: binfm.train(*classes(3), loss="softmax", **FEW),
    "ensemble": lambda: binfm.train(*numbers(), ensemble=3, m=9, b=8, epochs=2),
    "polish": lambda: binfm.train(*classes(4), polish=2, **FEW),
    "sefm": lambda: binfm.train(*classes(3), method="sefm", **FEW),
    "dfm": lambda: binfm.train(*mixed(), method="dfm", categorical=[2, 3, 4], **FEW),
    "fm": lambda: binfm.train(*holes(), method="fm", m=5, epochs=3),
    "fm-sparse": lambda: binfm.train(*stored(), method="fm", **FEW),
    "weights": lambda: binfm.train(
        *holes(800), m=20, epochs=3, sample_weight=draws(800, 1, 8)[:, 0], lambda_w=1e-3, lambda_v=1e-3, scaling=False
    ),
}
"""How to train each of them."""

NO_TABLES = [name for name in CASES if name != "names"]
"""Those that need numpy and scipy alone."""

FILES = [name for name in CASES if name not in ("early", "weights")]
"""Those whose files are kept."""


def rows(model):
    """Return rows to score: ordinary ones, every edge and level, and what is out of the ordinary."""
    rows = (12 * draws(24, model.n_features, seed=9) - 6).astype(np.float32)
    rows[8:16] = np.rint(rows[8:16])
    strange = np.float32([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, 3e38, -3e38])
    rows = np.concatenate([rows, np.repeat(strange[:, None], model.n_features, axis=1)])
    for j, feature in enumerate(model.features):
        known = feature.edges if feature.kind == "numeric" else np.arange(len(feature.levels))
        if feature.levels and not isinstance(feature.levels[0], str):
            known = np.array(feature.levels)
        rows[: len(known), j] = known[: len(rows)]
    return rows


def table(model, rows):
    """Return rows as the model takes them: a number in a text column is the place of the text."""
    if not model._vocabularies:
        return rows
    objects = rows.astype(object)
    for j, texts in model._vocabularies.items():
        for i, place in enumerate(rows[:, j]):
            known = place == place and 0 <= place < len(texts) and place == int(place)
            objects[i, j] = None if place != place else texts[int(place)] if known else "never seen"
    return objects
