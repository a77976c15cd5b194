"""Scoring of tables that are not dense arrays: data frames, and sparse matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from pages import number, ratio, table

from compare import cases
from compare.cases import FEATURES, SIZES
from compare.peers import Binfm, BinfmTiled, LightGbm
from compare.timing import alternate, alternate_short

Found = dict[str, Any]
ROWS = 10_000
"""Samples of a data frame."""
ARRAY = "numpy"
DENSE = "22 columns, dense"
ALL_STORED = "22 columns, all stored"


def frames() -> Found:
    """Score data frames of each library, and one row of one, beside arrays and LightGBM."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    X, y = cases.synthetic(ROWS)
    binfm, trees = Binfm(1, SIZES.few_epochs), LightGbm(1)
    for peer in (binfm, trees):
        peer.fit(X, y)
    makers = {ARRAY: None, "pyarrow table": pa.table, "pyarrow batch": pa.record_batch,
              "polars": pl.DataFrame, "pandas": pd.DataFrame}  # fmt: skip
    us = {}
    for dtype in ("float32", "float64"):
        numbers = X.astype(dtype)
        columns = {f"x{j}": np.ascontiguousarray(numbers[:, j]) for j in range(FEATURES)}
        inputs = {name: make(columns) if make else numbers for name, make in makers.items()}
        best = alternate_short({name: (binfm.score, table) for name, table in inputs.items()}, 2 * SIZES.rounds)
        us[dtype] = {name: 1e6 * found.seconds for name, found in best.items()}
    row = {name: make({name: column[:1] for name, column in columns.items()}) for name, make in makers.items() if make}
    ours = {f"{Binfm.name}, {name}": (binfm.score, one) for name, one in row.items()}
    best = alternate_short({**ours, f"{LightGbm.name}, pandas": (trees.score, row["pandas"])}, 2 * SIZES.rounds)
    return {"rows": ROWS, "us": us, "one_row": {name: 1e6 * found.seconds for name, found in best.items()}}


def sparse_scoring() -> list[Found]:
    """Score sparse matrices, and a dense array beside them."""
    tables: dict[str, Callable[[], tuple[Any, Any]]] = {
        DENSE: lambda: cases.synthetic(SIZES.memory),
        ALL_STORED: partial(_stored, 1.0),
        "22 columns, half of them zeros": partial(_stored, 0.5),
        "39 one-hot fields of 10,000 columns": lambda: cases.one_hot(SIZES.sparse, 10_000),
        "word counts, 50,000 columns": lambda: cases.words(SIZES.memory // 4),
    }
    made = {name: make() for name, make in tables.items()}
    calls = {}
    for kind in (Binfm, BinfmTiled):
        for name, (X, y) in made.items():
            peer = kind(1, epochs=1)
            peer.fit(X[: SIZES.trained], y[: SIZES.trained])
            calls[f"{kind.name}: {name}"] = partial(peer.score, X)
    best = alternate(calls, 3 * SIZES.rounds)
    return [
        {"system": kind.name, "table": name, "ns": 1e9 * best[f"{kind.name}: {name}"].seconds / X.shape[0],
         "stored": X.nnz / X.shape[0] if hasattr(X, "nnz") else FEATURES}
        for kind in (Binfm, BinfmTiled) for name, (X, _) in made.items()
    ]  # fmt: skip


def _stored(share: float) -> tuple[Any, Any]:
    from scipy.sparse import csr_matrix

    X, y = cases.synthetic(SIZES.memory)
    if share == 1:
        return cases.all_stored(X), y
    return csr_matrix(X * (np.random.default_rng(0).random(X.shape) < share)), y


def frames_section(results: Any) -> Iterator[str]:
    found = results["frames"]
    yield "## Data frames"
    yield ""
    yield f"{Binfm.name}, {found['rows']:,} × 22, all columns of one type; rows per second relative to an array's."
    yield ""
    rows = (
        (f"{name}, {dtype}", number(us), ratio(each[ARRAY], us))
        for dtype, each in found["us"].items()
        for name, us in each.items()
    )
    yield from table(("X", "µs", "× array"), rows)
    yield ""
    yield "One row, all columns float64:"
    yield ""
    yield from table(("X", "µs"), ((name, number(us)) for name, us in found["one_row"].items()))


def sparse_section(results: Any) -> Iterator[str]:
    found = results["sparse_scoring"]
    yield "## Scoring sparse tables"
    yield ""
    dense = {one["system"]: one["ns"] for one in found if one["table"] == DENSE}
    rows = (
        (f"{one['table']}, {one['system']}", number(one["stored"]), number(one["ns"]),
         number(one["ns"] / one["stored"]), f"{one['ns'] / dense[one['system']]:.2f}")
        for one in found
    )  # fmt: skip
    yield from table(("X", "values per sample", "ns per sample", "ns per value", "× 22 columns, dense"), rows)
