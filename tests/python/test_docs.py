"""Examples in the documentation run as they stand."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import binfm
import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [README, ROOT / "docs/tables.md"]
NOT_IMPORTED = ("binfm.demo", "binfm.__main__", "binfm.cli.__main__")
MODULES = ["binfm", *(m.name for m in pkgutil.walk_packages(binfm.__path__, "binfm.") if m.name not in NOT_IMPORTED)]


def blocks(page):
    text = page.read_text(encoding="utf-8")
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
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_on_the_pages(page, tmp_path, monkeypatch):
    """All blocks, one after the other, in one namespace and an empty directory."""
    monkeypatch.chdir(tmp_path)
    assert blocks(page), "the page shows how to use it"
    names = {"__name__": "page"}
    for block in blocks(page):
        exec(compile(block, page.name, "exec"), names)


@pytest.mark.parametrize("name", binfm.__all__)
def test_every_public_name_is_documented(name):
    assert name == "__version__" or getattr(binfm, name).__doc__


def test_every_public_method_is_documented():
    for name, member in vars(binfm.Model).items():
        if not name.startswith("_") and name not in ("best_epoch", "search"):
            assert member.__doc__, name
