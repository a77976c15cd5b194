"""What users of scikit-learn, LightGBM and data frames take for granted."""

import os

import binfm
import numpy as np
import pandas as pd
import polars as pl
import pytest
from binfm import BinFMClassifier, BinFMRegressor, _core
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

X = np.random.default_rng(0).normal(size=(300, 3))
Y = X[:, 0] * X[:, 1] > 0
SMALL = {"m": 4, "epochs": 3, "regularization": 0}


def test_negative_n_jobs_count_from_all_cores():
    cores = len(os.sched_getaffinity(0))
    assert _core.threads(-1) == cores
    assert _core.threads(-2) == max(1, cores - 1)
    assert _core.threads(-100) == _core.threads(-(2**63)) == 1
    model = binfm.train(X, Y, **SMALL, n_jobs=-2)
    assert model == binfm.train(X, Y, **SMALL, n_jobs=1)
    assert (model.predict(X, n_jobs=-2) == model.predict(X)).all()
    with pytest.raises(ValueError, match=r"^n_jobs must be None, -1 \(all cores\), -2 .*, got 0$"):
        binfm.train(X, Y, n_jobs=0)


@pytest.mark.parametrize("wrap", [lambda pair: [pair], lambda pair: pair, list])
def test_an_eval_set_may_be_in_a_list(wrap):
    model = binfm.train(X, Y, **SMALL, eval_set=wrap((X[:50], Y[:50])))
    assert "val_loss" in model.history[0]
    assert model == BinFMClassifier(**SMALL).fit(X, Y, eval_set=wrap((X[:50], Y[:50]))).model_


def test_several_eval_sets_are_refused():
    with pytest.raises(ValueError, match=r"^eval_set's X must"):
        binfm.train(X, Y, eval_set=[(X, Y), (X, Y)])


class Small(BinFMClassifier):
    """A classifier with parameters of its own."""

    def __init__(self, factors=4, callback=None):
        super().__init__(m=factors, epochs=3, regularization=0, callback=callback)
        self.factors = factors


class Plain(BinFMRegressor):
    """A regressor without parameters."""

    def __init__(self):
        super().__init__(epochs=2)


def test_subclasses_may_have_an_init_of_their_own():
    small = Small(factors=4).fit(X, Y)
    assert small.model_ == binfm.train(X, Y, **SMALL)
    assert set(small.get_params()) == {"factors", "callback"}
    assert clone(small).fit(X, Y).model_ == small.model_
    assert GridSearchCV(Small(), {"factors": [2, 8]}, cv=2).fit(X, Y).best_params_["factors"] in (2, 8)
    assert Plain().fit(X, X[:, 0]).n_iter_ == 2
    assert small.partial_fit(X, Y).n_iter_ == 1


def test_a_lambda_may_be_the_callback():
    assert len(binfm.train(X, Y, m=4, regularization=0, callback=lambda epoch, record: epoch == 2).history) == 2
    stops = BinFMClassifier(m=4, regularization=0, callback=lambda epoch, record: epoch == 2)
    assert clone(stops).fit(X, Y).n_iter_ == 2
    assert len(cross_val_score(stops, X, Y, cv=2, n_jobs=2)) == 2, "in other processes, too"
    seen = []
    binfm.train(X, Y, **SMALL, callback=lambda *arguments: seen.append(arguments))
    assert [epoch for epoch, _ in seen] == [1, 2, 3]


def test_lazy_tables_are_collected():
    eager = pl.DataFrame(X, schema=["a", "b", "c"])
    lazy = eager.lazy().with_columns(pl.col("a") * 1)
    model = binfm.train(eager, Y, **SMALL)
    assert binfm.train(lazy, Y, **SMALL, eval_set=(lazy, Y), early_stopping=False) == model
    assert (model.predict(lazy) == model.predict(eager)).all()
    classifier = BinFMClassifier(**SMALL).fit(lazy, Y)
    assert classifier.model_ == model
    assert (classifier.predict(lazy) == model.predict(eager)).all()
    assert list(classifier.feature_names_in_) == ["a", "b", "c"]


def test_numeric_pandas_frames_need_no_narwhals(run_python):
    code = (
        "import sys; sys.modules['narwhals'] = None\n"
        "import binfm, numpy as np, pandas as pd\n"
        "X = pd.DataFrame(np.random.default_rng(0).normal(size=(99, 2)), columns=['a', 'b'])\n"
        "X['n'], X['yes'], X['x'] = np.arange(99), X['a'] > 0, X['b'].astype('float32')\n"
        "model = binfm.train(X, X['a'] > 0, epochs=2)\n"
        "assert (model.predict(X) == model.predict(X.to_numpy(float))).all()\n"
        "assert model.feature_names == ('a', 'b', 'n', 'yes', 'x')\n"
        "try: binfm.train(X.assign(t='text'), X['yes'])\n"
        "except ImportError as error: print(error)"
    )
    assert run_python(code).decode().strip() == "reading a DataFrame needs narwhals: pip install 'binfm[tables]'"


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.uint64, bool])
def test_numeric_pandas_frames_are_read_as_through_narwhals(dtype):
    numbers = (np.abs(X) * 9).astype(dtype)
    frame = pd.DataFrame(numbers, columns=list("abc"))
    through = binfm.train(pl.DataFrame(frame), Y, **SMALL)
    assert binfm.train(frame, Y, **SMALL) == through
    frame["a"] = frame["a"].astype("float64")
    assert binfm.train(frame, Y, **SMALL) == through


def test_levels_of_column_names_are_refused():
    frame = pd.DataFrame(X)
    frame.columns = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])
    message = r"^X must have one name per column, got 2 levels of them; join them, as in X.columns = "
    for call in (lambda: binfm.train(frame, Y), lambda: BinFMClassifier().fit(frame, Y)):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(ValueError, match=message):
        binfm.train(X, Y, **SMALL).predict(frame)


@pytest.mark.parametrize(
    ("library", "code", "extra"),
    [
        ("matplotlib", "binfm.size_curve(X, y, budgets=(99,), epochs=1).plot()", "binfm[plot]"),
        ("matplotlib", "binfm.plot.HistoryDisplay.from_model(binfm.train(X, y, epochs=1)).plot()", "binfm[plot]"),
        ("sklearn", "binfm.BinFMClassifier()", "binfm[sklearn]"),
        ("sklearn", "binfm.train(X, y, epochs=1, eval_metric=lambda e, X, y: 1)", "binfm[sklearn]"),
        (
            "narwhals",
            "import polars; binfm.train(polars.DataFrame({'a': ['b', 'c'] * 10}), y[:20], epochs=1)",
            "binfm[tables]",
        ),
        ("narwhals", "import polars; binfm.train(polars.DataFrame(X).lazy(), y, epochs=1)", "binfm[tables]"),
    ],
)
def test_missing_libraries_name_their_extra(run_python, library, code, extra):
    run = (
        f"import sys; sys.modules['{library}'] = None\n"
        "import binfm, numpy as np\n"
        "X = np.random.default_rng(0).normal(size=(99, 2)); y = X[:, 0] > 0\n"
        f"try: {code}\n"
        "except ImportError as error: print(error)"
    )
    assert run_python(run).decode().strip().endswith(f"pip install '{extra}'")


def test_metrics_by_name_need_no_scikit_learn(run_python):
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import binfm, numpy as np\n"
        "X = np.random.default_rng(0).normal(size=(99, 2)); y = X[:, 0] > 0\n"
        "print(binfm.train(X, y, epochs=1, eval_metric='auc').history[0]['val_auc'] > 0)"
    )
    assert run_python(code).decode().strip() == "True"
