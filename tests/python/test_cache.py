"""More samples than memory: caches and sources give the same bytes as samples in memory."""

import os
import signal
import subprocess
import sys
import time

import binfm
import numpy as np
import polars as pl
import pytest
from binfm import _core
from binfm.cache.file import MAGIC, Mapped
from binfm.cache.sample import MAX_ROWS, RowSample
from binfm.cli import main


def table(n, seed=0):
    """Return numbers with NaN, few distinct ones, spikes, categories; classes and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)).astype(np.float32)
    X[::13, 1] = np.nan
    X[:, 2] = rng.integers(0, 30, n)
    X[:, 3] = np.round(X[:, 3], 1)
    X[:, 4] = np.where(rng.uniform(size=n) < 0.7, 0, X[:, 4] * 1e6)
    y = (X[:, 0] * np.nan_to_num(X[:, 1]) + 0.3 * rng.normal(size=n) > 0).astype(int)
    return X, y, rng.integers(0, 4, n) * 0.3


def in_parts(*arrays, parts=7):
    """Return a function that gives arrays in parts."""
    return lambda: zip(*(np.array_split(array, parts) for array in arrays), strict=True)


@pytest.mark.parametrize("parts", [1, 7])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "params",
    [
        {"regularization": 0, "shards": 3, "early_stopping": True},
        {"regularization": 30, "categorical": [2], "min_count": 70},
        {"regularization": 0, "binning": "uniform", "b": 100, "ensemble": 2, "polish": 1},
        {"regularization": 0, "method": "sefm", "loss": "softmax", "dropout": 0},
        {},
    ],
)
def test_parts_give_the_same_bytes_as_all_samples(params, weighted, parts):
    X, y, weight = table(3000)
    params = {"m": 8, "epochs": 3, **params}
    whole = binfm.train(X, y, sample_weight=weight if weighted else None, **params)
    arrays = (X, y, weight) if weighted else (X, y)
    model = binfm.train(in_parts(*arrays, parts=parts), **params)
    assert model.to_bytes() == whole.to_bytes()
    assert model.history == whole.history
    assert model.features.to_records() == whole.features.to_records()
    assert model.card == whole.card


def test_numbers_to_predict_give_the_same_bytes():
    X, y, weight = table(2000)
    y = X[:, 0] * 2 + y * 1e5
    params = {"m": 4, "epochs": 2, "loss": "squared", "regularization": 30, "shards": 2}
    whole = binfm.train(X, y, sample_weight=weight, **params)
    assert binfm.train(in_parts(X, y, weight), **params).to_bytes() == whole.to_bytes()


def test_crowded_values_take_a_second_pass():
    rng = np.random.default_rng(1)
    spread = rng.integers(0, 2**32, 90_000, dtype=np.uint32).view(np.float32)
    X = np.column_stack([np.append(np.nan_to_num(spread), 1e4 + rng.uniform(0, 0.1, 150_000))]).astype(np.float32)
    rng.shuffle(X)
    y = X[:, 0] > 1e4 + 0.05
    params = {"m": 1, "epochs": 1, "regularization": 0, "b": 8, "early_stopping": False}
    whole = binfm.train(X, y, **params)
    assert np.mean(whole.predict(X) == y) > 0.9
    assert binfm.train(in_parts(X, y), **params).to_bytes() == whole.to_bytes()


@pytest.mark.parametrize("suffix", ["parquet", "csv", "ndjson", "feather"])
def test_files_are_read_in_batches(suffix, tmp_path, monkeypatch):
    monkeypatch.setattr("binfm.data.sources.BATCH_ROWS", 100)
    X, y, weight = table(400)
    frame = pl.DataFrame(np.nan_to_num(X).astype(np.float64), schema=list("abcde")).with_columns(
        pl.Series("text", [f"t{i % 9}" for i in range(400)]).replace("t3", None),
        pl.Series("click", np.where(y, "yes", "no")),
        pl.Series("weight", weight),
    )
    frame = frame.with_columns(pl.when(pl.int_range(pl.len()) == 5).then(None).otherwise("click").alias("click"))
    write = {"parquet": "write_parquet", "csv": "write_csv", "ndjson": "write_ndjson", "feather": "write_ipc"}[suffix]
    for i in range(2):
        getattr(frame[i * 200 : (i + 1) * 200], write)(tmp_path / f"part{i}.{suffix}")
    params = {"m": 4, "epochs": 2, "regularization": 30, "min_count": 5}
    known = frame.filter(pl.col("click").is_not_null())
    whole = binfm.train(
        known.drop("click", "weight"), known["click"].to_numpy(), sample_weight=known["weight"].to_numpy(), **params
    )
    for source in (f"{tmp_path}/*.{suffix}", sorted(tmp_path.iterdir())):
        model = binfm.train(source, "click", sample_weight="weight", **params)
        assert model.to_bytes() == whole.to_bytes()
    lazy = binfm.train(frame.lazy(), "click", sample_weight="weight", **params)
    assert lazy.to_bytes() == whole.to_bytes()
    assert lazy.predict(known.drop("click", "weight")[:5]).tolist() == whole.predict(known[:5, :6]).tolist()


def test_an_arrow_dataset_is_read_in_batches(tmp_path):
    dataset = pytest.importorskip("pyarrow.dataset")
    X, y, _ = table(300)
    frame = pl.DataFrame(X, schema=list("abcde"))
    frame.with_columns(pl.Series("y", y)).write_parquet(tmp_path / "a.parquet")
    params = {"m": 4, "epochs": 2, "regularization": 0}
    model = binfm.train(dataset.dataset(tmp_path / "a.parquet"), "y", **params)
    assert model.to_bytes() == binfm.train(frame, y, **params).to_bytes()


def test_a_cache_trains_many_models(tmp_path):
    X, y, _ = table(2000)
    cache = binfm.Cache.build(in_parts(X, y), path=tmp_path / "c", regularization=30)
    assert len(cache) == 2000
    assert "2,000 samples with 5 features" in repr(cache)
    for m in (2, 5):
        params = {"m": m, "epochs": 2, "regularization": 30, "eval_set": (X[:500], y[:500])}
        assert binfm.train(binfm.Cache(tmp_path / "c"), **params).history == binfm.train(X, y, **params).history
    auto = binfm.train(cache, m=4, epochs=2)
    assert auto.to_bytes() == binfm.train(X, y, m=4, epochs=2, regularization=30).to_bytes()
    scores = binfm.train(cache, epochs=2, regularization=0, early_stopping=True, eval_metric="auc").history
    assert scores == binfm.train(X, y, epochs=2, regularization=0, early_stopping=True, eval_metric="auc").history


def test_max_bytes_is_searched_on_a_sample():
    X, y, _ = table(600)
    fixed = {"epochs": 2, "learning_rate": 0.03, "binning": "quantile", "loss": "logistic", "dropout": 0}
    params = {"max_bytes": 200, "tilings": 2, "b": 12, "ensemble": 1, "polish": 0, **fixed}
    model = binfm.train(in_parts(X, y), **params)
    assert model.nbytes <= 200
    assert model.search is not None
    assert model.to_bytes() == binfm.train(X, y, **params).to_bytes()


def test_a_sample_of_rows_does_not_depend_on_their_order():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3 * MAX_ROWS, 2)).astype(np.float32)
    y = np.arange(len(X))

    def chosen(order):
        sample = RowSample()
        for part in np.array_split(order, 5):
            sample.add(X[part], y[part], None, [0, 1])
        return sample.rows()

    rows, numbers, weight = chosen(y)
    assert len(rows) == MAX_ROWS
    assert weight is None
    assert (np.diff(numbers) > 0).all()
    assert 0.49 < np.mean(numbers < len(X) / 2) < 0.51
    assert set(chosen(y[::-1])[1]) == set(numbers)


@pytest.fixture
def cache(tmp_path):
    """Return the path of a small cache."""
    X, y, _ = table(200)
    binfm.Cache.build(X, y, path=tmp_path / "small.cache", regularization=0)
    return tmp_path / "small.cache"


def test_damage_is_told_in_a_sentence(cache, tmp_path):
    content = cache.read_bytes()
    ends = sorted(Mapped(cache).description["parts"].values())
    used = [range(len(MAGIC)), range(sum(ends[-1]), len(content))]  # the last part is one of bytes
    used += [range(begin, begin + length) for begin, length in ends]
    places = [place for part in used for place in (*part[::50], part[-1])]
    for place in places:
        damaged = bytearray(content)
        damaged[place] ^= 1
        cache.write_bytes(damaged)
        with pytest.raises(ValueError, match="build it again"):
            binfm.train(binfm.Cache(cache), epochs=1, regularization=0)
    for length in (0, 5, 30, len(content) - 1):
        cache.write_bytes(content[:length])
        with pytest.raises(ValueError, match="build it again"):
            binfm.Cache(cache)
    (tmp_path / "other").write_bytes(b"a,b\n" * 100)
    with pytest.raises(ValueError, match="is not a cache"):
        binfm.Cache(tmp_path / "other")


def test_what_does_not_go_with_a_cache_is_refused(cache, tmp_path):
    opened = binfm.Cache(cache)
    with pytest.raises(ValueError, match=r"b must be 20, as .* was built for, got 30"):
        binfm.train(opened, b=30)
    with pytest.raises(ValueError, match="regularization must be given"):
        binfm.train(opened)
    with pytest.raises(ValueError, match="max_bytes must be None"):
        binfm.train(opened, max_bytes=300)
    with pytest.raises(ValueError, match="loss must be one for classes"):
        binfm.train(opened, loss="squared", regularization=0)
    with pytest.raises(ValueError, match="must be None if X is a cache"):
        binfm.train(opened, [1])
    X, y, _ = table(200)
    for params, message in (
        (
            {"binning": "supervised", "regularization": 0},
            "binning must be 'quantile', 'uniform' or 'tails' out of core",
        ),
        ({"method": "fm"}, "method must be 'bfm' or 'sefm' out of core"),
    ):
        with pytest.raises(ValueError, match=message):
            binfm.train(in_parts(X, y), **params)
    with pytest.raises(TypeError, match="no parameter 'bins'"):
        binfm.Cache.build(in_parts(X, y), path=tmp_path / "x", bins=3)


def test_wrong_samples_are_told_in_a_sentence(tmp_path):
    X, y, weight = table(200)
    cases = [
        (lambda: iter([]), "at least one sample"),
        (lambda: iter([X]), r"must give \(X, y\) or"),
        (lambda: iter([(X, y), (X[:, :3], y)]), "X must have 5 features, as its first samples have, got 3"),
        (lambda: iter([(X, y), (X, y, weight)]), "weights with all samples or with none"),
        (lambda: iter([(X, np.zeros(200, int))]), "at least two classes"),
        (lambda: iter([(X, y, weight * 0)]), "at least one positive weight"),
        (lambda: iter([(X, y[:-1])]), "y must have 200 values, one per sample of X, got 199"),
    ]
    for source, message in cases:
        with pytest.raises(ValueError, match=message):
            binfm.train(source, regularization=0)
    with pytest.raises(ValueError, match="must give the same samples each time, got 400 and then 200"):
        binfm.train(shrinking(X, y), regularization=0)
    with pytest.raises(FileNotFoundError, match="matches none"):
        binfm.train(f"{tmp_path}/*.parquet", "y")
    with pytest.raises(FileNotFoundError):
        binfm.train(tmp_path / "none.parquet", "y")
    (tmp_path / "a.txt").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="files of one format"):
        binfm.train(tmp_path / "a.txt", "b")
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="y must be the name of a column, such as 'a', got 'c'"):
        binfm.train(tmp_path / "a.csv", "c")
    with pytest.raises(TypeError, match="y must be the name of a column of the files"):
        binfm.train(tmp_path / "a.csv", y)


def shrinking(X, y):
    """Return a source that has fewer samples each time."""
    left = [4]

    def batches():
        left[0] -= 1
        return iter([(X, y)] * left[0])

    return batches


def test_columns_that_change_are_refused():
    y = np.arange(60) % 2
    text = pl.DataFrame({"a": ["x", "y", "z"] * 20, "b": range(60)})
    numbers = text.with_columns(pl.col("b").alias("a"))
    for first, second, message in (
        (text, numbers, "column 'a' holds numbers; in earlier samples it held text"),
        (numbers, text, "column 'a' holds 'x' in row 0, which is not a number"),
        (text, text.rename({"b": "c"}), "'b' is missing"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            binfm.train(lambda first=first, second=second: iter([(first, y), (second, y)]), regularization=0)


def test_ctrl_c_leaves_no_file(tmp_path):
    code = f"""
