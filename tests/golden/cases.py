"""Models that must never change: training gives the same bytes, and scoring the same bits.

The data is computed from integers with basic arithmetic only, so that it does not depend on any library's random
number generator or math functions.
"""

from functools import partial

import binfm
import numpy as np


def draws(samples, columns, seed):
    """Return uniform numbers in [0, 1): SplitMix64 of their positions."""
    state = np.arange(1, samples * columns + 1, dtype=np.uint64) + np.uint64(seed << 32)
    state *= np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ state >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ state >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    state ^= state >> np.uint64(31)
    return ((state >> np.uint64(11)) * 2.0**-53).reshape(samples, columns)


def numbers(samples=400, columns=5, seed=1):
    """Return uniform numbers, long-tailed in every third column, and whether the first two have the same sign."""
    X = 6 * draws(samples, columns, seed) - 3
    X[:, 2::3] = (X[:, 2::3] * X[:, 2::3]) ** 2 * 50
    return X, X[:, 0] * X[:, 1] > 0


def with_missing(samples=400):
    """Return numbers with missing values, and two columns that carry no information."""
    X, y = numbers(samples, 7, seed=2)
    X[draws(samples, 7, seed=3) < 0.15] = np.nan
    X[:, 4], X[:, 6] = 1.5, np.nan
    return X, y


def mixed(samples=400):
    """Return an object array: numbers, numbers with missing values, texts, integers, texts with missing values."""
    u = draws(samples, 6, seed=4)
    X = np.empty((samples, 5), object)
    X[:, 0] = u[:, 0] * 10 - 5
    X[:, 1] = np.where(u[:, 5] < 0.2, np.nan, u[:, 1] - 0.5)
    X[:, 2] = np.array(["red", "green", "blau", "日本", ""], object)[(u[:, 2] * 5).astype(int)]
    X[:, 3] = (u[:, 3] * 6).astype(int) * 40_000 - 70_000
    X[:, 4] = np.where(u[:, 5] > 0.9, None, np.array(["a", "bb"], object)[(u[:, 4] * 2).astype(int)])
    return X, (u[:, 0] > 0.5) ^ (u[:, 2] < 0.4)


def sparse_matrix(samples=400, columns=12):
    """Return a sparse matrix with a quarter of its values stored; in some columns all of them are ones."""
    from scipy import sparse

    u = draws(samples, columns, seed=5)
    X = np.where(u < 0.25, u * 80 - 8, 0.0)
    X[:, ::4] = X[:, ::4] != 0
    return sparse.csr_array(X), (X[:, 0] + (X[:, 1] > 2)).astype(int)


def with_card(model):
    """Return a model with a card that says nothing of the version it was trained with."""
    bare = binfm.Model.from_bytes(model.to_bytes())
    return binfm.Model.from_bytes(bare.to_bytes(card={"rows": 400, "columns": [{"type": "number"}], "text": "Größe"}))


def classes(count, samples=400, columns=5, seed=6):
    """Return numbers and labels with `count` classes."""
    X, _ = numbers(samples, columns, seed)
    return X, ((X[:, 0] + 3) / 6 * (count - 0.01)).astype(int)


def data_frame(X):
    """Return a polars data frame with unusual column names."""
    import polars

    return polars.DataFrame({"age": X[:, 0], "": X[:, 1], "größe": X[:, 2], "日本": X[:, 3], "a, name": X[:, 4]})


SMALL = {"m": 3, "b": 6, "tilings": 2, "epochs": 2}
TEXT_LABELS = np.array(["ja", "nein", "vielleicht", "日本"])

plain = partial(binfm.train, regularization=0)
"""Training in which nothing is chosen."""

