"""Install what `make wheel` built into empty environments. Run by `make -C benches wheel-test`."""

import platform
import re
import subprocess
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
MAX_BYTES = 2_000_000
"""Size limit for a wheel; LightGBM's wheels are 3 to 4 MB."""


def wheel(machine):
    """Return the path of the wheel for an architecture."""
    wheels = list(DIST.glob(f"binfm-*-cp310-abi3-manylinux*{machine}.whl"))
    assert len(wheels) == 1, f"expected one wheel for {machine} in {DIST}, found {len(wheels)}: run `make wheel`"
    return wheels[0]


def new_environment(folder):
    """Create a virtual environment and return its interpreter."""
    venv.create(folder, with_pip=True)
    return folder / "bin" / "python"


def run(*command, cwd):
    """Run a command, which must succeed, and return its output."""
    result = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def readme_example():
    """Return the first Python code block of the README."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.search(r"^```python\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)[1]


def installed_packages(python):
    """Return the packages in an environment, except those that every environment has."""
    lines = run(python, "-m", "pip", "list", "--format=freeze", cwd=ROOT.parent).split()
    return {line.split("==")[0].lower() for line in lines} - {"pip", "setuptools"}


def test_wheel_needs_only_numpy_and_runs_the_readme_example(tmp_path):
    python = new_environment(tmp_path / "env")
    run(python, "-m", "pip", "install", "--quiet", wheel(platform.machine()), cwd=tmp_path)
    assert installed_packages(python) == {"binfm", "numpy"}
    accuracy, size = run(python, "-I", "-W", "error", "-c", readme_example(), cwd=tmp_path).split()
    assert float(accuracy) > 0.9
    assert int(size) == (tmp_path / "m.binfm").stat().st_size


def test_missing_optional_dependencies_are_reported(tmp_path):
    python = new_environment(tmp_path / "env")
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
    output = run(python, "-I", "-c", code, cwd=tmp_path)
    assert re.search("matplotlib +not installed", output)
    assert "pip install 'binfm[plot]'" in output


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_wheels_are_small_and_complete(machine):
    path = wheel(machine)
    assert path.stat().st_size < MAX_BYTES
    with zipfile.ZipFile(path) as file:
        names = set(file.namelist())
        (library,) = [name for name in names if name.endswith(".so")]
        assert file.read(library)[18:20] == {"x86_64": b"\x3e\x00", "aarch64": b"\xb7\x00"}[machine]
    assert {"binfm/py.typed", "binfm/_core.pyi", "binfm/include/binfm.h", "binfm/plot/effects.py"} <= names
    assert not any(name.startswith(("tests/", "benches/", "docs/")) for name in names)
    assert any(name.endswith("licenses/LICENSE-MIT") for name in names)


def test_sdist_builds(tmp_path):
    (sdist,) = DIST.glob("binfm-*.tar.gz")
    python = new_environment(tmp_path / "env")
    run(python, "-m", "pip", "install", "--quiet", sdist, cwd=tmp_path)
    assert run(python, "-I", "-c", readme_example(), cwd=tmp_path)
