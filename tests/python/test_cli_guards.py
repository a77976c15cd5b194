"""The command line guards its input: text among numbers, columns as they were read, time left."""

import gzip
import json
import re
import subprocess

import binfm
import numpy as np
import polars as pl
import pytest
from binfm.cli._data import Source
from binfm.cli._main import parser
from sklearn.datasets import dump_svmlight_file
from test_cli import COMMAND, run

ROWS = 500
TRAIN = ("train", "t.csv", "--target", "late", "-o", "m.binfm", "--epochs", 3, "--regularization", 0)


def table(rows=ROWS):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, rows)).round(4)
    late = np.where(a * b > 0, "yes", "no")
    return pl.DataFrame({"a": a, "b": b, "kind": rng.choice(["x", "y"], rows), "note": "n", "late": late})


def write(folder, text="oops", line=300, name="t.csv"):
    """Write the table with a text in place of a number in column b."""
    lines = table().write_csv().splitlines()
    cells = lines[line - 1].split(",")
    cells[1] = text
    lines[line - 1] = ",".join(cells)
    (folder / name).write_text("\n".join(lines) + "\n")


def test_a_text_among_numbers_is_named(tmp_path):
    write(tmp_path)
    error = run(*TRAIN, cwd=tmp_path, code=1)
    assert error == (
        "binfm: t.csv: column 'b' holds numbers, but 'oops' in line 300; --treat-as-missing oops reads it as missing, "
        "--categorical b reads the column as categories\n"
    )
    report = json.loads(run(*TRAIN, "--treat-as-missing", "oops", "--json", cwd=tmp_path))
    assert report["columns"][1] == {"feature": "b", "type": "number", "cells": 17, "missing": 1, "dropped": ""}
    report = json.loads(run(*TRAIN, "--ignore", "b", "--json", cwd=tmp_path))
    assert [column["feature"] for column in report["columns"]] == ["a", "kind", "note"]


def test_a_column_with_texts_may_be_categories(tmp_path):
    lines = [f"{'2A' if i % 20 == 0 else i % 7},{'yes' if i % 2 else 'no'}" for i in range(200)]
    (tmp_path / "t.csv").write_text("house,late\n" + "\n".join(lines))
    assert "column 'house' holds numbers, but '2A' in line 2, and 9 more such cells" in run(
        *TRAIN, cwd=tmp_path, code=1
    )
    report = json.loads(run(*TRAIN, "--categorical", "house", "--json", cwd=tmp_path))
    assert report["columns"][0]["type"] == "category"


def test_texts_to_treat_as_missing_add_to_the_usual_ones(tmp_path):
    write(tmp_path, "-")
    lines = (tmp_path / "t.csv").read_text().splitlines()
    lines[40] = re.sub(r"^[^,]*", "NA", lines[40])
    (tmp_path / "t.csv").write_text("\n".join(lines))
    report = json.loads(run(*TRAIN, "--treat-as-missing", "-", "--json", cwd=tmp_path))
    assert [column["missing"] for column in report["columns"]] == [1, 1, 0, 0]


def test_predict_and_evaluate_name_the_text(tmp_path):
    table().write_csv(tmp_path / "t.csv")
    run(*TRAIN, cwd=tmp_path)
    write(tmp_path, "oops", name="bad.csv")
    for command in (("predict", "m.binfm", "bad.csv"), ("evaluate", "m.binfm", "bad.csv", "--target", "late")):
        error = run(*command, cwd=tmp_path, code=1)
        assert (
            "bad.csv: column 'b' must hold numbers, as in training, got 'oops' in line 300; --treat-as-missing oops"
            in error
        )
        run(*command, "--treat-as-missing", "oops", cwd=tmp_path)
    late = pl.concat([table(12_000), table(1).with_columns(b=pl.lit("oops"))], how="vertical_relaxed")
    late.write_csv(tmp_path / "late.csv")
    assert "got 'oops' in line 12,002" in run("predict", "m.binfm", "late.csv", cwd=tmp_path, code=1), (
        "after the first rows"
    )


