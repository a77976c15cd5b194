"""The command line as a user runs it: in its own process, on files and pipes."""

import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import binfm
import numpy as np
import polars as pl
import pytest
from binfm.cli import main
from sklearn.datasets import dump_svmlight_file

COMMAND = Path(sys.executable).with_name("binfm")
ROWS = 300


def run(*arguments, cwd=None, code=0, stdin=b""):
    """Run the command, check its exit code, and check that standard error is empty unless it fails."""
    result = subprocess.run([COMMAND, *map(str, arguments)], cwd=cwd, input=stdin, capture_output=True, timeout=120)
    error = result.stderr.decode()
    assert result.returncode == code, error
    if code == 0:
        assert error == "", "silent in a pipe"
    else:
        assert error.count("\n") == 1, error
        assert error.startswith("binfm"), error
        assert "Traceback" not in error
    return result.stdout if code == 0 else error


def flights(rows=ROWS, seed=0):
    rng = np.random.default_rng(seed)
    hour, carrier = rng.integers(5, 23, rows), rng.choice(["AA", "B6", "UA"], rows)
    late = (hour > 15) ^ (carrier == "AA")
    table = pl.DataFrame(
        {
            "day": pl.Series("day", rng.integers(19000, 19365, rows)).cast(pl.Int32).cast(pl.Date),
            "hour": hour,
            "carrier": carrier,
            "gate": rng.integers(1, 4, rows),
            "night": hour > 20,
            "delay": late * 30.0 + rng.normal(size=rows),
            "late": np.where(late, "yes", "no"),
        }
    )
    missing = pl.Series(rng.random(rows) < 0.1)
    return table.with_columns(
        pl.when(~missing).then("hour").alias("hour"), pl.when(~missing).then("carrier").alias("carrier")
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the data in all formats and a model for each task."""
    folder = tmp_path_factory.mktemp("cli")
    for name, table in (("train", flights()), ("test", flights(seed=1))):
        table.write_csv(folder / f"{name}.csv", null_value="NA")
        table.write_csv(folder / f"{name}.tsv", separator="\t")
        table.write_parquet(folder / f"{name}.parquet")
        table.write_ndjson(folder / f"{name}.ndjson")
    rng = np.random.default_rng(0)
    for name in ("train", "test"):
        X = np.where(rng.random((ROWS, 9)) < 0.4, 1.0, 0.0)
        dump_svmlight_file(X, X[:, 0] * 2 - 1, str(folder / f"{name}.libsvm"), zero_based=False)
    quick = ("--epochs", 10, "--ignore", "delay")
    run("train", "train.csv", "--target", "late", "-o", "late.binfm", *quick, cwd=folder)
    run("train", "train.csv", "--target", "delay", "-o", "delay.binfm", "--regression", "--ignore", "late", cwd=folder)
    run("train", "train.libsvm", "-o", "sparse.binfm", cwd=folder)
    return folder


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "ndjson"])
def test_all_formats_train_the_same_model(folder, ending, tmp_path):
    out = tmp_path / "m.binfm"
    report = run(
        "train",
        folder / f"train.{ending}",
        "--target",
        "late",
        "-o",
        out,
        "--epochs",
        10,
        "--ignore",
        "delay",
        "--json",
    )
    report = json.loads(report)
    model = binfm.load(out)
    assert report["bytes"] == model.nbytes == out.stat().st_size
    assert report["classes"] == ["no", "yes"]
    assert (report["rows"], report["features"], report["epochs"]) == (ROWS, 5, 10)
    assert model.feature_names == ("day", "hour", "carrier", "gate", "night")
    assert out.read_bytes() == (folder / "late.binfm").read_bytes()


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "ndjson"])
def test_predictions_are_those_of_the_model(folder, ending, tmp_path):
    model = binfm.load(folder / "late.binfm")
    test = flights(seed=1).select(model.feature_names)
    out = tmp_path / f"out.{ending}"
    assert (
        run(
            "predict",
            "late.binfm",
            f"test.{ending}",
            "-o",
            out,
            "--probabilities",
            "--scores",
            "--keep",
            "gate",
            cwd=folder,
        )
        == b""
    )
    readers = {"csv": pl.read_csv, "tsv": lambda path: pl.read_csv(path, separator="\t"), "parquet": pl.read_parquet}
    table = readers.get(ending, pl.read_ndjson)(out)
    assert table.columns == ["gate", "prediction", "probability_no", "probability_yes", "score"]
    assert table["prediction"].to_list() == model.predict(test).tolist()
    np.testing.assert_allclose(table["score"], model.decision_function(test))
    assert table["gate"].to_list() == test["gate"].to_list()
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


def test_pipes(folder):
    data = (folder / "test.csv").read_bytes()
    piped = run("predict", "late.binfm", "-", cwd=folder, stdin=data)
    assert piped == run("predict", "late.binfm", "test.csv", cwd=folder)
    assert piped.splitlines()[0] == b"prediction"
    as_json = run("predict", "late.binfm", "test.csv", "--json", cwd=folder).splitlines()
    assert len(as_json) == ROWS
    assert json.loads(as_json[0])["prediction"] in ("yes", "no")
    model = run("train", "-", "--target", "late", "--epochs", 10, "--ignore", "delay", "-o", "-", cwd=folder,
                stdin=(folder / "train.csv").read_bytes())  # fmt: skip
    assert model == (folder / "late.binfm").read_bytes()
    assert run("inspect", "-", "--json", stdin=model) == run("inspect", "late.binfm", "--json", cwd=folder)
    parquet = (folder / "test.parquet").read_bytes()
    assert run("predict", "late.binfm", "-", "--format", "parquet", cwd=folder, stdin=parquet) == piped


def test_a_closed_pipe_is_not_an_error(folder, tmp_path):
    pl.concat([flights(seed=1)] * 1000).write_csv(tmp_path / "many.csv")
    script = f'"{COMMAND}" predict late.binfm "{tmp_path}/many.csv" | head -1; exit "${{PIPESTATUS[0]}}"'
    result = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, timeout=120)
    assert (result.stdout, result.stderr, result.returncode) == (b"prediction\n", b"", 141)


def test_batches_keep_their_order(folder, tmp_path):
    """More samples than fit in a batch: the output keeps their order and has one header."""
    model = binfm.load(folder / "late.binfm")
    many = pl.concat([flights(seed=1)] * 700)
    many.write_csv(tmp_path / "many.csv")
    out = run("predict", folder / "late.binfm", tmp_path / "many.csv").decode().split()
    assert out == ["prediction", *model.predict(many.select(model.feature_names)).tolist()]


def test_evaluation(folder):
    model = binfm.load(folder / "late.binfm")
    test = flights(seed=1)
    accuracy = np.mean(model.predict(test.select(model.feature_names)) == test["late"].to_numpy())
    report = json.loads(run("evaluate", "late.binfm", "test.csv", "--target", "late", "--json", cwd=folder))
    assert report["rows"] == ROWS
    assert report["accuracy"] == pytest.approx(accuracy)
    assert accuracy > 0.8
    assert 0.8 < report["auc"] <= 1
    assert 0 < report["log_loss"] < 0.7
    text = run("evaluate", "late.binfm", "test.csv", "--target", "late", cwd=folder).decode()
    assert re.search(rf"^accuracy +{accuracy:.4g}$", text, re.MULTILINE)
    numbers = json.loads(run("evaluate", "delay.binfm", "test.parquet", "--target", "delay", "--json", cwd=folder))
    assert numbers["r2"] > 0.5
    assert numbers["rmse"] >= numbers["mae"] > 0


def test_sparse_files(folder):
    assert json.loads(run("evaluate", "sparse.binfm", "test.libsvm", "--json", cwd=folder))["accuracy"] == 1.0
    lines = run("predict", "sparse.binfm", "test.libsvm", cwd=folder).decode().split()
    assert set(lines[1:]) == {"-1", "1"}
    assert len(lines) == ROWS + 1
    assert binfm.load(folder / "sparse.binfm").n_features == 9


@pytest.mark.parametrize("method", ["sefm", "dfm", "fm"])
def test_other_methods(folder, tmp_path, method):
    run("train", "train.csv", "--target", "late", "--method", method, "-o", tmp_path / "m.binfm", cwd=folder)
    report = json.loads(run("inspect", tmp_path / "m.binfm", "--json", cwd=folder))
    assert report["method"] == method
    run("inspect", tmp_path / "m.binfm", "--html", tmp_path / "page.html", cwd=folder)
    rows = run("predict", tmp_path / "m.binfm", "test.csv", cwd=folder).decode().splitlines()
    assert len(rows) == ROWS + 1


def test_inspection(folder):
    report = json.loads(run("inspect", "late.binfm", "--json", cwd=folder))
    model = binfm.load(folder / "late.binfm")
    assert report["bytes"] == model.nbytes
    assert [feature["feature"] for feature in report["features"]] == list(model.feature_names)
    assert report["features"][2]["values"] == ["AA", "B6", "UA"]
    text = run("inspect", "late.binfm", "--device", "avr", cwd=folder).decode()
    assert re.search(r"carrier +categorical +3 +16 +yes +AA B6 UA", text)
    assert re.search(r"^avr flash +[\d,]+$", text, re.MULTILINE)


def test_html_report(folder, tmp_path):
    run("inspect", "late.binfm", "--html", tmp_path / "late.html", cwd=folder)
    page = (tmp_path / "late.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "late.binfm" in page
    assert "carrier" in page


def test_export(folder, tmp_path):
    out = tmp_path / "late.h"
    report = json.loads(run("export", folder / "late.binfm", "--c", out, "--name", "late", "--runtime", "--json"))
    assert report["header"] == str(out)
    assert "static const uint8_t late_model[LATE_BYTES]" in out.read_text()


def test_demo(tmp_path):
    assert b"pinwheel" in run("demo", cwd=tmp_path)


def test_a_size_limit(folder, tmp_path):
    out = tmp_path / "small.binfm"
    report = run(
        "train",
        folder / "train.csv",
        "--target",
        "late",
        "-o",
        out,
        "--max-bytes",
        160,
        "--epochs",
        3,
        "--m",
        2,
        "--json",
    )
    assert json.loads(report)["bytes"] <= 160


def test_weights_and_validation(folder, tmp_path):
    flights().with_columns(weight=pl.lit(2.0)).write_parquet(tmp_path / "weighted.parquet")
    report = run(
        "train", tmp_path / "weighted.parquet", "--target", "late", "-o", tmp_path / "m.binfm", "--weight", "weight",
        "--valid", tmp_path / "weighted.parquet", "--categorical", "gate", "--early-stopping", "yes", "--json",
    )  # fmt: skip
    assert "val_loss" in json.loads(report)
    model = binfm.load(tmp_path / "m.binfm")
    assert model.features[model.feature_names.index("gate")].kind == "categorical"
    assert "weight" not in model.feature_names


def test_samples_without_target_are_skipped_and_counted(folder, tmp_path):
    table = flights().with_columns(late=pl.when(pl.int_range(ROWS) % 10 > 0).then("late"))
    table.write_csv(tmp_path / "some.csv", null_value="NA")
    report = json.loads(run("train", tmp_path / "some.csv", "--target", "late", "-o", tmp_path / "m.binfm", "--json"))
    assert (report["rows"], report["rows_without_target"]) == (ROWS * 9 // 10, ROWS // 10)


def test_text_that_looks_like_numbers(tmp_path):
    """A text column stays text even if a file has only digits in it, and so does the target."""
    codes = pl.DataFrame({"code": ["1", "2", "x", "1"] * 30, "y": ["a", "1", "a", "a"] * 30})
    codes.write_csv(tmp_path / "train.csv")
    codes.filter(pl.col("code") != "x").with_columns(y=pl.lit("1")).write_csv(tmp_path / "test.csv")
    run("train", "train.csv", "--target", "y", "-o", "m.binfm", cwd=tmp_path)
    report = json.loads(run("evaluate", "m.binfm", "test.csv", "--target", "y", "--json", cwd=tmp_path))
    assert report["accuracy"] == pytest.approx(1 / 3)


def test_dates_in_json(tmp_path):
    lines = [
        {"day": f"2024-01-{i % 28 + 1:02}", "at": f"2024-01-01T{i % 24:02}:30:00", "when": None, "y": i % 2}
        for i in range(60)
    ]
    (tmp_path / "t.ndjson").write_text("\n".join(map(json.dumps, lines)))
    run("train", "t.ndjson", "--target", "y", "-o", "m.binfm", cwd=tmp_path)
    assert [feature.kind for feature in binfm.load(tmp_path / "m.binfm").features] == ["numeric", "numeric", "unused"]
    (tmp_path / "u.ndjson").write_text(json.dumps({**lines[0], "day": "soon"}))
    error = run("predict", "m.binfm", "u.ndjson", cwd=tmp_path, code=1)
    assert "column 'day' holds 'soon' in row 0, which is not a number" in error


def test_later_samples_may_differ(folder, tmp_path):
    """Fractions, values after a long gap: what the first rows do not tell."""
    model = binfm.load(folder / "late.binfm")
    index = pl.int_range(12_000)
    hour = pl.when(index >= 11_000).then(pl.col("hour") + pl.when(index == 11_500).then(0.5).otherwise(0))
    rows = pl.concat([flights()] * 40).with_columns(hour=hour)
    rows.write_csv(tmp_path / "rows.csv")
    lines = run("predict", folder / "late.binfm", tmp_path / "rows.csv", "--keep", "gate").decode().split()
    expected = zip(rows["gate"], model.predict(rows.select(model.feature_names)), strict=True)
    assert lines == ["gate,prediction", *(f"{gate},{label}" for gate, label in expected)]
    rows.with_columns(hour=pl.when(index < 11_999).then(pl.lit("7")).otherwise(pl.lit("noon"))).write_csv(
        tmp_path / "bad.csv"
    )
    error = run("predict", folder / "late.binfm", tmp_path / "bad.csv", code=1)
    assert "bad.csv: column 'hour' must hold numbers, as in training, got 'noon' in line 12,001; --treat" in error


def test_a_file_without_a_header(tmp_path):
    flights().select("hour", "late").write_csv(tmp_path / "bare.csv", include_header=False)
    run("train", "bare.csv", "--no-header", "--target", "column_2", "-o", "m.binfm", cwd=tmp_path)
    assert binfm.load(tmp_path / "m.binfm").feature_names == ("column_1",)
    assert len(run("predict", "m.binfm", "bare.csv", "--no-header", cwd=tmp_path).split()) == ROWS + 1


def test_models_without_names_take_columns_in_order(folder, tmp_path):
    binfm.load(folder / "late.binfm").save(tmp_path / "plain.binfm", names=False)
    test = flights(seed=1).drop("delay")
    test.write_csv(tmp_path / "test.csv")
    test.drop("late").write_csv(tmp_path / "features.csv")
    expected = run("predict", "late.binfm", "test.csv", cwd=folder)
    assert run("predict", "plain.binfm", "features.csv", cwd=tmp_path) == expected
    run("evaluate", "plain.binfm", "test.csv", "--target", "late", cwd=tmp_path)
    error = run("predict", "plain.binfm", "test.csv", cwd=tmp_path, code=1)
    assert "must have 5 columns, as in training, got 6" in error


BAD = {
    "no file": (1, ("train", "nowhere.csv", "--target", "y", "-o", "m.binfm"), "nowhere.csv: No such file"),
    "a folder": (1, ("train", ".", "--target", "y", "-o", "m.binfm", "--format", "csv"), ".: Is a directory"),
    "no model": (1, ("predict", "nowhere.binfm", "test.csv"), "nowhere.binfm: No such file"),
    "not a model": (1, ("predict", "test.csv", "test.csv"), "test.csv: not a binfm model: .* at byte 0"),
    "not parquet": (1, ("predict", "late.binfm", "fake.parquet"), "fake.parquet cannot be read as parquet"),
    "ragged lines": (1, ("train", "ragged.csv", "--target", "a", "-o", "m.binfm"), "ragged.csv cannot be read as csv"),
    "empty file": (1, ("train", "empty.csv", "--target", "a", "-o", "m.binfm"), "empty.csv .*empty"),
    "no rows": (1, ("train", "header.csv", "--target", "a", "-o", "m.binfm"), "header.csv must have at least one row"),
    "not libsvm": (1, ("train", "train.csv", "--format", "libsvm", "-o", "m.binfm"), "train.csv is not a LIBSVM file"),
    "unknown ending": (1, ("train", "late.binfm", "--target", "y", "-o", "m"), "late.binfm must end in .* '.binfm'"),
    "no target": (1, ("train", "train.csv", "-o", "m.binfm"), "--target must be one of .*, day, hour"),
    "no such target": (1, ("train", "train.csv", "--target", "y", "-o", "m"), "--target must be one of .*, got 'y'"),
    "no such weight": (
        1, ("train", "train.csv", "--target", "late", "--weight", "w", "-o", "m"), "--weight must be one .*, got 'w'",
    ),
    "one class": (
        1, ("train", "one.csv", "--target", "y", "-o", "m.binfm"),
        "one.csv: column 'y' must have at least two classes, got one class: 'a'",
    ),
    "fractions": (1, ("train", "train.csv", "--target", "delay", "-o", "m"), "'delay' must hold classes.*--regression"),
    "words as numbers": (
        1, ("train", "train.csv", "--target", "late", "--regression", "-o", "m"), "column 'late'.*not numbers",
    ),
    "text for numbers": (
        1, ("predict", "late.binfm", "text.csv"),
        "text.csv: column 'hour' must hold numbers, as in training, got 'noon' in line 2, and 2 more such cells;",
    ),
    "a missing column": (1, ("predict", "late.binfm", "one.csv"), "one.csv must have a column 'day', got x, y"),
    "no target to compare": (1, ("evaluate", "late.binfm", "test.csv"), "test.csv: --target must be one of"),
    "an unknown class": (1, ("evaluate", "late.binfm", "text.csv", "--target", "carrier"), "text.csv"),
    "too many features": (1, ("predict", "sparse.binfm", "wide.libsvm"), "wide.libsvm"),
    "no folder": (1, ("train", "train.csv", "--target", "late", "-o", "no/m.binfm"), "no: No such folder"),
    "unknown output": (1, ("predict", "late.binfm", "test.csv", "-o", "out.xls"), "out.xls must end in .*, got '.xls'"),
    "kept column": (1, ("predict", "late.binfm", "test.csv", "--keep", "z"), "--keep must be a column .* got 'z'"),
    "probabilities of hinge": (1, ("predict", "delay.binfm", "test.csv", "--probabilities"), "delay.binfm|logistic"),
    "a wrong value": (
        1, ("train", "train.csv", "--target", "late", "-o", "m", "--m", "65536"),
        "binfm: m must be a whole number from 0 to 65535, got 65536",
    ),
    "too few bytes": (
        1, ("train", "train.csv", "--target", "late", "-o", "m", "--max-bytes", "9"), "max_bytes must be .*, got 9",
    ),
    "unknown device": (1, ("inspect", "late.binfm", "--device", "z80"), "target must be 'avr', .*, got 'z80'"),
    "no folder for a page": (1, ("inspect", "late.binfm", "--html", "no/late.html"), "no/late.html: No such file"),
    "wrong C name": (1, ("export", "late.binfm", "--c", "m.h", "--name", "1x"), "name must be .*, got '1x'"),
    "no command": (2, (), "required: command"),
    "unknown command": (2, ("learn",), "invalid choice: 'learn'"),
    "no number": (2, ("train", "train.csv", "-o", "m", "--m", "many"), "invalid int value: 'many'"),
    "no output": (2, ("train", "train.csv"), "required: -o/--output"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_an_error_is_one_line(folder, name):
    code, arguments, pattern = BAD[name]
    (folder / "fake.parquet").write_text("a,b\n1,2\n")
    (folder / "ragged.csv").write_text("a,b\n1,2\n1,2,3\n")
    (folder / "empty.csv").write_text("")
    (folder / "header.csv").write_text("a,b\n")
    (folder / "one.csv").write_text("x,y\n1,a\n2,a\n")
    (folder / "wide.libsvm").write_text("1 1:1 99:1\n")
    flights(3).with_columns(hour=pl.lit("noon")).write_csv(folder / "text.csv")
    before = sorted(folder.iterdir())
    assert re.search(pattern, run(*arguments, cwd=folder, code=code)), run(*arguments, cwd=folder, code=code)
    assert sorted(folder.iterdir()) == before, "nothing is left behind"


def test_version_and_help():
    assert run("--version").decode() == f"binfm {binfm.__version__}\n"
    for command in ("train", "predict", "evaluate", "inspect", "export", "demo"):
        text = run(command, "--help")
        assert b"usage: binfm " + command.encode() in text
        assert b"exit codes: 0 success" in text


@pytest.mark.parametrize("message", ["out of memory", "out of memory: cannot allocate 9 bytes"])
def test_too_little_memory_is_one_line_and_an_exit_code_of_its_own(monkeypatch, capsys, message):
    def fail(args):
        raise MemoryError(*[message] * (message != "out of memory"))

    monkeypatch.setattr("binfm.cli.inspect.run", fail)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # the command sets its own
    assert main(["inspect", "late.binfm"]) == 3
    assert capsys.readouterr().err == f"binfm: {message}\n"


def test_the_modules_run_the_command(folder):
    for module in ("binfm", "binfm.cli"):
        command = [sys.executable, "-m", module, "inspect", "late.binfm", "--json"]
        assert subprocess.check_output(command, cwd=folder) == run("inspect", "late.binfm", "--json", cwd=folder)


def test_without_polars(folder, run_python):
    run_python(
        "import sys; sys.modules['polars'] = None; from binfm.cli import main; import contextlib, io\n"
        "said = io.StringIO()\n"
        "with contextlib.redirect_stderr(said):\n"
        "    assert main(['predict', sys.argv[1], sys.argv[2]]) == 1\n"
        "assert \"pip install 'binfm[cli]'\" in said.getvalue(), said.getvalue()\n",
        folder / "late.binfm",
        folder / "test.csv",
    )


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_a_terminal_shows_a_progress_bar(folder, tmp_path):
    import fcntl
    import pty
    import struct
    import termios

    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    command = [COMMAND, "train", "train.csv", "--target", "late", "--epochs", "30", "-o", tmp_path / "m.binfm"]
    result = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=follower, timeout=120)
    os.close(follower)
    seen = os.read(leader, 65536)
    os.close(leader)
    assert result.returncode == 0
    assert b"binfm" in seen
    assert re.search(rb"\| \d+/30 \[[\d:]+<[\d:]+, .*epochs/s", seen), "done, total and time left"
