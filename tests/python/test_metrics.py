"""Metrics by name against scikit-learn, and one's own, in history, early stopping, callbacks and the search."""

import binfm
import numpy as np
import pytest
from binfm import BinFMClassifier, BinFMRegressor
from binfm.data.targets import REGRESSION, Labels
from binfm.metrics import Scored, measure_of
from sklearn import metrics as sk
from sklearn.utils import estimator_checks


def scored(classes, weighted, loss="logistic", seed=0):
    """Return coarse scores, so that some are equal."""
    rng = np.random.default_rng(seed)
    scores = np.round(rng.normal(size=200 if classes == 2 else (200, classes)), 1)
    target = rng.integers(0, classes, 200).astype(float)
    labels = Labels("int", list(range(classes)))
    return Scored(target, scores, rng.random(200) if weighted else None, labels, loss)


def against_rest(function, s):
    """Return the mean over classes of a metric of two."""
    return np.mean([function(s.target == k, s.scores[:, k], sample_weight=s.weight) for k in range(s.scores.shape[1])])


OTHERS = {
    "accuracy": lambda s, **w: sk.accuracy_score(s.target, s.predicted, **w),
    "error": lambda s, **w: sk.zero_one_loss(s.target, s.predicted, **w),
    "balanced_accuracy": lambda s, **w: sk.balanced_accuracy_score(s.target, s.predicted, **w),
    "log_loss": lambda s, **w: sk.log_loss(s.target, s.probabilities, **w),
}
OF_TWO = {
    **OTHERS,
    "f1": lambda s, **w: sk.f1_score(s.target, s.predicted, **w),
    "auc": lambda s, **w: sk.roc_auc_score(s.target, s.scores, **w),
    "average_precision": lambda s, **w: sk.average_precision_score(s.target, s.scores, **w),
}
OF_MORE = {
    **OTHERS,
    "f1": lambda s, **w: sk.f1_score(s.target, s.predicted, average="macro", **w),
    "auc": lambda s, **w: against_rest(sk.roc_auc_score, s),
    "average_precision": lambda s, **w: against_rest(sk.average_precision_score, s),
}
OF_NUMBERS = {"rmse": sk.root_mean_squared_error, "mse": sk.mean_squared_error, "mae": sk.mean_absolute_error}
OF_NUMBERS["r2"] = sk.r2_score


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("name", list(OF_TWO))
def test_metrics_of_classes_are_those_of_scikit_learn(name, classes, weighted):
    for loss in ("logistic", "softmax") if classes > 2 else ("logistic",):
        s = scored(classes, weighted, loss)
        expected = (OF_TWO if classes == 2 else OF_MORE)[name](s, sample_weight=s.weight)
        assert measure_of(name, "eval_metric", loss).of(s) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", list(OF_NUMBERS))
def test_metrics_of_numbers_are_those_of_scikit_learn(name, weighted):
    rng = np.random.default_rng(0)
    s = Scored(rng.normal(size=99), rng.normal(size=99), rng.random(99) if weighted else None, REGRESSION, "squared")
    expected = OF_NUMBERS[name](s.target, s.scores, sample_weight=s.weight)
    assert measure_of(name, "eval_metric", "squared").of(s) == pytest.approx(expected, rel=1e-12)


def test_metrics_without_an_answer_are_nan():
    one_class = Scored(np.ones(9), np.arange(9.0), None, Labels("int", [0, 1]), "logistic")
    for name in ("auc", "average_precision"):
        assert np.isnan(measure_of(name, "eval_metric", None).of(one_class))
    constant = Scored(np.ones(9), np.arange(9.0), None, REGRESSION, "squared")
    assert np.isnan(measure_of("r2", "eval_metric", "squared").of(constant))


def samples(rows=1200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    return X, np.where(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=rows) > 0, "late", "early")


X, Y = samples()
VALID = samples(seed=1)
SMALL = {"m": 4, "epochs": 12, "patience": 3}


