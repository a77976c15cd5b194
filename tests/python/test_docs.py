"""Examples in the documentation run as they stand."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import binfm
import pytest

README = Path(__file__).parents[2] / "README.md"
MODULES = ["binfm", *(m.name for m in pkgutil.walk_packages(binfm.__path__, "binfm.") if m.name != "binfm.demo")]


def blocks():
    text = README.read_text(encoding="utf-8") if README.exists() else ""
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_the_front_doors_have_examples():
    finder = doctest.DocTestFinder(recurse=False)
    for thing in (binfm.train, binfm.Model):
        assert any(test.examples for test in finder.find(thing)), thing


@pytest.mark.skipif(not README.exists(), reason="there is no README.md here")
def test_examples_in_the_readme(tmp_path, monkeypatch):
    """All blocks, one after the other, in one namespace and an empty directory."""
    monkeypatch.chdir(tmp_path)
    assert blocks(), "the README shows how to use it"
    names = {"__name__": "readme"}
    for block in blocks():
        exec(compile(block, "README.md", "exec"), names)


@pytest.mark.parametrize("name", binfm.__all__)
def test_every_public_name_is_documented(name):
    assert name == "__version__" or getattr(binfm, name).__doc__


def test_every_public_method_is_documented():
    for name, member in vars(binfm.Model).items():
        if not name.startswith("_") and name not in ("best_epoch", "search"):
            assert member.__doc__, name
