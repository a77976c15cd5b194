"""Settings of hypothesis, and what several test files share."""

import os
import signal
import subprocess
import sys
import time

import binfm
import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, settings
from scipy import sparse

_common = {"deadline": None, "database": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("ci", max_examples=60, derandomize=True, **_common)
settings.register_profile("thorough", max_examples=2000, **_common)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

NAMES = ["age", "", "größe", "日本", "a name of some length, with a comma"]


def _mixed_table(rows, seed=0):
    """Return objects: two numeric columns (one with NaN), one text category, one numeric category."""
    rng = np.random.default_rng(seed)
    X = np.empty((rows, 4), object)
    X[:, 0] = rng.normal(size=rows)
    X[:, 1] = np.where(rng.random(rows) < 0.2, np.nan, rng.normal(size=rows))
    X[:, 2] = rng.choice(["red", "green", "blau", "日本"], rows)
    X[:, 3] = rng.integers(0, 6, rows)
    return X


@pytest.fixture(scope="session")
def numbers():
    """300 rows of 5 features and a binary target that a product of two of them decides."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 5)).astype(np.float32)
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.fixture(scope="session")
def binary(numbers):
    """A small binary model."""
    return binfm.train(*numbers, m=7, b=9, tilings=3, epochs=3)


@pytest.fixture(scope="session")
def models(numbers, binary):
    """One small model of each sort of file, with a table to score."""
    X, _ = numbers
    mixed = _mixed_table(200)
    rng = np.random.default_rng(3)
    stored = sparse.csr_array(np.where(rng.random((200, 9)) < 0.3, rng.normal(size=(200, 9)), 0.0))
    few = {"m": 3, "b": 6, "tilings": 2, "epochs": 2}
    names = np.array(["ja", "nein", "vielleicht", "日本"])[np.arange(300) % 4]
    return {
        "binary": (binary, X),
        "text labels": (binfm.train(X, names, **few), X),
        "text levels": (binfm.train(mixed, mixed[:, 0] > 0, categorical=[2, 3], **few), mixed),
        "names": (binfm.train(pl.DataFrame(X, schema=NAMES), np.arange(300) % 3, **few), X),
        "sparse": (binfm.train(stored, np.arange(200) % 2, **few), stored),
        "regression": (binfm.train(X, X[:, 0] * 2.5, loss="squared", **few), X),
        "softmax": (binfm.train(X, np.arange(300) % 3, loss="softmax", **few), X),
        "sefm": (binfm.train(X, np.arange(300) % 3, method="sefm", **few), X),
        "dfm": (binfm.train(mixed, np.arange(200) % 3, method="dfm", categorical=[2, 3], **few), mixed),
        "fm": (binfm.train(stored, np.arange(200) % 2, method="fm", **few), stored),
    }


@pytest.fixture(scope="session")
def run_python():
    """Run code in a fresh interpreter; fail if it ends in error or outlives the watchdog."""

    def run(code, *args, env=None, timeout=60):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code, *map(str, args)],
            env={**os.environ, **(env or {})},
            capture_output=True,
            timeout=timeout,
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    return run


@pytest.fixture(scope="session")
def interrupt():
    """Run code that says "ready", then when it heard Ctrl-C and that it lives; return how many seconds hearing took."""

    def interrupt(code, kind, wait):
        process = subprocess.Popen(
            [sys.executable, "-c", code, kind], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout.readline() == "ready\n", process.stderr.read()
            time.sleep(wait)
            assert process.poll() is None, "it was too short to interrupt"
            sent = time.time()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()
            process.wait()
        assert process.returncode == 0, err
        heard, alive = out.splitlines()
        assert alive == "alive"
        return float(heard) - sent

    return interrupt
