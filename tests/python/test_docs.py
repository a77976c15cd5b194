"""Examples in the documentation run as they stand."""

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from types import FunctionType

import binfm
import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = ["binfm", *(m.name for m in pkgutil.walk_packages(binfm.__path__, "binfm.") if m.name != "binfm.demo")]


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


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
    """All blocks of a page, one after the other, in one namespace and an empty directory, with a small X and y."""
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(600, 3))
    names = {"__name__": page.stem, "binfm": binfm, "X": X, "y": X[:, 0] * X[:, 1] > 0}
    for block in blocks(page):
        exec(compile(block, page.name, "exec"), names)


def test_the_pages_link_to_what_there_is():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            assert "://" in target or (page.parent / target).exists(), (page.name, target)


@pytest.mark.parametrize("name", binfm.__all__)
def test_every_public_name_is_documented(name):
    assert name == "__version__" or getattr(binfm, name).__doc__


def test_every_public_method_is_documented():
    for name, member in vars(binfm.Model).items():
        if not name.startswith("_") and name not in ("best_epoch", "search"):
            assert member.__doc__, name