CASES = {
    "binary": lambda: plain(*numbers(), m=7, b=9, tilings=3, epochs=3),
    "one-grid": lambda: plain(*numbers(), m=5, b=12, tilings=1, epochs=3),
    "missing": lambda: plain(*with_missing(), m=4, b=7, tilings=3, epochs=3),
    "supervised": lambda: plain(*numbers(), binning="supervised", m=4, b=8, tilings=2, epochs=3),
    "uniform": lambda: plain(*numbers(), binning="uniform", m=9, b=8, epochs=2, loss="hinge"),
    "categories": lambda: plain(*mixed(), categorical=[2, 3, 4], **SMALL),
    "sparse": lambda: plain(*sparse_matrix(), **SMALL),
    "text-labels": lambda: plain(classes(4)[0], TEXT_LABELS[classes(4)[1]], **SMALL),
    "number-labels": lambda: plain(classes(3)[0], classes(3)[1] * 0.5 - 1e9, loss="squared_hinge", **SMALL),
    "regression": lambda: plain(numbers()[0], numbers()[0][:, 0] * 2.5e6, loss="squared", **SMALL),
    "medium": lambda: plain(*classes(6, 1500, 12), m=32, b=14, epochs=3),
    "wide": lambda: plain(*numbers(), m=130, b=5, tilings=2, epochs=2, optimizer="sgd"),
    "constant": lambda: plain(np.ones((20, 3)), np.arange(20) % 3, **SMALL),
    "names": lambda: plain(data_frame(classes(3)[0]), classes(3)[1], **SMALL),
    "early": lambda: plain(*classes(3, 1200), m=16, early_stopping=True, patience=2, epochs=8, seed=7),
    "softmax": lambda: plain(*classes(3), loss="softmax", **SMALL),
    "ensemble": lambda: plain(*numbers(), ensemble=3, m=9, b=8, epochs=2),
    "polish": lambda: plain(*classes(4), polish=2, **SMALL),
    "w-bits-4": lambda: plain(*classes(3), w_bits=4, **SMALL),
    "w-bits-8": lambda: plain(*with_missing(), w_bits=8, m=9, b=8, tilings=3, epochs=3, polish=1),
    "w-bits-ensemble": lambda: plain(*numbers(), w_bits=3, ensemble=2, m=4, b=8, epochs=2, dropout=0.2),
    "additive": lambda: plain(*mixed(), categorical=[2, 3, 4], w_bits=8, **{**SMALL, "m": 0}),
    "additive-signs": lambda: plain(*sparse_matrix(), **{**SMALL, "m": 0}),
    "sefm": lambda: plain(*classes(3), method="sefm", **SMALL),
    "dfm": lambda: plain(*mixed(), method="dfm", categorical=[2, 3, 4], **SMALL),
    "fm": lambda: plain(*with_missing(), method="fm", m=5, epochs=3),
    "linear": lambda: plain(*mixed(), method="dfm", categorical=[2, 3, 4], **{**SMALL, "m": 0}),
    "fm-sparse": lambda: plain(*sparse_matrix(), method="fm", **SMALL),
    "card": lambda: with_card(plain(*classes(3), **SMALL)),
    "weights": lambda: plain(
        *with_missing(800),
        m=20,
        epochs=3,
        sample_weight=draws(800, 1, 8)[:, 0],
        lambda_w=1e-3,
        lambda_v=1e-3,
        scaling=False,
    ),
    "default": lambda: binfm.train(*numbers()),
    "default-classes": lambda: binfm.train(*classes(3, 1200)),
    "default-mixed": lambda: binfm.train(*mixed(), categorical=[2, 3, 4]),
    "default-regression": lambda: binfm.train(numbers()[0], numbers()[0][:, 0] * 2.5e6, loss="squared"),
    "default-sparse": lambda: binfm.train(*sparse_matrix()),
}
"""Functions that train the models, by name."""

WITHOUT_POLARS = [name for name in CASES if name != "names"]
"""Cases that need only numpy and scipy."""

FILES = [name for name in CASES if name not in ("early", "weights")]
"""Cases whose model files are committed; the others are compared by hash only."""


def samples(model):
    """Return samples to score: ordinary values, every edge and category, and special values such as NaN."""
    X = (12 * draws(24, model.n_features, seed=9) - 6).astype(np.float32)
    X[8:16] = np.rint(X[8:16])
    special = np.float32([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, 3e38, -3e38])
    X = np.concatenate([X, np.repeat(special[:, None], model.n_features, axis=1)])
    for j, feature in enumerate(model.features):
        known = feature.edges if feature.kind == "numeric" else np.arange(len(feature.categories))
        if feature.categories and not isinstance(feature.categories[0], str):
            known = np.array(feature.categories)
        X[: len(known), j] = known[: len(X)]
    return X


def table(model, X):
    """Return the samples as the model expects them: in text columns, an index becomes the category it stands for."""
    if not model._vocabularies:
        return X
    objects = X.astype(object)
    for j, texts in model._vocabularies.items():
        for i, index in enumerate(X[:, j]):
            known = index == index and 0 <= index < len(texts) and index == int(index)
            objects[i, j] = None if index != index else texts[int(index)] if known else "never seen"
    return objects