@pytest.mark.parametrize("kind", ["binary", "classes", "softmax", "regression", "sefm", "dropout"])
def test_the_kept_epoch_has_the_metric_of_the_model(kind):
    more = {
        "softmax": {"loss": "softmax"},
        "regression": {"loss": "squared"},
        "sefm": {"method": "sefm"},
        "dropout": {"dropout": 0.2},
    }.get(kind, {})
    target = {"regression": lambda X: X[:, 0] * X[:, 1] * 30 + 500, "classes": lambda X: np.digitize(X[:, 0], [-1, 1])}
    target["softmax"] = target["classes"]
    y, y_valid = (target[kind](x) if kind in target else labels for x, labels in ((X, Y), VALID))
    name = "mae" if kind == "regression" else "log_loss"
    weight = np.random.default_rng(2).random(len(y_valid))
    eval_set = (VALID[0], y_valid, weight)
    model = binfm.train(X, y, eval_set=eval_set, eval_metric=name, **SMALL, **more)
    values = [record[f"val_{name}"] for record in model.history]
    assert model.best_epoch == 1 + int(np.argmin(values))
    if kind == "regression":
        measured = np.average(np.abs(model.predict(VALID[0]) - y_valid), weights=weight)
    else:
        measured = sk.log_loss(y_valid, model.predict_proba(VALID[0]), sample_weight=weight)
    rounded = kind in ("classes", "softmax")  # the file rounds the scales of several outputs
    assert min(values) == pytest.approx(measured, rel=0.05 if rounded else 1e-4)


def test_members_of_an_ensemble_are_averaged():
    seen = []
    more = {"ensemble": 2, "m": 8, "epochs": 6, "callback": lambda epoch, record, scores: seen.append(scores)}
    model = binfm.train(X, Y, eval_set=VALID, **more)
    joined = model.decision_function(VALID[0])
    assert np.corrcoef(seen[model.best_epoch - 1], joined)[0, 1] > 0.9, "joining loses little"


def falling(scale):
    """Return a metric that is best in the third epoch."""
    values = iter([3, 4, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0])
    return lambda y, scores: scale * next(values)


@pytest.mark.parametrize(("scale", "higher"), [(1, True), (-1, False)])
def test_a_metric_decides_which_epoch_is_kept(scale, higher):
    metric = binfm.Metric("own", falling(scale), higher_is_better=higher)
    plain = {**SMALL, "regularization": 0}
    stopped = binfm.train(X, Y, eval_set=VALID, eval_metric=metric, **plain)
    assert (stopped.best_epoch, len(stopped.history)) == (3, 6)
    three = binfm.train(X, Y, **{**plain, "epochs": 12}, callback=lambda epoch, record: epoch == 3)
    assert stopped == three, "the model is that of the third epoch"


def test_the_first_of_several_metrics_decides():
    metric = binfm.Metric("own", falling(1), higher_is_better=True)
    model = binfm.train(X, Y, eval_set=VALID, eval_metric=[metric, "auc", "error"], **SMALL)
    assert model.best_epoch == 3
    assert list(model.history[0]) == ["epoch", "loss", "val_loss", "val_own", "val_auc", "val_error"]


def test_without_early_stopping_metrics_are_recorded_only():
    metric = binfm.Metric("own", falling(1), higher_is_better=True)
    model = binfm.train(X, Y, eval_set=VALID, eval_metric=metric, early_stopping=False, **SMALL)
    assert (model.best_epoch, len(model.history)) == (12, 12)
    assert model == binfm.train(X, Y, early_stopping=False, **SMALL)
    assert model.history[2]["val_own"] == 5


def test_epochs_whose_metric_is_nan_are_never_best():
    values = iter([np.nan, np.nan, 1.0, np.nan, np.nan, np.nan, np.nan, np.nan])
    metric = binfm.Metric("own", lambda y, scores: next(values), higher_is_better=False)
    assert binfm.train(X, Y, eval_set=VALID, eval_metric=metric, **SMALL).best_epoch == 3


