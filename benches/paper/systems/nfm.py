"""Neural FM (He & Chua 2017) with its suggested settings: bi-interaction pooling and one hidden layer, in JAX.

    score(x) = w0 + Σ w_i x_i + h · relu(W · f + c),      f = ½ ((Σ x_i v_i)² − Σ (x_i v_i)²)

with batch normalization and dropout before and after the hidden layer. More than two classes share one softmax.

A feature is either a standardized number, or an id: every distinct value, rounded to two decimals, has its own w and v.
Ids are what the authors' program makes of numbers, and they agree with the memory costs that the paper reports for NFM.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from paper.choice import Settings
from paper.data import Codes
from paper.memory import FLOAT
from paper.plan import Plan
from paper.systems.base import Fitted, System

FACTORS = 64
HIDDEN = 64
BATCH = 128
RATE = 0.05
KEEP = (0.8, 0.5)
"""Dropout keeps these shares of the pooled and of the hidden values."""
MOMENTUM = 0.9
"""For the running means and variances of batch normalization."""
EPSILON = 1e-5
HELD_OUT = 0.1
"""Share of the training part held out to choose the epoch to keep."""
DECIMALS = 2
PADDING = 256
"""Embedding tables are padded to a multiple of this, so that all splits share one compiled program."""

Tree = Any
Moments = tuple[jax.Array, jax.Array]


class Model(NamedTuple):
    params: Tree
    moments: tuple[Moments, Moments]


def start(inputs: int, outputs: int, seed: int) -> Model:
    rng = np.random.default_rng(seed)
    params = {
        "w0": np.zeros(outputs),
        "w": np.zeros((inputs, outputs)),
        "v": rng.normal(0, 0.01, (inputs, FACTORS)),
        "scale": np.ones((2, FACTORS)),
        "shift": np.zeros((2, FACTORS)),
        "W": rng.normal(0, np.sqrt(2 / (FACTORS + HIDDEN)), (FACTORS, HIDDEN)),
        "c": np.zeros(HIDDEN),
        "h": rng.normal(0, np.sqrt(2 / (HIDDEN + outputs)), (HIDDEN, outputs)),
    }
    identity = jnp.zeros(FACTORS), jnp.ones(FACTORS)
    return Model({name: jnp.asarray(value, jnp.float32) for name, value in params.items()}, (identity, identity))


def pooled(params: Tree, X: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the linear term and the bi-interaction of numbers, or of ids where X holds integers."""
    if jnp.issubdtype(X.dtype, jnp.integer):
        v = params["v"][X]
        linear, total, squares = params["w"][X].sum(1), v.sum(1), (v**2).sum(1)
    else:
        linear, total, squares = X @ params["w"], X @ params["v"], X**2 @ params["v"] ** 2
    return params["w0"] + linear, (total**2 - squares) / 2


def forward(model: Model, X: jax.Array, key: jax.Array | None) -> tuple[jax.Array, tuple[Moments, Moments]]:
    """Return the scores and the new moments; training mode if a key is given."""
    params = model.params
    keys = (None, None) if key is None else jax.random.split(key)
    linear, f = pooled(params, X)
    f, first = _normalized(params, model.moments, 0, f, keys[0])
    hidden, second = _normalized(params, model.moments, 1, f @ params["W"] + params["c"], keys[1], jax.nn.relu)
    return linear + hidden @ params["h"], (first, second)


def _normalized(params: Tree, moments: Any, layer: int, x: jax.Array, key: Any, then: Any = lambda x: x) -> Any:
    """Normalize over the batch (or by the running moments), apply `then`, and in training apply dropout."""
    mean, variance = moments[layer] if key is None else (x.mean(0), x.var(0))
    x = (x - mean) / jnp.sqrt(variance + EPSILON) * params["scale"][layer] + params["shift"][layer]
    if key is None:
        return then(x), moments[layer]
    kept = jax.random.bernoulli(key, KEEP[layer], x.shape)
    old_mean, old_variance = moments[layer]
    new = MOMENTUM * old_mean + (1 - MOMENTUM) * mean, MOMENTUM * old_variance + (1 - MOMENTUM) * variance
    return jnp.where(kept, then(x) / KEEP[layer], 0), new


def loss(scores: jax.Array, y: jax.Array) -> jax.Array:
    if scores.shape[1] == 1:
        return optax.sigmoid_binary_cross_entropy(scores[:, 0], y).mean()
    return optax.softmax_cross_entropy_with_integer_labels(scores, y).mean()


