"""Examples in the documentation run as written."""

import doctest
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import FunctionType

import binfm
import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NOT_IMPORTED = ("binfm.demo", "binfm.__main__", "binfm.cli.__main__")
MODULES = ["binfm", *(m.name for m in pkgutil.walk_packages(binfm.__path__, "binfm.") if m.name not in NOT_IMPORTED)]


def blocks(page, language="python"):
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def public():
    """Yield the name and value of each public function, class and method of a model."""
    for module in (binfm, binfm.reading, binfm.plot):
        for name in module.__all__:
            thing = getattr(module, name)
            if callable(thing) and not (isinstance(thing, type) and issubclass(thing, Exception)):
                yield name, thing
    for name in dir(binfm.Model):
        member = inspect.getattr_static(binfm.Model, name)
        if not name.startswith("_") and isinstance(member, FunctionType | classmethod):
            yield f"Model.{name}", member


@pytest.mark.parametrize(("name", "thing"), list(public()))
def test_everything_public_has_an_example(name, thing):
    finder = doctest.DocTestFinder(recurse=False)
    assert any(test.examples for test in finder.find(getattr(thing, "__func__", thing), name))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_examples_on_the_pages(page, tmp_path, monkeypatch):
    """Run all blocks of a page in order, in one namespace and an empty directory, with a small X and y."""
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(600, 3))
    namespace = {"__name__": page.stem, "binfm": binfm, "X": X, "y": X[:, 0] * X[:, 1] > 0}
    for block in blocks(page):
        exec(compile(block, page.name, "exec"), namespace)


def test_links_on_the_pages_resolve():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            assert "://" in target or (page.parent / target).exists(), (page.name, target)


def test_commands_on_the_command_line_page(tmp_path, monkeypatch):
    """Create the table, then run the commands in a shell that stops at the first failure."""
    page = ROOT / "docs/command-line.md"
    monkeypatch.chdir(tmp_path)
    for block in blocks(page):
        exec(compile(block, page.name, "exec"), {"__name__": "page"})
    lines = "".join(blocks(page, "console")).splitlines()
    commands = [line.removeprefix("$ ") for line in lines if line.startswith("$ binfm ")]
    assert len(commands) >= 9
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    result = subprocess.run(["bash", "-ec", "\n".join(commands)], env=environment, capture_output=True, timeout=300)
    assert (result.returncode, result.stderr) == (0, b"")
    output = result.stdout.decode()
    assert float(re.search(r"^accuracy +(\S+)$", output, re.MULTILINE)[1]) > 0.8
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


def test_contributing_names_code_that_exists():
    chains = blocks(ROOT / "CONTRIBUTING.md", "text")[0]
    named = re.findall(r"([\w/]+\.(?:py|rs)):(\w+)", chains)
    assert len(named) > 40
    for path, name in named:
        code = (ROOT / ("src" if path.endswith(".rs") else "python/binfm") / path).read_text(encoding="utf-8")
        assert re.search(rf"\b(?:def|class|fn) {name}\b", code), f"{path}:{name}"