def test_samples_of_x_are_held_out_for_a_metric():
    seen = []
    binfm.train(
        X, Y, eval_metric="auc", m=4, epochs=1, callback=lambda epoch, record, y, scores: seen.append((y, scores))
    )
    y, scores = seen[0]
    assert len(y) == len(scores) == pytest.approx(len(X) / 10, abs=2)
    assert sorted(set(y)) == ["early", "late"]


def test_a_callback_sees_targets_and_scores_of_held_out_samples():
    seen = []

    def callback(epoch, record, scores, y):
        seen.append(record["val_auc"])
        assert record["val_auc"] == pytest.approx(sk.roc_auc_score(y, scores))
        assert (y == VALID[1]).all()
        return epoch == 4

    model = binfm.train(X, Y, eval_set=VALID, eval_metric="auc", callback=callback, **SMALL)
    assert [record["val_auc"] for record in model.history] == seen
    assert len(seen) == 4


def test_a_callback_without_held_out_samples_gets_none():
    seen = []
    binfm.train(X, Y, m=2, epochs=1, callback=lambda epoch, record, scores: seen.append(scores))
    assert seen == [None]


def test_metrics_do_not_change_the_model():
    plain = binfm.train(X, Y, eval_set=VALID, early_stopping=False, **SMALL)
    watched = binfm.train(X, Y, eval_set=VALID, early_stopping=False, **SMALL, eval_metric=["auc", "log_loss"])
    assert plain == watched


def test_functions_and_scorers_of_scikit_learn():
    y, y_valid = (labels == "late" for labels in (Y, VALID[1]))
    scorer = sk.make_scorer(sk.fbeta_score, beta=2)
    metrics = [sk.roc_auc_score, "neg_brier_score", "roc_auc", scorer]
    model = binfm.train(X, y, eval_set=(VALID[0], y_valid), eval_metric=metrics, early_stopping=False, **SMALL)
    last = model.history[-1]
    assert (
        last["val_roc_auc_score"]
        == last["val_roc_auc"]
        == pytest.approx(sk.roc_auc_score(y_valid, model.decision_function(VALID[0])), rel=1e-3)
    )
    probabilities = model.predict_proba(VALID[0])[:, 1]
    assert last["val_neg_brier_score"] == pytest.approx(-sk.brier_score_loss(y_valid, probabilities), rel=1e-3)
    assert last["val_score"] == pytest.approx(sk.fbeta_score(y_valid, model.predict(VALID[0]), beta=2))


@pytest.mark.parametrize(
    ("given", "more", "message"),
    [
        ("acuracy", {}, r"^eval_metric must be 'accuracy', .*, or a scorer of scikit-learn, got 'acuracy'$"),
        ("rmse", {}, r"^eval_metric must be 'accuracy', .* for classes, got 'rmse'$"),
        ("auc", {"loss": "squared"}, r"^eval_metric must be 'rmse', .* for regression, got 'auc'$"),
        ("log_loss", {"loss": "hinge"}, r"^eval_metric 'log_loss' needs loss 'logistic' or 'softmax', got 'hinge'$"),
        (lambda y, scores: 1.0, {}, r"^eval_metric must say whether higher is better: pass binfm.Metric"),
        ("auc", {"early_stopping": False}, r"^eval_metric needs held-out samples: pass an eval_set or early_stopping"),
        ("auc", {"max_bytes": 300}, r"^eval_metric needs held-out samples"),
    ],
)
def test_unsuitable_metrics_are_refused(given, more, message):
    with pytest.raises(ValueError, match=message):
        binfm.train(X, X[:, 0] if more.get("loss") == "squared" else Y, eval_metric=given, **more)


