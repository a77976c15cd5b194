"""Examples in the documentation run as they stand."""

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import binfm
import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [README, ROOT / "docs/tables.md", ROOT / "docs/command-line.md"]
NOT_IMPORTED = ("binfm.demo", "binfm.__main__", "binfm.cli.__main__")
MODULES = ["binfm", *(m.name for m in pkgutil.walk_packages(binfm.__path__, "binfm.") if m.name not in NOT_IMPORTED)]


def blocks(page, language="python"):
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_the_front_doors_have_examples():
    finder = doctest.DocTestFinder(recurse=False)
    for thing in (binfm.train, binfm.Model):
        assert any(test.examples for test in finder.find(thing)), thing


@pytest.mark.skipif(not README.exists(), reason="there is no README.md here")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_on_the_pages(page, tmp_path, monkeypatch):
    """All blocks, one after the other, in one namespace and an empty directory."""
    monkeypatch.chdir(tmp_path)
    assert blocks(page), "the page shows how to use it"
    names = {"__name__": "page"}
    for block in blocks(page):
        exec(compile(block, page.name, "exec"), names)


def test_commands_on_the_page_of_the_command_line(tmp_path, monkeypatch):
    """The table is made, then each command runs in a shell, where a failing one ends it."""
    page = ROOT / "docs/command-line.md"
    monkeypatch.chdir(tmp_path)
    for block in blocks(page):
        exec(compile(block, page.name, "exec"), {"__name__": "page"})
    lines = "".join(blocks(page, "console")).splitlines()
    commands = [line.removeprefix("$ ") for line in lines if line.startswith("$ binfm ")]
    assert len(commands) >= 9
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-ec", "\n".join(commands)], env=environment, capture_output=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, b"")
    said = done.stdout.decode()
    assert float(re.search(r"^accuracy +(\S+)$", said, re.MULTILINE)[1]) > 0.8
    assert (tmp_path / "late.binfm").stat().st_size <= 256
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 2001
    assert {path.name for path in tmp_path.iterdir()} >= {"late.h", "out.csv", "late.binfm"}


@pytest.mark.parametrize("name", binfm.__all__)
def test_every_public_name_is_documented(name):
    assert name == "__version__" or getattr(binfm, name).__doc__


def test_every_public_method_is_documented():
    for name, member in vars(binfm.Model).items():
        if not name.startswith("_") and name not in ("best_epoch", "search"):
            assert member.__doc__, name
