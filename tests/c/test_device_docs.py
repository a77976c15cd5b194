"""The examples in docs/devices.md and docs/device-tutorial.md run, and their figures match the code."""

import os
import re
import subprocess
import sys
from pathlib import Path

import binfm
import numpy as np
import pytest
from binfm.export import devices
from machines import STRICT, require, run

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "devices.md").read_text(encoding="utf-8")
TUTORIAL = (DOCS / "device-tutorial.md").read_text(encoding="utf-8")


def blocks(language, page=PAGE):
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def block(language, page=PAGE):
    (found,) = blocks(language, page)
    return found


def test_example_predicts_like_python(tmp_path, monkeypatch):
    require("gcc")
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(block("python"), "devices.md", "exec"), names)
    (tmp_path / "main.c").write_text(block("c"))
    run(["gcc", "-std=c99", *STRICT, "main.c", "-o", "main"], cwd=tmp_path)
    (sample,) = re.findall(r"= \{(.*)\};", block("c"))
    label = int(names["model"].predict([[float(value) for value in sample.split(",")]])[0])
    assert subprocess.run([tmp_path / "main"], check=False).returncode == label


@pytest.mark.device
def test_tutorial_runs_as_written(tmp_path, monkeypatch):
    """Make the files of the page, run its commands, and compare what the emulator prints with the page."""
    require("arm-none-eabi-gcc", "qemu-system-arm")
    monkeypatch.chdir(tmp_path)
    exec(compile(block("python", TUTORIAL), "device-tutorial.md", "exec"), {})
    (tmp_path / "main.c").write_text(block("c", TUTORIAL))
    (tmp_path / "pump.ld").write_text(block("text", TUTORIAL))
    lines = "".join(blocks("console", TUTORIAL)).splitlines()
    commands = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    printed = run(["bash", "-ec", "\n".join(["exec 2>&1", *commands])], env={**os.environ, "PATH": path}).decode()
    assert float(re.search(r"^accuracy +(\S+)$", printed, re.MULTILINE)[1]) > 0.95
    assert int(re.search(r"^cortex-m0 model +(\S+)$", printed, re.MULTILINE)[1]) <= 300
    assert printed.endswith("\n".join(line for line in lines if not line.startswith("$ ")) + "\n")


@pytest.mark.parametrize("name", devices.TARGETS)
def test_size_table_matches_the_code(name):
    target = devices.TARGETS[name]
    (line,) = re.findall(rf"^\| `{name}`.*$", PAGE, re.MULTILINE)
    numbers = [int(cell.split()[0].replace(",", "")) for cell in line.strip("|").split("|")[1:]]
    assert numbers[:3] == [target.predict, target.check, target.stack]
    X = np.random.default_rng(0).normal(size=(2000, 22))
    for tilings, documented in zip((1, 4), numbers[3:], strict=True):
        model = binfm.train(X, X[:, 0] > 0, m=16, b=20, tilings=tilings, epochs=1, regularization=0)
        assert devices.steps(model, target) == pytest.approx(documented, rel=devices.TOLERANCE)


def test_documented_functions_exist():
    header = (Path(binfm.get_include()) / "binfm.h").read_text()
    named = set(re.findall(r"`(binfm_\w+)", PAGE))
    assert len(named) > 8
    for name in named:
        assert re.search(rf"\b{name}\(", header), name