def test_what_is_no_metric_is_refused():
    with pytest.raises(
        TypeError, match=r"^eval_metric must be the name of a metric, a binfm.Metric or a function, got"
    ):
        binfm.train(X, Y, eval_metric=3)
    text = binfm.Metric("own", lambda y, scores: "good", higher_is_better=True)
    with pytest.raises(TypeError, match=r"^metric 'own' must return a number, got str$"):
        binfm.train(X, Y, eval_metric=text)
    with pytest.raises(ZeroDivisionError):
        binfm.train(X, Y, eval_metric=binfm.Metric("own", lambda y, scores: 1 / 0, higher_is_better=True))
    with pytest.raises(ValueError, match=r"^scoring must be None without max_bytes, got 'auc'$"):
        binfm.train(X, Y, scoring="auc")


def test_estimators_have_the_metric():
    classifier = BinFMClassifier(**SMALL, eval_metric="auc").fit(X, Y, eval_set=[VALID])
    assert "val_auc" in classifier.model_.history[0]
    regressor = BinFMRegressor(**SMALL, eval_metric="r2").fit(X, X[:, 0], eval_set=(VALID[0], VALID[0][:, 0]))
    assert regressor.model_.history[-1]["val_r2"] > 0.5
    estimator_checks.check_parameters_default_constructible("BinFMClassifier", BinFMClassifier())


# The search


def rare(rows=1500, seed=0):
    """Return samples of which 7 % belong to one class."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    return X, (X[:, 0] * X[:, 1] + rng.normal(size=rows) > 2.2).astype(int)


def test_unbalanced_classes_are_compared_by_log_loss():
    X, y = rare()
    assert y.mean() < 0.1
    search = binfm.train(X, y, max_bytes=150, epochs=3).search
    assert search.metric == "log_loss"
    last = [trial for trial in search.trials if trial["rung"] == 3]
    assert search.chosen["score"] == min(trial["score"] for trial in last if not np.isnan(trial["score"]))
    assert binfm.train(X, X[:, 0] > 0, max_bytes=150, epochs=3).search.metric == "accuracy"
    assert binfm.train(X, y, max_bytes=150, epochs=3, loss="hinge").search.metric == "accuracy"
    weight = np.where(y == 1, 1 / y.mean(), 1.0)
    assert binfm.train(X, y, max_bytes=150, epochs=3, sample_weight=weight).search.metric == "accuracy"


@pytest.fixture(scope="module")
def chosen_by_auc():
    return binfm.train(*rare(), max_bytes=150, epochs=3, scoring="auc")


@pytest.mark.parametrize("scoring", ["auc", "roc_auc", sk.roc_auc_score])
def test_the_search_chooses_by_the_metric_given(scoring, chosen_by_auc):
    model = binfm.train(*rare(), max_bytes=150, epochs=3, scoring=scoring)
    last = [trial["score"] for trial in model.search.trials if trial["rung"] == 3]
    assert model.search.chosen["score"] == max(last)
    assert model == chosen_by_auc, "three names of one metric"
    assert model.search.metric in ("auc", "roc_auc", "roc_auc_score")


def test_a_search_by_probabilities_prefers_losses_that_have_them():
    X, y = rare()
    for scoring in ("log_loss", "neg_brier_score"):
        model = binfm.train(X, y, max_bytes=150, epochs=3, scoring=scoring)
        assert model.loss == "logistic"
    with pytest.raises(ValueError, match=r"^scoring 'log_loss' needs loss"):
        binfm.train(X, y, max_bytes=150, loss="hinge", scoring="log_loss")


def test_the_size_curve_has_the_metric():
    X, y = rare()
    curve = binfm.size_curve(X, y, budgets=(60, 150), epochs=2, scoring="average_precision")
    assert curve.metric == "average_precision"
    assert "average_precision" in str(curve)
    assert all(0 < point["score"] <= 1 for point in curve.points)
    rmse = binfm.size_curve(X, X[:, 0], budgets=(100,), epochs=2, loss="squared", scoring="rmse")
    assert rmse.metric == "rmse"
    classifier = BinFMClassifier(max_bytes=150, epochs=2, scoring="f1").fit(X, y)
    assert classifier.model_.search.metric == "f1"
