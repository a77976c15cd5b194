"""Any data, passed in any order: either a clear error, or a model that keeps its promises.

``BINFM_EXAMPLES=5000`` makes a long run, with new data each time; ``BINFM_STEPS`` names a file for the step count.
"""

import os
import pickle
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import binfm
import hostile
import numpy as np
from binfm import BinFMClassifier, BinFMRegressor
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, rule

LONG = "BINFM_EXAMPLES" in os.environ
EXAMPLES = int(os.environ.get("BINFM_EXAMPLES", "100"))
SEEDS = st.integers(0, 1000)
PARAMETERS = st.fixed_dictionaries(
    {
        "m": st.sampled_from([1, 2, 7, 64, 65]),
        "b": st.sampled_from([2, 3, 20, 300]),
        "epochs": st.sampled_from([1, 3]),
        "loss": st.sampled_from(["logistic", "softmax", "hinge", "squared_hinge", "squared"]),
        "n_jobs": st.sampled_from([1, 2]),
        "regularization": st.sampled_from([0, 30, "auto"]),
    },
    optional={
        "method": st.sampled_from(["bfm", "sefm", "dfm", "fm"]),
        "tilings": st.sampled_from([1, 2, 4]),
        "binning": st.sampled_from(["quantile", "uniform", "supervised"]),
        "scaling": st.booleans(),
        "optimizer": st.sampled_from(["adagrad", "sgd"]),
        "learning_rate": st.sampled_from([1e-300, 1e-3, 0.5, 1e6, 1e300]),
        "lambda_w": st.sampled_from([0.0, 1e-2, 1e300]),
        "lambda_v": st.sampled_from([0.0, 1e-2, 1e300]),
        "min_count": st.sampled_from([0, 1, 3, 1e9]),
        "categorical": st.sampled_from([[0], [-1], [0, 1], ["c0"]]),
        "early_stopping": st.booleans(),
        "ensemble": st.sampled_from([1, 2, 7, 64]),
        "polish": st.sampled_from([0, 1, 3]),
    },
)


RISKY = ("categorical", "min_count", "tilings", "learning_rate", "lambda_w", "lambda_v")
"""Parameters that often make training fail."""
SKLEARN_SAYS = (
    "The number of unique classes",
    "A column-vector y",
    "X (has|does not have)",
    "invalid value encountered",
)
"""Warnings that scikit-learn may raise."""


def attempt(work, ours=True):
    """Return the result of work, or None if it was rejected in one line; scikit-learn's own errors may take more."""
    try:
        return work()
    except (ValueError, TypeError) as error:
        message = str(error)
    assert message.strip()
    assert "\n" not in message or not ours, message
    return None


def scores(model, X, **more):
    return np.asarray(model.decision_function(X, **more))


