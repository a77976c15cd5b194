"""Versions for bug reports: `binfm.show_versions`."""

from __future__ import annotations

import platform
import sys
from importlib import metadata

from binfm._core import __version__, instruction_set

PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "polars", "pyarrow", "narwhals", "matplotlib", "tqdm", "pip")
"""Packages that binfm needs or can use."""


def show_versions() -> None:
    """Print the versions of binfm, Python, the machine and the packages binfm can use.

    Examples
    --------
    >>> import binfm
    >>> binfm.show_versions()  # doctest: +ELLIPSIS
    binfm ...
    """
    lines = {
        "binfm": f"{__version__}, {instruction_set()} kernels",
        "python": f"{platform.python_version()} ({sys.executable})",
        "machine": platform.platform(),
        **{name: _version(name) for name in PACKAGES},
    }
    width = max(map(len, lines))
    print("\n".join(f"{name:<{width}}  {value}" for name, value in lines.items()))


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
