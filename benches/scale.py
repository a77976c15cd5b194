"""Training out of core against training in memory: time, memory, bytes.

python benches/scale.py make N FOLDER           writes N samples of 22 numbers as Parquet files
python benches/scale.py epochs N                an epoch on a cache against one in memory, in turns
python benches/scale.py build FOLDER CACHE      from Parquet files to a cache, with the peak of memory
python benches/scale.py train CACHE             three epochs on it, with the peak of memory
"""

import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import binfm
import numpy as np
import polars as pl

WIDTH = 22
FILE_ROWS = 1 << 20
ROUNDS = 3
EPOCHS = 6
PARAMS = {"m": 32, "b": 20, "tilings": 4, "early_stopping": False}


def samples(first, count):
    """Return samples of numbers whose class depends on some of them and on a product."""
    rng = np.random.default_rng(first)
    X = rng.normal(size=(count, WIDTH)).astype(np.float32)
    score = X[:, 0] * X[:, 1] + X[:, 2] - 0.5 * np.abs(X[:, 3]) + rng.normal(size=count, scale=0.5)
    return X, (score > 0).astype(np.int64)


def make(count, folder):
    """Write Parquet files."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for first in range(0, count, FILE_ROWS):
        X, y = samples(first, min(FILE_ROWS, count - first))
        frame = pl.DataFrame(X, schema=[f"x{j}" for j in range(WIDTH)]).with_columns(pl.Series("click", y))
        frame.write_parquet(f"{folder}/{first:012}.parquet")


def epochs(count, regularization):
    """Compare the epochs on a cache with those in memory, in turns; each time is the median of a fit."""
    parts = [samples(first, min(FILE_ROWS, count - first)) for first in range(0, count, FILE_ROWS)]
    X, y = (np.concatenate(each) for each in zip(*parts, strict=True))
    del parts

    def fit(*data):
        ends = []
        params = {**PARAMS, "regularization": regularization, "callback": lambda *_: ends.append(time.perf_counter())}
        start = time.perf_counter()
        model = binfm.train(*data, **params, epochs=EPOCHS)
        return float(np.median(np.diff(ends))), time.perf_counter() - start, model.to_bytes()

    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        cache = binfm.Cache.build(lambda: iter([(X, y)]), path=f"{folder}/cache", regularization=regularization)
        print(f"cache of {count:,} samples: {time.perf_counter() - start:.1f} s, {os.path.getsize(cache.path):,} bytes")
        for _ in range(ROUNDS):
            (memory, memory_fit, a), (stored, stored_fit, b) = fit(X, y), fit(cache)
            print(
                f"epoch: {memory:.2f} s in memory, {stored:.2f} s on the cache, ratio {stored / memory:.3f}; "
                f"fit of {EPOCHS} epochs: {memory_fit:.2f} and {stored_fit:.2f} s; same bytes: {a == b}",
                flush=True,
            )


def build(folder, path, regularization):
    """Build a cache of Parquet files."""
    start = time.perf_counter()
    cache = binfm.Cache.build(f"{folder}/*.parquet", "click", path=path, regularization=regularization)
    seconds = time.perf_counter() - start
    print(f"{len(cache):,} samples in {seconds:.0f} s, {os.path.getsize(path):,} bytes; peak {peak():,.0f} MB")


def train(path, regularization):
    """Train three epochs on a cache."""
    start = time.perf_counter()
    model = binfm.train(binfm.Cache(path), **PARAMS, regularization=regularization, epochs=3)
    seconds = time.perf_counter() - start
    print(f"3 epochs in {seconds:.0f} s, loss {model.history[-1]['loss']:.4f}; peak {peak():,.0f} MB")


def peak():
    """Return the largest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    command, *given = sys.argv[1:]
    if command == "make":
        make(int(given[0]), given[1])
    elif command == "epochs":
        epochs(int(given[0]), float(given[1]) if len(given) > 1 else 0)
    elif command == "build":
        build(*given[:2], float(given[2]) if len(given) > 2 else 0)
    else:
        train(given[0], float(given[1]) if len(given) > 1 else 0)
