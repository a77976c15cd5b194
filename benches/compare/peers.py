"""One small adapter per system: how to fit it, score a table, and score a single sample.

Creating an adapter imports its package, so a missing package is found before anything is measured. All return scores
rather than probabilities if they can, and all boosted trees have the same size.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, ClassVar

from compare.cases import QUICK

FACTORS = 32
BINS = 20
TREES = 10 if QUICK else 100
"""Boosting rounds; each has one tree per output."""
LEAVES = 31

Call = tuple[Callable[[Any], Any], Any]
"""A function and its argument, timed without any wrapper."""


class Peer:
    """One system with its settings."""

    name: ClassVar[str]
    package: ClassVar[str]
    """Name on PyPI."""
    module: ClassVar[str]
    what: ClassVar[str] = ""
    """Description of the settings."""
    trains: ClassVar[bool] = True
    """False if another adapter's fit is the same."""
    trains_on_threads: ClassVar[bool] = True
    scores: ClassVar[bool] = True
    slow: ClassVar[bool] = False
    """Takes microseconds per sample, so it scores fewer of them."""

    def __init__(self, threads: int = 1, epochs: int = 20) -> None:
        self.lib = import_module(self.module)
        self.threads = threads
        self.epochs = epochs
        self.model: Any = None

    @classmethod
    def settings(cls, epochs: int) -> str:
        return cls.what.format(epochs=epochs)

    def fit(self, X: Any, y: Any) -> None:
        """Train a model."""
        raise NotImplementedError

    def score(self, X: Any) -> Any:
        return self.model.decision_function(X)

    def one_row(self, X: Any) -> dict[str, Call]:
        """Return the documented ways to score a single numpy sample, the fastest first, by the code a user writes."""
        return {"decision_function(X[:1])": (self.model.decision_function, X[:1])}


class Sum(Peer):
    """Reads X once: a lower bound for scoring."""

    name, package, module = "numpy X.sum()", "numpy", "numpy"
    what = "reads X once"
    trains = False

    def fit(self, X: Any, y: Any) -> None:
        pass

    def score(self, X: Any) -> Any:
        return X.sum()

    def one_row(self, X: Any) -> dict[str, Call]:
        return {}


class Binfm(Peer):
    name, package, module = "binfm, tilings=1", "binfm", "binfm"
    what = f"m={FACTORS}, b={BINS}, one-bit w, {{epochs}} epochs"
    arguments: ClassVar[dict[str, Any]] = {"m": FACTORS, "b": BINS, "tilings": 1}

    def fit(self, X: Any, y: Any) -> None:
        arguments = {**self.arguments, "epochs": self.epochs} if self.arguments else {}
        self.model = self.lib.train(X, y, **arguments, early_stopping=False, n_jobs=self.threads)

    def score(self, X: Any) -> Any:
        return self.model.decision_function(X, n_jobs=self.threads)

    def one_row(self, X: Any) -> dict[str, Call]:
        return {
            "score_row(row)": (self.model.score_row, X[0].copy()),
            "score_row(row_as_list)": (self.model.score_row, X[0].tolist()),
            "decision_function(X[:1])": (partial(self.model.decision_function, n_jobs=1), X[:1]),
        }

    def parameters(self) -> int:
        """Return the number of trained parameters: p·(m + 1) per output."""
        return int(self.model.w.size + self.model.V.size)


class BinfmTiled(Binfm):
    name = "binfm, tilings=4"
    what = f"m={FACTORS}, b={BINS}, w of 8 bits, regularization=30, {{epochs}} epochs"
    arguments: ClassVar[dict[str, Any]] = {"m": FACTORS, "b": BINS, "tilings": 4, "regularization": 30}


class BinfmDefault(Binfm):
    name = "binfm, default"
    what = "everything chosen on held-out samples, 20 epochs"
    arguments: ClassVar[dict[str, Any]] = {}


class LinearSvc(Peer):
    name, package, module = "LinearSVC", "scikit-learn", "sklearn.svm"
    what = "scikit-learn's defaults"
    trains_on_threads = False

    def fit(self, X: Any, y: Any) -> None:
        self.model = self.lib.LinearSVC(random_state=0).fit(X, y)


class OnnxLinear(LinearSvc):
    """LinearSVC exported as one Gemm."""

    name, package = "onnxruntime, linear", "onnxruntime"
    what = "LinearSVC as one Gemm"
    trains = False

    def __init__(self, threads: int = 1, epochs: int = 20) -> None:
        super().__init__(threads, epochs)
        self.onnx = import_module("onnx")
        self.runtime = import_module("onnxruntime")

    def fit(self, X: Any, y: Any) -> None:
        super().fit(X, y)
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = self.threads
        graph = self._gemm(self.model.coef_.astype("f4").T, self.model.intercept_.astype("f4"))
        self.session = self.runtime.InferenceSession(
            graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )

    def score(self, X: Any) -> Any:
        return self.session.run(None, {"X": X})[0]

    def one_row(self, X: Any) -> dict[str, Call]:
        return {"run(None, {'X': X[:1]})": (partial(self.session.run, None), {"X": X[:1]})}

    def _gemm(self, weights: Any, bias: Any) -> Any:
        helper, from_array = self.onnx.helper, self.onnx.numpy_helper.from_array
        number = self.onnx.TensorProto.FLOAT
        graph = helper.make_graph(
            [helper.make_node("Gemm", ["X", "w", "b"], ["score"])],
            "linear",
            [helper.make_tensor_value_info("X", number, [None, len(weights)])],
            [helper.make_tensor_value_info("score", number, [None, 1])],
            [from_array(weights, "w"), from_array(bias, "b")],
        )
        # Old opset and IR versions, so that any onnxruntime can load what any onnx writes.
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