@jax.jit
def one_epoch(model: Model, state: Tree, X: jax.Array, y: jax.Array, key: jax.Array) -> tuple[Model, Tree]:
    """Train for one epoch; batches lie along the first axis."""

    def objective(params: Tree, moments: Any, rows: Any, labels: Any, key: Any) -> Any:
        scores, moments = forward(Model(params, moments), rows, key)
        return loss(scores, labels), moments

    def step(carry: Any, batch: Any) -> Any:
        model, state = carry
        gradient, moments = jax.grad(objective, has_aux=True)(model.params, model.moments, *batch)
        change, state = OPTIMIZER.update(gradient, state)
        return (Model(optax.apply_updates(model.params, change), moments), state), None

    return jax.lax.scan(step, (model, state), (X, y, jax.random.split(key, len(X))))[0]


OPTIMIZER = optax.adagrad(RATE)


@jax.jit
def scores_of(model: Model, X: jax.Array) -> jax.Array:
    return forward(model, X, None)[0]


@jax.jit
def errors_of(model: Model, X: jax.Array, y: jax.Array) -> jax.Array:
    return (codes_of(model, X, model.params["w0"].size == 1) != y).sum()


@partial(jax.jit, static_argnames="binary")
def codes_of(model: Model, X: jax.Array, binary: bool) -> jax.Array:
    scores = scores_of(model, X)
    return (scores[:, 0] > 0).astype(int) if binary else scores.argmax(1)


def train(X: NDArray[Any], y: Codes, inputs: int, classes: int, seed: int, plan: Plan) -> Model:
    """Train and return the epoch with the fewest errors on held-out samples."""
    X, X_held, y, y_held = train_test_split(X, y, test_size=HELD_OUT, stratify=y, random_state=seed)
    rng = np.random.default_rng(seed)
    model = start(inputs, 1 if classes == 2 else classes, seed)
    state = OPTIMIZER.init(model.params)
    batch = min(BATCH, len(y))
    best, least = model, np.inf
    for _ in range(min(plan.nfm_epochs, plan.nfm_steps * batch // len(y))):
        order = rng.permutation(len(y))[: len(y) // batch * batch].reshape(-1, batch)
        model, state = one_epoch(model, state, X[order], y[order], jax.random.key(rng.integers(2**31)))
        errors = int(errors_of(model, X_held, y_held))
        best, least = (model, errors) if errors <= least else (best, least)
    return best


class Nfm(System):
    """NFM on standardized numbers."""

    name, label, package = "nfm", "NFM", "jax"
    counted = "weights"

    def fit(self, settings: Settings, X: NDArray[Any], y: Codes, classes: int, seed: int, plan: Plan) -> Fitted:
        scaler = StandardScaler().fit(X)
        mean, scale = scaler.mean_.astype(np.float32), scaler.scale_.astype(np.float32)
        model = train((X - mean) / scale, y, X.shape[1], classes, seed, plan)
        size = sum(value.size for value in model.params.values()) * FLOAT // 8
        return Fitted(lambda rows: np.asarray(codes_of(model, (rows - mean) / scale, classes == 2)), size)


class NfmIds(System):
    """NFM with an id for every distinct value of a feature; values not seen in training have none."""

    name, label, package = "nfm-ids", "NFM, ids", "jax"
    counted = "weights"

    def __init__(self, decimals: int = DECIMALS) -> None:
        self.decimals = decimals

    def fit(self, settings: Settings, X: NDArray[Any], y: Codes, classes: int, seed: int, plan: Plan) -> Fitted:
        values = [np.unique(np.round(column, self.decimals)) for column in X.T]
        count = sum(map(len, values))
        padded = -(-(count + 1) // PADDING) * PADDING
        model = train(ids(values, X, self.decimals), y, padded, classes, seed, plan)
        unknown = {name: model.params[name].at[count].set(0) for name in ("w", "v")}
        model = model._replace(params={**model.params, **unknown})
        padding = (padded - count) * (FACTORS + model.params["w"].shape[1])
        size = (sum(value.size for value in model.params.values()) - padding) * FLOAT // 8
        return Fitted(lambda rows: np.asarray(codes_of(model, ids(values, rows, self.decimals), classes == 2)), size)


def ids(values: list[NDArray[Any]], X: NDArray[Any], decimals: int) -> NDArray[np.int32]:
    """Return the index of each value among the known values of all features; the last index means unknown."""
    found = np.empty(X.shape, np.int32)
    offset, unknown = 0, sum(map(len, values))
    for j, known in enumerate(values):
        column = np.round(X[:, j], decimals)
        place = np.minimum(np.searchsorted(known, column), len(known) - 1)
        found[:, j] = np.where(known[place] == column, offset + place, unknown)
        offset += len(known)
    return found
