"""Malformed and extreme tables, targets and weights, as hypothesis strategies.

A table is drawn in two steps: columns of numbers, each difficult in its own way, and then the form they are passed in.
Most forms hold those numbers; some hold nothing a model can be trained on.
"""

import tempfile
from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st
from scipy import sparse

TINY, HUGE = 5e-324, 1.7e308
ODD = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, TINY, 1e-45, 1e-38, 3.4e38, -3.5e38, HUGE, 2.0**24 + 1, 2.0**60])
COLUMNS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "constant": lambda rng, n: np.full(n, rng.choice([0.0, 1.0, -7.5, 3e38, TINY])),
    "missing": lambda rng, n: np.full(n, np.nan),
    "mostly missing": lambda rng, n: np.where(rng.random(n) < 0.9, np.nan, rng.normal(size=n)),
    "odd": lambda rng, n: rng.choice(ODD, n),
    "infinite": lambda rng, n: rng.choice([np.inf, -np.inf, 1.0], n),
    "denormal": lambda rng, n: rng.normal(size=n) * 1e-310,
    "huge": lambda rng, n: rng.uniform(-1, 1, size=n) * HUGE,
    "all scales": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-320, 308, n),
    "close together": lambda rng, n: 1e9 + rng.integers(0, 3, n) * 1e-6,
    "whole": lambda rng, n: rng.integers(-4, 5, n).astype(float),
    "large whole": lambda rng, n: rng.integers(-(2**62), 2**62, n).astype(float),
    "one spike": lambda rng, n: (np.arange(n) == rng.integers(0, max(n, 1))).astype(float),
    "signs": lambda rng, n: rng.choice([-0.0, 0.0], n),
}


@dataclass(frozen=True)
class Recipe:
    """How to build a float64 array of difficult columns; much shorter to print than the array."""

    rows: int
    kinds: tuple[str, ...]
    twice: int
    """How many columns are repeated."""
    seed: int

    @property
    def array(self):
        """Build the array."""
        rng = np.random.default_rng(self.seed)
        columns = [COLUMNS[kind](rng, self.rows) for kind in self.kinds]
        return np.stack(columns + columns[: self.twice], axis=1)

    def handed_over(self, form):
        """Build the array and convert it to a form."""
        return FORMS[form](self.array)


def recipes(min_rows=0):
    """Draw recipes."""
    kinds = st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=6).map(tuple)
    return st.builds(Recipe, st.integers(min_rows, 60), kinds, st.integers(0, 2), st.integers(0, 2**16))


def _memory_mapped(X):
    """Return X backed by a file."""
    with tempfile.TemporaryFile() as file:
        X.tofile(file)
        file.flush()
        return np.memmap(file, X.dtype, "r", shape=X.shape) if X.size else X


def _mixed_objects(X):
    """Return an object array of mixed types."""
    objects = X.astype(object)
    odd = [None, "text", 1.5, np.float32(2), True, pd.NA, pd.NaT, 2**70, "", float("nan"), np.datetime64("NaT")]
    for i in range(0, objects.size, 3):
        objects.flat[i] = odd[i % len(odd)]
    return objects


def _quiet(convert):
    """Silence numpy's conversion warnings: losing precision is intended here."""

    def quiet(X):
        with np.errstate(all="ignore"):
            return convert(X)

    return quiet


ARRAYS = {
    "float32": _quiet(lambda X: X.astype(np.float32)),
    "float64": lambda X: X,
    "fortran": np.asfortranarray,
    "float16": _quiet(lambda X: X.astype(np.float16)),
    "longdouble": lambda X: X.astype(np.longdouble),
    "other endian": lambda X: X.astype(">f8"),
    "other endian whole": lambda X: np.nan_to_num(X, posinf=0, neginf=0).clip(-9, 9).astype(">i4"),
    "int8": lambda X: np.nan_to_num(X).clip(-9, 9).astype(np.int8),
    "uint64": lambda X: (np.nan_to_num(X).clip(0, 9) * 2e18).astype(np.uint64),
    "booleans": lambda X: X > 0,
    "backwards": lambda X: X[::-1, ::-1],
    "every other": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "memory-mapped": _memory_mapped,
    "read only": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    "not aligned": lambda X: misaligned(X),
    "not aligned by columns": lambda X: misaligned(X.T.copy()).T,
    "one row for all": lambda X: np.broadcast_to(X[:1], X.shape) if len(X) else X,
    "matrix": lambda X: X.view(np.matrix),
    "masked": lambda X: np.ma.masked_array(X, mask=np.isnan(X) | (X == 1.0)),
    "lists": lambda X: X.tolist(),
    "objects": lambda X: X.astype(object),
    "strange objects": _mixed_objects,
    "text": lambda X: X.astype(str),
    "bytes": lambda X: X.astype("S8"),
}