import time, binfm, numpy as np
def batches():
    for i in range(10_000):
        print("batch", flush=True)
        time.sleep(0.01)
        yield np.random.default_rng(i).normal(size=(100, 3)), np.arange(100) % 2
binfm.Cache.build(batches, path={str(tmp_path / "c")!r}, regularization=0)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert b"KeyboardInterrupt" in process.communicate(timeout=20)[1]
    assert os.listdir(tmp_path) == []


def test_sketches_merge_in_any_order():
    X, y, _ = table(5000)
    dataset = binfm.training.Dataset.learn(X, y, None, binfm.params.Params.of({}))
    core = binfm.params.Params.of({}).resolve(5000, False).replace(regularization=0.0).core()
    blobs = []
    for order in ((0, 1, 2), (2, 0, 1)):
        whole = _core.Sketches(5, [], None)
        for i in order:
            part = _core.Sketches(5, [], None)
            part.add(X[i::3], None, 1)
            whole.merge(part)
        assert not whole.start_second_pass(core)
        blobs.append(whole.encoder(dataset, core, [], (0.0, 1.0)).to_bytes())
    assert blobs[0] == blobs[1]


def test_the_command_line_trains_on_a_cache(tmp_path, capsys):
    X, y, _ = table(300)
    frame = pl.DataFrame(X.astype(np.float64), schema=list("abcde")).with_columns(pl.Series("y", y))
    for i in range(2):
        frame[i * 150 : (i + 1) * 150].write_parquet(tmp_path / f"{i}.parquet")

    def run(*arguments, code=0):
        assert main(list(map(str, arguments))) == code
        return "".join(capsys.readouterr())

    data, model, cache = f"{tmp_path}/*.parquet", tmp_path / "m", tmp_path / "c"
    params = ("--regularization", "30", "--epochs", "2", "--ignore", "e")
    whole = binfm.train(frame.drop("y", "e"), y, regularization=30, epochs=2)
    for more in ([], ["--cache", cache], ["--cache", cache]):
        assert "300" in run("train", data, "--target", "y", "-o", model, *params, *more)
        assert binfm.load(model) == whole
    frame[:100].write_parquet(tmp_path / "0.parquet")
    failed = run("train", data, "--target", "y", "-o", model, "--cache", cache, *params, code=1)
    assert "was built from other files or columns" in failed
    assert "--target must be" in run("train", data, "-o", model, code=1)