def test_lines_are_those_of_the_file(tmp_path):
    rows = [f'{i},"a\nb",{i % 2}' for i in range(60)]
    rows[50] = rows[50].replace("50,", "fifty,", 1)
    text = "n,words,late\n" + "\n".join(rows) + "\n"
    for name in ("t.csv", "t.csv.gz"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
        error = run("train", name, "--target", "late", "-o", "m.binfm", cwd=tmp_path, code=1)
        assert "but 'fifty' in line 103" in error, "each row has two lines, and the number is on the first"


def test_numbers_may_have_spaces_around_them(tmp_path):
    plain = table()
    plain.write_csv(tmp_path / "plain.csv")
    (tmp_path / "t.csv").write_text(plain.write_csv().replace(",", " , ").replace(" , late", ",late"))
    report = json.loads(run(*TRAIN, "--json", cwd=tmp_path))
    assert [column["type"] for column in report["columns"]] == ["number", "number", "category", "category"]
    run("predict", "m.binfm", "t.csv", cwd=tmp_path)


def test_the_columns_are_shown_after_training(tmp_path):
    table().write_csv(tmp_path / "t.csv")
    lines = run(*TRAIN, cwd=tmp_path).decode().splitlines()
    assert lines[-5].split() == ["feature", "type", "cells", "missing", "dropped"]
    assert lines[-1].split() == ["note", "category", "0", "0", "one", "category"]


def test_a_warning_is_one_line(tmp_path):
    table().with_columns(id=pl.Series([f"id{i}" for i in range(ROWS)])).write_csv(tmp_path / "t.csv")
    result = subprocess.run([COMMAND, *map(str, TRAIN)], cwd=tmp_path, capture_output=True, timeout=120)
    assert result.returncode == 0
    assert re.fullmatch(
        r"binfm: warning: X: column 'id' holds 500 different texts in .*min_count\n", result.stderr.decode()
    )


def test_numbers_as_target_are_refused(tmp_path):
    table().with_columns(price=pl.Series(np.arange(ROWS) * 7)).write_csv(tmp_path / "t.csv")
    error = run("train", "t.csv", "--target", "price", "-o", "m.binfm", cwd=tmp_path, code=1)
    assert "column 'price' must hold classes, got 500 different numbers in 500 samples; --regression" in error
    write(tmp_path)
    error = run("train", "t.csv", "--target", "b", "--regression", "-o", "m.binfm", cwd=tmp_path, code=1)
    assert "column 'b' must hold numbers, got 'oops' in line 300" in error


def test_metrics_on_the_command_line(tmp_path):
    table().write_csv(tmp_path / "t.csv")
    report = json.loads(run(*TRAIN, "--eval-metric", "auc", "--json", cwd=tmp_path))
    assert 0 < report["val_auc"] <= 1
    budget = (*TRAIN, "--max-bytes", 150, "--scoring", "balanced_accuracy", "--json")
    assert 0 < json.loads(run(*budget, cwd=tmp_path))["cross_validated_balanced_accuracy"] <= 1


def test_json_keys_are_in_snake_case(tmp_path):
    table().write_csv(tmp_path / "t.csv")
    commands = [
        (*TRAIN, "--max-bytes", 200, "--json"),
        ("evaluate", "m.binfm", "t.csv", "--target", "late", "--json"),
        ("inspect", "m.binfm", "--device", "cortex-m0", "--json"),
        ("predict", "m.binfm", "t.csv", "-o", "out.csv", "--json"),
    ]
    for command in commands:
        for key in json.loads(run(*command, cwd=tmp_path)):
            assert re.fullmatch("[a-z0-9_]+", key), key


def test_output_may_be_a_device(tmp_path):
    table().write_csv(tmp_path / "t.csv")
    run("train", "t.csv", "--target", "late", "-o", "/dev/null", "--epochs", 1, "--regularization", 0, cwd=tmp_path)
    run(*TRAIN, cwd=tmp_path)
    assert run("predict", "m.binfm", "t.csv", "-o", "/dev/null", cwd=tmp_path) == b""
    written = run("predict", "m.binfm", "t.csv", "-o", "/dev/stdout", cwd=tmp_path)
    assert written == run("predict", "m.binfm", "t.csv", cwd=tmp_path)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "ndjson", "libsvm", "csv.gz"])
def test_rows_are_counted_for_the_time_left(tmp_path, ending):
    data, path = table(123), tmp_path / f"t.{ending}"
    writers = {
        "csv": data.write_csv,
        "tsv": lambda path: data.write_csv(path, separator="\t"),
        "parquet": data.write_parquet,
        "ndjson": data.write_ndjson,
        "csv.gz": lambda path: path.write_bytes(gzip.compress(data.write_csv().encode())),
        "libsvm": lambda path: dump_svmlight_file(np.eye(123), np.ones(123), str(path)),
    }
    writers[ending](path)
    args = parser().parse_args(["predict", "m.binfm", str(path)])
    with Source.opened(str(path), args) as source:
        assert source.rows() == 123


def test_a_bar_counts_rows(tmp_path, monkeypatch, capfd):
    from binfm.cli import _messages, main

    table().write_csv(tmp_path / "t.csv")
    model = binfm.train(table().drop("late"), table()["late"], m=2, epochs=1)
    model.save(tmp_path / "m.binfm")
    monkeypatch.setattr(_messages, "on_terminal", lambda: True)
    monkeypatch.chdir(tmp_path)
    for command in (
        ["predict", "m.binfm", "t.csv", "-o", "out.csv"],
        ["evaluate", "m.binfm", "t.csv", "--target", "late"],
    ):
        assert main(command) == 0
        assert re.search(r"100%\|.*\| 500/500 \[[\d:]+<00:00, .* rows/s\]", capfd.readouterr().err)