class LightGbm(Peer):
    name, package, module = "LightGBM", "lightgbm", "lightgbm"
    what = f"{TREES} rounds × {LEAVES} leaves"
    slow = True

    def fit(self, X: Any, y: Any) -> None:
        classes = int(y.max()) + 1
        objective = {"objective": "binary"} if classes == 2 else {"objective": "multiclass", "num_class": classes}
        params = {**objective, "num_leaves": LEAVES, "num_threads": self.threads, "verbose": -1}
        self.model = self.lib.train(params, self.lib.Dataset(X, y), TREES)  # which bins X first

    def score(self, X: Any) -> Any:
        return self.model.predict(X, raw_score=True, num_threads=self.threads)

    def one_row(self, X: Any) -> dict[str, Call]:
        return {"Booster.predict(X[:1])": (partial(self.model.predict, raw_score=True), X[:1])}


class HistBoosting(Peer):
    name, package, module = "HistGradientBoosting", "scikit-learn", "sklearn.ensemble"
    what = f"{TREES} rounds × {LEAVES} leaves"
    slow = True

    def fit(self, X: Any, y: Any) -> None:
        self.model = self.lib.HistGradientBoostingClassifier(
            max_iter=TREES, max_leaf_nodes=LEAVES, early_stopping=False, random_state=0
        ).fit(X, y)


class XgBoost(Peer):
    name, package, module = "XGBoost", "xgboost", "xgboost"
    what = f"{TREES} rounds × {LEAVES} leaves"
    slow = True

    def fit(self, X: Any, y: Any) -> None:
        table = self.lib.QuantileDMatrix(X, y, nthread=self.threads)
        self.model = self.lib.train(_xgboost_params(self.threads), table, TREES)

    def score(self, X: Any) -> Any:
        return self.model.inplace_predict(X, predict_type="margin")

    def one_row(self, X: Any) -> dict[str, Call]:
        return {"inplace_predict(X[:1])": (partial(self.model.inplace_predict, predict_type="margin"), X[:1])}


class Hessboost(Peer):
    name, package, module = "hessboost, native", "hessboost", "hessboost"
    what = f"{TREES} rounds × {LEAVES} leaves"
    slow = True

    def fit(self, X: Any, y: Any) -> None:
        self.model = self.lib.train(_xgboost_params(self.threads), self.lib.DMatrix(X, y), TREES)

    def score(self, X: Any) -> Any:
        return self.model.predict(X, output_margin=True)

    def one_row(self, X: Any) -> dict[str, Call]:
        return {"predict_row(row)": (partial(self.model.predict_row, output_margin=True), X[0].copy())}


class HessboostCompact(Hessboost):
    name = "hessboost, compact"
    trains = False

    def fit(self, X: Any, y: Any) -> None:
        super().fit(X, y)
        self.model = self.model.to_compact()

    def one_row(self, X: Any) -> dict[str, Call]:
        return {"predict(X[:1])": (partial(self.model.predict, output_margin=True), X[:1])}


class ModernFm(Peer):
    name, package, module = "modern-fm", "modern-fm", "modern_fm"
    what = f"{FACTORS} factors, {{epochs}} epochs, batches of 256"

    def fit(self, X: Any, y: Any) -> None:
        self.model = self.lib.FMClassifier(
            n_factors=FACTORS, max_iter=self.epochs, batch_size=256, n_jobs=self.threads, random_state=0
        ).fit(X, y)


class MyFm(Peer):
    """Gibbs sampling. Scoring is not compared, because a score averages many models."""

    name, package, module = "myFM", "myfm", "myfm"
    what = f"{FACTORS} factors, 100 Gibbs samples"
    trains_on_threads = False
    scores = False

    def fit(self, X: Any, y: Any) -> None:
        self.model = self.lib.MyFMClassifier(rank=FACTORS, random_seed=0).fit(X, y, n_iter=100)


def _xgboost_params(threads: int) -> dict[str, Any]:
    return {
        "objective": "binary:logistic",
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": LEAVES,
        "max_depth": 0,
        "nthread": threads,
    }


ALL: tuple[type[Peer], ...] = (
    Sum,
    Binfm,
    BinfmTiled,
    BinfmDefault,
    LinearSvc,
    OnnxLinear,
    LightGbm,
    HistBoosting,
    XgBoost,
    Hessboost,
    HessboostCompact,
    ModernFm,
    MyFm,
)
WIDE: tuple[type[Peer], ...] = (Binfm, BinfmTiled, LinearSvc, LightGbm, XgBoost)
"""Systems that handle the shape of the paper's webspam in reasonable time."""
BY_NAME = {peer.name: peer for peer in ALL}
