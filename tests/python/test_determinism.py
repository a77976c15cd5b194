"""The same data, parameters and seed give the same bytes on every CPU and with any number of threads."""

import hashlib
import re
from pathlib import Path

import binfm
import numpy as np
import pytest
from scipy import sparse

TRAIN = """
import sys, numpy as np, binfm
from scipy import sparse
rng = np.random.default_rng(0)
X = rng.normal(size=(1200, 7))
X[rng.random(X.shape) < 0.1] = np.nan
X[:, 6] = rng.integers(0, 9, 1200)
y = (np.nan_to_num(X[:, 0] * X[:, 1]) > 0) + 2 * (X[:, 6] > 4)
model = lambda X, y, **more: binfm.train(X, y, epochs=4, **more)
models = [
    model(X, y % 2, categorical=[6], m=33, b=31),
    model(X, y, categorical=[6], m=9, tilings=1, early_stopping=True),
    model(X, y, m=70, loss="hinge", optimizer="sgd", sample_weight=rng.random(1200)),
    model(X, y, m=9, loss="softmax"),
    model(X, y, m=12, loss="softmax", ensemble=3),
    model(X, y, m=3, loss="softmax", polish=3),
    model(X, y, m=3, polish=2, sample_weight=rng.random(1200)),
    model(X, y % 2, m=12, ensemble=4, dropout=0.2, early_stopping=True),
    model(X, np.nan_to_num(X[:, 0]), m=32, loss="squared", binning="uniform", lambda_v=1e-3),
    *[model(X, y, method=method, categorical=[6], m=21) for method in ("sefm", "dfm", "fm")],
    model(sparse.csr_array(np.where(rng.random((1200, 40)) < 0.1, rng.normal(size=(1200, 40)), 0)), y, m=130),
]
scores = [m.decision_function(X) for m in models[:12]] + [m.predict_proba(X) for m in models[:2] + models[3:5]]
"""
PRINT = TRAIN + (
    "import hashlib\n"
    "print(*[hashlib.sha256(m.to_bytes()).hexdigest() for m in models], "
    "*[hashlib.sha256(s.tobytes()).hexdigest() for s in scores])"
)

UNKNOWN_TIER = (
    "import binfm\ntry:\n    binfm.train([[0.0], [1.0]], [0, 1])\nexcept ValueError as error:\n    print(error)"
)
GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(scope="module")
def reference(run_python):
    return run_python(PRINT).split()


@pytest.mark.parametrize("isa", ["portable", None])
@pytest.mark.parametrize("threads", ["1", "3"])
def test_bytes_and_scores_are_the_same_on_any_tier_and_thread_count(run_python, reference, isa, threads):
    env = {"RAYON_NUM_THREADS": threads} | ({"BINFM_ISA": isa} if isa else {})
    assert run_python(PRINT, env=env).split() == reference


def test_the_portable_tier_can_be_forced(run_python):
    code = "import binfm._core as c; print(c.instruction_set())"
    assert run_python(code, env={"BINFM_ISA": "portable"}).strip() == b"portable"


def test_every_tier_reproduces_the_golden_models(run_python):
    """On all tiers of this CPU, with one thread and several, each in a fresh process."""
    message = run_python(UNKNOWN_TIER, env={"BINFM_ISA": "abacus"}).decode()
    tiers = re.search("one of (.*), got", message)[1].split(", ")
    assert "portable" in tiers
    for i, tier in enumerate(tiers):
        env = {"BINFM_ISA": tier.strip(), "RAYON_NUM_THREADS": str(i + 1), "PYTHONPATH": str(GOLDEN)}
        report = run_python("import check; check.main()", env=env).decode()
        assert re.search(rf", {tier.strip()}: (\d+) of \1 models are the same", report)


def test_an_unavailable_tier_is_an_error(run_python):
    message = run_python(UNKNOWN_TIER, env={"BINFM_ISA": "abacus"})
    assert message.startswith(b"BINFM_ISA must be one of portable")


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("early_stopping", [False, True])
def test_bytes_do_not_depend_on_n_jobs(classes, early_stopping):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 4))
    y = rng.integers(0, classes, 900)
    models = [
        binfm.train(X, y, epochs=6, patience=2, early_stopping=early_stopping, n_jobs=jobs)
        for jobs in (1, 2, 7, None, 1)
    ]
    assert len({m.to_bytes() for m in models}) == 1
    assert all(m.history == models[0].history and m.best_epoch == models[0].best_epoch for m in models)


def test_scores_do_not_depend_on_n_jobs_or_on_the_other_samples(numbers):
    rng = np.random.default_rng(2)
    model = binfm.train(*numbers, epochs=2, m=40)
    X = rng.normal(size=(20_011, 5)).astype(np.float32)
    expected = model.decision_function(X, n_jobs=1)
    for jobs in (2, 7, None):
        assert model.decision_function(X, n_jobs=jobs).tobytes() == expected.tobytes()
    for start, stop in [(0, 1), (5, 12), (4095, 4098), (8191, 8225), (20_010, 20_011)]:
        assert model.decision_function(X[start:stop]).tobytes() == expected[start:stop].tobytes()
    stored = sparse.csr_array(X)
    assert model.decision_function(stored, n_jobs=7).tobytes() == expected.tobytes()


def test_rayon_num_threads_is_honoured(run_python):
    code = (
        "import numpy as np, binfm, os\n"
        "X = np.random.default_rng(0).normal(size=(300_000, 8))\n"
        "before = set(os.listdir('/proc/self/task'))\n"
        "m = binfm.train(X[:2000], np.arange(2000) % 6, epochs=2)\n"
        "m.decision_function(X)\n"
        "print(len(set(os.listdir('/proc/self/task')) - before))"
    )
    assert int(run_python(code, env={"RAYON_NUM_THREADS": "3"})) == 3
    assert int(run_python(code, env={"RAYON_NUM_THREADS": "1"})) == 0
    assert int(run_python(code.replace("epochs=2", "n_jobs=1").replace("(X)", "(X, n_jobs=1)"))) == 0


def test_the_reference_is_not_empty(reference):
    assert len(set(reference)) == 29
    assert hashlib.sha256(b"").hexdigest().encode() not in reference