class AnyData(RuleBasedStateMachine):
    """Train, save, load, score, go on, pickle and explain, with bad data."""

    models = Bundle("models")
    estimators = Bundle("estimators")
    steps = 0

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.saved = 0

    def teardown(self):
        self.folder.cleanup()

    def step(self):
        AnyData.steps += 1

    @rule(
        target=models, recipe=hostile.recipes(min_rows=2), form=st.sampled_from(sorted(hostile.FORMS)), more=PARAMETERS,
        y=st.sampled_from(sorted(hostile.TARGETS)), weight=st.sampled_from(sorted(hostile.WEIGHTS)), seed=SEEDS,
    )  # fmt: skip
    def train(self, recipe, form, more, y, weight, seed):
        self.step()
        return self._trained(recipe, form, more, y, weight, seed)

    @rule(
        target=models,
        recipe=hostile.recipes(min_rows=8),
        form=st.sampled_from(hostile.FINE),
        more=PARAMETERS,
        seed=SEEDS,
    )
    def train_on_something_fit(self, recipe, form, more, seed):
        """A better chance of a model than with all things wrong at once."""
        self.step()
        more = {name: value for name, value in more.items() if name not in RISKY}
        return self._trained(recipe, form, more, "two", "none", seed)

    def _trained(self, recipe, form, more, y, weight, seed):
        rng = np.random.default_rng(seed)
        target, weight = hostile.TARGETS[y](rng, recipe.rows), hostile.WEIGHTS[weight](rng, recipe.rows)
        model = attempt(lambda: binfm.train(recipe.handed_over(form), target, sample_weight=weight, seed=seed, **more))
        if model is None:
            return None
        table = attempt(lambda: scores(model, recipe.handed_over(form)))
        assert table is not None, "a model refuses the table that it was made of"
        assert np.isfinite(table).all()
        assert binfm.Model.from_bytes(model.to_bytes()) == model
        return model, recipe, form

    @rule(target=models, trained=models)
    def save_and_load(self, trained):
        self.step()
        if trained is None:
            return None
        model, recipe, form = trained
        path = Path(self.folder.name) / f"{self.saved % 3}.binfm"
        self.saved += 1
        model.save(path)
        again = binfm.load(path)
        assert path.read_bytes() == model.to_bytes() == again.to_bytes()
        assert path.stat().st_size == model.nbytes == sum(model.size_report().values())
        table = recipe.handed_over(form)
        assert scores(again, table).tobytes() == scores(model, recipe.handed_over(form)).tobytes()
        return again, recipe, form

    @rule(target=models, trained=models, protocol=st.integers(0, pickle.HIGHEST_PROTOCOL))
    def pickled(self, trained, protocol):
        self.step()
        if trained is None:
            return None
        model, recipe, form = trained
        again = pickle.loads(pickle.dumps(model, protocol))
        assert again == model
        assert again.history == model.history or repr(again.history) == repr(model.history)
        ours, theirs = (scores(each, recipe.handed_over(form)) for each in (model, again))
        assert ours.tobytes() == theirs.tobytes()
        return again, recipe, form

    @rule(trained=models, recipe=hostile.recipes(), form=st.sampled_from(sorted(hostile.FORMS)))
    def score_something_else(self, trained, recipe, form):
        self.step()
        if trained is None:
            return
        model = trained[0]
        if len(recipe.kinds) > 1:  # as wide as in training, or all would be rejected outright
            recipe = replace(recipe, kinds=(recipe.kinds * 8)[: len(trained[1].kinds)], twice=trained[1].twice)
        found = attempt(lambda: scores(model, recipe.handed_over(form)))
        classes = attempt(lambda: model.predict(recipe.handed_over(form), n_jobs=2))
        assert (found is None) == (classes is None)
        if found is None:
            return
        assert np.isfinite(found).all()
        assert len(found) == len(classes)
        assert found.tobytes() == scores(model, recipe.handed_over(form), n_jobs=2).tobytes()

    @rule(trained=models)
    def everything_agrees(self, trained):
        self.step()
        if trained is None:
            return
        model, recipe, form = trained
        table = recipe.handed_over(form)
        found = scores(model, table)
        if model.loss in ("logistic", "softmax"):
            chances = model.predict_proba(recipe.handed_over(form))
            assert np.isfinite(chances).all()
            np.testing.assert_allclose(chances.sum(axis=1), 1.0, rtol=1e-12)
        if isinstance(table, np.ndarray) and table.dtype in (np.float32, np.float64) and table.ndim == 2:
            for row, want in zip(table[:3], found[:3], strict=True):
                one = attempt(lambda row=row: model.score_row(row))
                assert one is None or np.array_equal(one, want)

    @rule(trained=models)
    def explain(self, trained):
        self.step()
        if trained is None:
            return
        model, recipe, form = trained
        if form in hostile.SPARSE or form in hostile.NO_TABLES or form == "lists":
            return
        table = recipe.handed_over(form)
        one = table[:1]
        want = scores(model, one)
        why = attempt(lambda: model.explain(one))
        assert why is not None
        if model.method == "bfm":
            assert np.array_equal(np.ravel(why.score), np.ravel(want))
        elif (
            model.method == "sefm"
        ):  # but for the rounding of float32, of which the parts can be much larger than the sum
            size = np.abs(np.asarray(why.bias)).max() + np.abs(why.parts).sum()
            np.testing.assert_allclose(np.ravel(why.score), np.ravel(want), atol=1e-5 * size)
        assert np.isfinite(why.shapley).all()
        assert str(why)
        assert why.to_records() is not None

    @rule(trained=models)
    def read(self, trained):
        """What it says of itself: effects, pairs, parameters, C."""
        self.step()
        if trained is None:
            return
        model, recipe, form = trained
        effects = attempt(lambda: model.effects(recipe.handed_over(form)))
        pairs = attempt(model.interactions)
        assert (effects is None) == (pairs is None) == (model.method in ("fm", "dfm"))
        if effects is not None:
            assert np.isfinite(effects.strength).all()
            assert np.isfinite(pairs.strength).all()
            assert str(effects)
            assert str(pairs)
        assert (np.abs(model.w) % 2 == 1).all() or model.method != "bfm"
        assert np.abs(model.w).max(initial=0) < 2**model.w_bits or model.method != "bfm"
        assert np.isfinite(model.V).all()
        assert [feature.kind for feature in model.features]
        attempt(lambda: model.export_c(Path(self.folder.name) / "model.h"))

    @rule(target=estimators, regression=st.booleans(), more=PARAMETERS)
    def estimator(self, regression, more):
        self.step()
        kind = BinFMRegressor if regression else BinFMClassifier
        more = {name: value for name, value in more.items() if name not in ("loss", "early_stopping")}
        return attempt(lambda: kind(random_state=0, **more)), regression

    @rule(
        made=estimators, recipe=hostile.recipes(min_rows=1), form=st.sampled_from(sorted(hostile.FORMS)), seed=SEEDS,
        y=st.sampled_from(sorted(hostile.TARGETS)), weight=st.sampled_from(sorted(hostile.WEIGHTS)),
        whole=st.booleans(),
    )  # fmt: skip
    def learn(self, made, recipe, form, seed, y, weight, whole):
        self.step()
        estimator, regression = made
        rng = np.random.default_rng(seed)
        target, weight = hostile.TARGETS[y](rng, recipe.rows), hostile.WEIGHTS[weight](rng, recipe.rows)
        table, more = recipe.handed_over(form), {"sample_weight": weight}
        if not (whole or regression):
            more["classes"] = [0, 1]
        learn = estimator.fit if whole else estimator.partial_fit
        with warnings.catch_warnings():
            for words in SKLEARN_SAYS:
                warnings.filterwarnings("ignore", words)
            if attempt(lambda: learn(table, target, **more), ours=False) is None:
                return
            found = estimator.predict(recipe.handed_over(form))
        assert len(found) == recipe.rows
        assert not regression or np.isfinite(found).all()

    @rule(made=estimators)
    def pickled_estimator(self, made):
        self.step()
        estimator = made[0]
        again = pickle.loads(pickle.dumps(estimator))
        assert hasattr(again, "model_") == hasattr(estimator, "model_")
        assert not hasattr(again, "model_") or again.model_ == estimator.model_

    @rule(made=consumes(estimators))
    def forget(self, made):
        self.step()


TestAnyData = AnyData.TestCase
TestAnyData.settings = settings(max_examples=EXAMPLES, stateful_step_count=50 if LONG else 15, derandomize=not LONG)


def teardown_module():
    if "BINFM_STEPS" in os.environ:
        Path(os.environ["BINFM_STEPS"]).write_text(f"{AnyData.steps}\n")