def _nullable(frame):
    with np.errstate(invalid="ignore"):  # pandas checks whether huge numbers are whole
        return frame.convert_dtypes()


FRAMES = {
    "pandas": lambda X: pd.DataFrame(X),
    "pandas with names": lambda X: pd.DataFrame(X, columns=_names(X)),
    "pandas nullable": lambda X: _nullable(pd.DataFrame(X, columns=_names(X))),
    "pandas categories": lambda X: pd.DataFrame(X, columns=_names(X)).astype("category"),
    "pandas dates": lambda X: pd.DataFrame(_dates(X), columns=_names(X)),
    "pandas text": lambda X: pd.DataFrame(X.astype(str), columns=_names(X)),
    "pandas with one name": lambda X: pd.DataFrame(X, columns=["same"] * X.shape[1]),
    "polars": lambda X: pl.DataFrame(X, schema=_names(X)),
    "polars with nulls": lambda X: pl.DataFrame(X, schema=_names(X), nan_to_null=True),
    "polars text": lambda X: pl.DataFrame(X.astype(str), schema=_names(X)),
    "polars lazy": lambda X: pl.DataFrame(X, schema=_names(X)).lazy(),
    "arrow": lambda X: pa.table({name: pa.array(X[:, j], from_pandas=True) for j, name in enumerate(_names(X))}),
}
KINDS = ("csr", "csc", "coo", "bsr", "lil")
SPARSE = {
    **{f"sparse {kind}": lambda X, kind=kind: _to_sparse(X).asformat(kind) for kind in KINDS},
    "sparse matrix": lambda X: sparse.csr_matrix(_to_sparse(X)),
    "sparse float32": _quiet(lambda X: _to_sparse(X).astype(np.float32)),
    "sparse with zeros": lambda X: _with_stored_zeros(X),
    "sparse not aligned": lambda X: _misaligned_sparse(_to_sparse(X)),
    "sparse out of order": lambda X: _corrupted(X, lambda S: S.indices[::-1].copy(), None),
    "sparse twice": lambda X: _corrupted(X, lambda S: np.zeros_like(S.indices), None),
    "sparse too far": lambda X: _corrupted(X, lambda S: S.indices + X.shape[1], None),
    "sparse before": lambda X: _corrupted(X, lambda S: S.indices - 1, None),
    "sparse falls": lambda X: _corrupted(X, None, lambda S: S.indptr[::-1].copy()),
    "sparse too long": lambda X: _corrupted(X, None, lambda S: S.indptr * 2),
    "sparse complex": lambda X: _to_sparse(X).astype(np.complex128),
}
NO_TABLES = {
    "nothing": lambda X: None,
    "0-d": lambda X: np.array(1.0),
    "1-d": lambda X: X[:, 0],
    "3-d": lambda X: X[:, :, None],
    "no columns": lambda X: X[:, :0],
    "no rows": lambda X: X[:0],
    "complex": lambda X: X.astype(complex),
    "datetime": lambda X: _dates(X),
    "record": lambda X: np.zeros((len(X), 2), [("a", "f4"), ("b", "i4")]),
    "ragged": lambda X: [[1.0, 2.0], [3.0]],
    "a dict": lambda X: {"a": [1, 2]},
    "a generator": lambda X: (row for row in X),
    "a string": lambda X: "table",
    "a series": lambda X: pd.Series(X[:, 0]),
    "lists in it": lambda X: np.array([[[1], [2]], [[3], None]], object)[:, :, None][:, :, 0],
}
FORMS = {**ARRAYS, **FRAMES, **SPARSE, **NO_TABLES}


