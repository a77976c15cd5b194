"""docs/devices.md runs as it stands, and its figures are those of the code."""

import re
from pathlib import Path

import binfm
import numpy as np
import pytest
from binfm import devices
from machines import STRICT, need, run

PAGE = (Path(__file__).parents[2] / "docs" / "devices.md").read_text(encoding="utf-8")


def block(language):
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    return found


def test_the_example_predicts_what_python_predicts(tmp_path, monkeypatch):
    need("gcc")
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(block("python"), "devices.md", "exec"), names)
    (tmp_path / "main.c").write_text(block("c"))
    run(["gcc", "-std=c99", *STRICT, "main.c", "-o", "main"], cwd=tmp_path)
    (row,) = re.findall(r"= \{(.*)\};", block("c"))
    label = int(names["model"].predict([[float(value) for value in row.split(",")]])[0])
    done = __import__("subprocess").run([tmp_path / "main"], check=False)
    assert done.returncode == label


@pytest.mark.parametrize("name", devices.TARGETS)
def test_the_table_of_sizes_is_that_of_the_code(name):
    target = devices.TARGETS[name]
    (row,) = re.findall(rf"^\| `{name}`.*$", PAGE, re.MULTILINE)
    numbers = [int(cell.split()[0].replace(",", "")) for cell in row.strip("|").split("|")[1:]]
    assert numbers[:3] == [target.predict, target.check, target.stack]
    X = np.random.default_rng(0).normal(size=(2000, 22))
    for tilings, said in zip((1, 4), numbers[3:], strict=True):
        model = binfm.train(X, X[:, 0] > 0, m=16, b=20, tilings=tilings, epochs=1)
        assert devices.steps(model.to_bytes(), target) == pytest.approx(said, rel=devices.TOLERANCE)


def test_every_function_of_the_table_exists():
    header = (Path(binfm.get_include()) / "binfm.h").read_text()
    named = set(re.findall(r"`(binfm_\w+)", PAGE))
    assert len(named) > 8
    for name in named:
        assert re.search(rf"\b{name}\(", header), name
