"""Models and samples that every machine scores."""

import binfm
import blobs
import numpy as np
import pytest
from machines import Job


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Directory for build artifacts, shared by the session."""
    return tmp_path_factory.mktemp("c")


def random_jobs(seed, files, samples, small=False):
    """Return jobs of random shapes: float samples that probe every edge, and a few int16 samples."""
    rng = np.random.default_rng(seed)
    jobs = []
    for _ in range(files):
        file = blobs.random_file(rng, small)
        blob = file.blob(rng)
        values = np.r_[rng.integers(-(2**15), 2**15, 40), np.arange(-5, 20)]
        integers = rng.choice(values, (samples // 3, len(file.features)))
        jobs += [Job(blob, blobs.samples_for(rng, file, samples)), Job(blob, integers.astype(np.int16))]
    return jobs


@pytest.fixture(scope="session")
def jobs():
    return random_jobs(seed=1, files=150, samples=18)


@pytest.fixture(scope="session")
def small_jobs():
    """Jobs for machines with a few kilobytes of memory."""
    return [job for job in random_jobs(seed=2, files=130, samples=9, small=True) if len(job.blob) < 8000]


def mixed(n):
    """Return a table with numbers, NaN, strings, integer categories and a constant column."""
    rng = np.random.default_rng(0)
    X = np.empty((n, 5), object)
    X[:, 0] = rng.normal(size=n)
    X[:, 1] = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n))
    X[:, 2] = rng.choice(["red", "green */", "日本 ??/"], n)
    X[:, 3] = rng.choice([3, -500, 70_000], n)
    X[:, 4] = 1.0
    return X


@pytest.fixture(scope="session")
def trained():
    """Trained models and their training data, by what they cover."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 6)).astype(np.float32)
    X[:, 5] = rng.integers(-300, 300, 400)
    stored = np.where(rng.random((400, 12)) < 0.3, rng.normal(size=(400, 12)), 0.0).astype(np.float32)
    from scipy import sparse

    table = mixed(400)
    digits = np.digitize(X[:, 0] * X[:, 1], [-0.5, 0.0, 0.5])
    few = {"epochs": 2, "b": 12}
    return {
        "binary": (binfm.train(X, X[:, 0] * X[:, 1] > 0, m=7, tilings=3, **few), X),
        "classes": (binfm.train(X, digits, m=33, tilings=1, **few), X),
        "labels": (binfm.train(X, np.array(["ja", "nein", "日本", "*/"])[digits], m=4, **few), X),
        "regression": (binfm.train(X, X[:, 0] * 2.5, loss="squared", m=16, **few), X),
        "sparse": (binfm.train(sparse.csr_array(stored), stored[:, 0] > 0, m=8, **few), stored),
        "text": (binfm.train(table, table[:, 0] > 0, categorical=[2, 3], m=5, **few), table),
    }
