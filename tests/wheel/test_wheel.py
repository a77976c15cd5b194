"""What `make wheel` built, installed where there is nothing but numpy. Run by `make wheel-test`."""

import platform
import re
import subprocess
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
MOST_BYTES = 2_000_000
"""A wheel is kept below this; LightGBM's has 3 to 4 MB."""


def wheel(machine):
    found = list(DIST.glob(f"binfm-*-cp310-abi3-manylinux*{machine}.whl"))
    assert len(found) == 1, f"one wheel for {machine} in {DIST}: run make wheel"
    return found[0]


def environment(folder):
    """Return the interpreter of a new virtual environment."""
    venv.create(folder, with_pip=True)
    return folder / "bin" / "python"


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def example():
    """Return the README's first block of Python."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.search(r"^```python\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)[1]


def installed(python):
    """Return the packages in an environment, without those that come with it."""
    lines = run(python, "-m", "pip", "list", "--format=freeze", cwd=ROOT.parent).split()
    return {line.split("==")[0].lower() for line in lines} - {"pip", "setuptools"}


def test_the_wheel_needs_numpy_alone_and_runs_the_readme(tmp_path):
    python = environment(tmp_path / "env")
    run(python, "-m", "pip", "install", "--quiet", wheel(platform.machine()), cwd=tmp_path)
    assert installed(python) == {"binfm", "numpy"}
    accuracy, size = run(python, "-I", "-W", "error", "-c", example(), cwd=tmp_path).split()
    assert float(accuracy) > 0.9
    assert int(size) == (tmp_path / "m.binfm").stat().st_size


def test_what_is_not_installed_is_said(tmp_path):
    python = environment(tmp_path / "env")
    run(python, "-m", "pip", "install", "--quiet", wheel(platform.machine()), cwd=tmp_path)
    code = """
import numpy as np, binfm
binfm.show_versions()
model = binfm.train(np.arange(60.0).reshape(30, 2), np.arange(30) % 2, epochs=1)
binfm.reading.html_report(model)
try:
    binfm.plot.EffectsDisplay.from_model(model).plot()
except ImportError as error:
    print(error)
"""
    told = run(python, "-I", "-c", code, cwd=tmp_path)
    assert re.search("matplotlib +not installed", told)
    assert "pip install 'binfm[plot]'" in told


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_wheels_are_small_and_whole(machine):
    path = wheel(machine)
    assert path.stat().st_size < MOST_BYTES
    with zipfile.ZipFile(path) as file:
        names = set(file.namelist())
        (library,) = [name for name in names if name.endswith(".so")]
        assert file.read(library)[18:20] == {"x86_64": b"\x3e\x00", "aarch64": b"\xb7\x00"}[machine]
    assert {"binfm/py.typed", "binfm/_core.pyi", "binfm/include/binfm.h", "binfm/plot/effects.py"} <= names
    assert not any(name.startswith(("tests/", "benches/", "docs/")) for name in names)
    assert any(name.endswith("licenses/LICENSE-MIT") for name in names)


def test_the_sdist_builds(tmp_path):
    (sdist,) = DIST.glob("binfm-*.tar.gz")
    python = environment(tmp_path / "env")
    run(python, "-m", "pip", "install", "--quiet", sdist, cwd=tmp_path)
    assert run(python, "-I", "-c", example(), cwd=tmp_path)