def misaligned(X):
    """Return a copy whose data start one byte off alignment."""
    return np.frombuffer(b"x" + X.tobytes(), X.dtype, offset=1).reshape(X.shape)


def _names(X):
    return [f"c{j}" for j in range(X.shape[1])]


def _dates(X):
    return (np.nan_to_num(X).clip(-9, 9) * 1e8).astype(np.int64).astype("M8[s]")


def _to_sparse(X):
    return sparse.csr_array(np.where(np.abs(X) < 0.5, 0.0, X))


def _misaligned_sparse(stored):
    stored.data, stored.indices, stored.indptr = map(misaligned, (stored.data, stored.indices, stored.indptr))
    return stored


def _with_stored_zeros(X):
    stored = _to_sparse(X)
    stored.data[::2] = 0.0
    return stored


def _corrupted(X, indices, indptr):
    """Return a sparse table with wrong indices or indptr that claims to be in canonical format."""
    stored = _to_sparse(X)
    data = stored.data, stored.indices, stored.indptr
    corrupted = sparse.csr_array(stored.shape)
    corrupted.data = data[0]
    corrupted.indices = indices(stored) if indices else data[1]
    corrupted.indptr = indptr(stored) if indptr else data[2]
    corrupted.has_canonical_format = True
    return corrupted


FINE = [
    *sorted(set(ARRAYS) - {"bytes", "text", "strange objects"}),
    *sorted(set(FRAMES) - {"pandas with one name", "polars lazy"}),
    *(f"sparse {kind}" for kind in KINDS),
    "sparse matrix",
    "sparse float32",
    "sparse with zeros",
    "sparse not aligned",
]
"""Forms that a model can be trained on."""


TARGETS = {
    "two": lambda rng, n: np.arange(n) % 2,
    "few of one": lambda rng, n: (np.arange(n) == 0).astype(int),
    "four": lambda rng, n: np.array(["a", "b", "", "ü"])[np.arange(n) % 4],
    "booleans": lambda rng, n: np.arange(n) % 2 == 0,
    "floats": lambda rng, n: np.array([-1.5, 2.5])[np.arange(n) % 2],
    "objects": lambda rng, n: np.array(["x", "y"], object)[np.arange(n) % 2],
    "one": lambda rng, n: np.zeros(n),
    "all distinct": lambda rng, n: np.arange(n),
    "normal": lambda rng, n: rng.normal(size=n),
    "huge": lambda rng, n: rng.normal(size=n) * 1e307,
    "tiny": lambda rng, n: rng.normal(size=n) * 1e-310,
    "odd": lambda rng, n: rng.choice(ODD, n),
    "too few": lambda rng, n: np.arange(max(n - 1, 0)) % 2,
    "column": lambda rng, n: (np.arange(n) % 2)[:, None],
    "mixed": lambda rng, n: np.array([None, "a", 1, 2.5] * n, object)[:n],
    "dates": lambda rng, n: np.arange(n).astype("M8[D]"),
    "complex": lambda rng, n: np.arange(n) % 2 + 1j,
    "backwards": lambda rng, n: (np.arange(n) % 3)[::-1],
    "other endian": lambda rng, n: (np.arange(n) % 2).astype(">i8"),
    "not aligned": lambda rng, n: misaligned(np.arange(n) % 2 * 1.0),
}
WEIGHTS = {
    "none": lambda rng, n: None,
    "ones": lambda rng, n: np.ones(n),
    "some zero": lambda rng, n: np.arange(n) % 3 * 0.5,
    "only one": lambda rng, n: (np.arange(n) == n - 1).astype(float),
    "zeros": lambda rng, n: np.zeros(n),
    "tiny": lambda rng, n: np.full(n, TINY),
    "huge": lambda rng, n: np.full(n, 1e306),
    "infinite": lambda rng, n: np.full(n, np.inf),
    "apart": lambda rng, n: 10.0 ** rng.integers(-300, 300, n),
    "negative": lambda rng, n: -np.ones(n),
    "missing": lambda rng, n: np.full(n, np.nan),
    "whole": lambda rng, n: np.arange(n),
    "not aligned": lambda rng, n: misaligned(np.ones(n)),
    "too many": lambda rng, n: np.ones(n + 1),
}
