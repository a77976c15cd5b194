"""Hypothesis profiles, and fixtures that several test files share."""

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


def _mixed_table(samples, seed=0):
    """Return an object array: two numeric columns (one with NaN), a text category and a numeric category."""
    rng = np.random.default_rng(seed)
    X = np.empty((samples, 4), object)
    X[:, 0] = rng.normal(size=samples)
    X[:, 1] = np.where(rng.random(samples) < 0.2, np.nan, rng.normal(size=samples))
    X[:, 2] = rng.choice(["red", "green", "blau", "日本"], samples)
    X[:, 3] = rng.integers(0, 6, samples)
    return X


@pytest.fixture(scope="session")
def numbers():
    """300 samples of 5 features and a binary target that a product of two of them decides."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 5)).astype(np.float32)
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.fixture(scope="session")
def binary(numbers):
    """A small binary model."""
    return binfm.train(*numbers, m=7, b=9, tilings=3, epochs=3, regularization=30)


@pytest.fixture(scope="session")
def models(numbers, binary):
    """One small model of each kind of file, with a table to score."""
    X, _ = numbers
    mixed = _mixed_table(200)
    rng = np.random.default_rng(3)
    stored = sparse.csr_array(np.where(rng.random((200, 9)) < 0.3, rng.normal(size=(200, 9)), 0.0))
    small = {"m": 3, "b": 6, "tilings": 2, "epochs": 2}
    quiet = {**small, "regularization": 30}
    labels = np.array(["ja", "nein", "vielleicht", "日本"])[np.arange(300) % 4]
    return {
        "binary": (binary, X),
        "text labels": (binfm.train(X, labels, **quiet), X),
        "text categories": (binfm.train(mixed, mixed[:, 0] > 0, categorical=[2, 3], **quiet), mixed),
        "names": (binfm.train(pl.DataFrame(X, schema=NAMES), np.arange(300) % 3, **quiet), X),
        "sparse": (binfm.train(stored, np.arange(200) % 2, **quiet), stored),
        "regression": (binfm.train(X, X[:, 0] * 2.5, loss="squared", **quiet), X),
        "softmax": (binfm.train(X, np.arange(300) % 3, loss="softmax", **quiet), X),
        "four bits": (binfm.train(X, np.arange(300) % 3, w_bits=4, **quiet), X),
        "additive": (binfm.train(mixed, mixed[:, 0] > 0, categorical=[2, 3], w_bits=8, **{**quiet, "m": 0}), mixed),
        "sefm": (binfm.train(X[:, :2], np.arange(300) % 3, method="sefm", **small), X[:, :2]),
        "dfm": (binfm.train(mixed, np.arange(200) % 3, method="dfm", categorical=[2, 3], **small), mixed),
        "fm": (binfm.train(stored, np.arange(200) % 2, method="fm", **small), stored),
    }


@pytest.fixture(scope="session")
def run_python():
    """Run code in a fresh interpreter; fail if it exits with an error or times out."""

    def run(code, *args, env=None, timeout=60):
        result = subprocess.run(
            [sys.executable, "-W", "error", "-c", code, *map(str, args)],
            env={**os.environ, **(env or {})},
            capture_output=True,
            timeout=timeout,
        )
        assert result.returncode == 0, result.stderr.decode()
        return result.stdout

    return run


@pytest.fixture(scope="session")
def interrupt():
    """Interrupt code that prints "ready", the time it caught Ctrl-C, and "alive"; return how many seconds it took."""

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
        caught, alive = out.splitlines()
        assert alive == "alive"
        return float(caught) - sent

    return interrupt
