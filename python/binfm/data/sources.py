"""Samples that need not fit into memory: files, lazy tables and functions that give them in batches."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

FORMATS = {
    ".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv", ".ndjson": "ndjson", ".jsonl": "ndjson",
    ".feather": "ipc", ".arrow": "ipc", ".ipc": "ipc",
}  # fmt: skip
"""Formats of files by their extension, as polars calls them."""
MISSING = ("NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None")
"""Texts in CSV files that mean "missing", as an empty field does."""
BATCH_ROWS = 1 << 17
"""Rows to read at a time."""


class Batch(NamedTuple):
    """Some samples."""

    X: Any
    y: Any
    weight: Any


@dataclass(frozen=True)
class Source:
    """Samples that can be read from the beginning any number of times."""

    name: str
    """Its name in messages."""
    batches: Callable[[], Iterator[Batch]]
    """Returns all samples, in the same order each time."""
    has_weights: bool | None = None
    """Whether samples have weights; None if only they can tell."""
    fingerprint: tuple[Any, ...] = ()
    """Path, size and time of each file, and which columns are what; empty if there are no files."""


def is_source(X: Any) -> bool:
    """Return whether X says where samples are, instead of holding them."""
    if isinstance(X, str | os.PathLike) or _is_lazy(X) or _is_arrow_dataset(X):
        return True
    if isinstance(X, list | tuple) and X and all(isinstance(path, str | os.PathLike) for path in X):
        return True
    return callable(X) and not hasattr(X, "__array__")


def open_source(X: Any, y: Any, sample_weight: Any, ignored: Sequence[str] = ()) -> Source:
    """Return the samples of a source, or those that X, y and `sample_weight` hold.

    With files and lazy tables, y and `sample_weight` are names of columns. Of files, some columns may be ignored.
    """
    if not is_source(X):
        return Source(type(X).__name__, lambda: iter([Batch(X, y, sample_weight)]), sample_weight is not None)
    if callable(X) and not _is_lazy(X):
        if y is not None or sample_weight is not None:
            raise ValueError("y and sample_weight must be None if X is a function: it gives them with the samples")
        return Source("X()", lambda: (_batch_of(given) for given in X()))
    _check_column("y", y)
    if sample_weight is not None:
        _check_column("sample_weight", sample_weight)
    if _is_arrow_dataset(X):
        return Source("the dataset", lambda: _arrow_batches(X, y, sample_weight), sample_weight is not None)
    if _is_lazy(X):
        return Source("the table", lambda: _lazy_batches(X, y, sample_weight), sample_weight is not None)
    paths = files_of(X)
    stats = tuple((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in paths)
    name = str(X) if isinstance(X, str | os.PathLike) else f"{paths[0]} and {len(paths) - 1} more files"
    scan = _scan(paths)
    fingerprint = (stats, y, sample_weight, tuple(ignored))
    batches = lambda: _lazy_batches(scan().drop(ignored), y, sample_weight)  # noqa: E731
    return Source(name, batches, sample_weight is not None, fingerprint)


def files_of(X: Any) -> list[Path]:
    """Return the files that a path, a pattern or a list of paths names, in the order of their names."""
    given = [X] if isinstance(X, str | os.PathLike) else list(X)
    found: list[Path] = []
    for each in [os.fspath(path) for path in given]:
        if not os.path.exists(each) and glob.has_magic(each):
            found += map(Path, sorted(glob.glob(each, recursive=True)))
        else:
            found.append(Path(each))
    if not found:
        raise FileNotFoundError(f"X must name files, got {X!r}, which matches none")
    return found


def _scan(paths: Sequence[Path]) -> Callable[[], Any]:
    kinds = {FORMATS.get(path.suffix.lower()) for path in paths}
    kind = kinds.pop()
    if kind is None or kinds:
        raise ValueError(f"X must be files of one format, ending in {', '.join(FORMATS)}, got {paths[0]}")
    for path in paths:
        with path.open("rb"):  # raises a clear error if it cannot be read
            pass
    polars = _polars()
    if kind == "parquet":
        return lambda: polars.scan_parquet(paths, glob=False)
    if kind == "ipc":
        return lambda: polars.scan_ipc(paths, glob=False) if len(paths) > 1 else polars.scan_ipc(paths[0])
    if kind == "ndjson":
        return lambda: polars.scan_ndjson(paths)
    separator = "\t" if paths[0].suffix.lower() == ".tsv" else ","
    options: dict[str, Any] = {"null_values": ["", *MISSING], "separator": separator, "glob": False}
    schema = polars.scan_csv(paths, infer_schema_length=None, **options).collect_schema()
    return lambda: polars.scan_csv(paths, schema=schema, **options)


def _lazy_batches(table: Any, y: str, sample_weight: str | None) -> Iterator[Batch]:
    polars = _polars()
    names = table.collect_schema().names()
    for role, name in (("y", y), ("sample_weight", sample_weight)):
        if name is not None and name not in names:
            raise ValueError(f"{role} must be the name of a column, such as {names[0]!r}, got {name!r}")
    known = table.filter(polars.col(y).is_not_null())
    for part in known.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True):
        yield _split(part, y, sample_weight)


def _split(part: Any, y: str, sample_weight: str | None) -> Batch:
    weight = None if sample_weight is None else part[sample_weight].to_numpy()
    return Batch(part.drop([name for name in (y, sample_weight) if name is not None]), part[y].to_numpy(), weight)


def _arrow_batches(dataset: Any, y: str, sample_weight: str | None) -> Iterator[Batch]:
    for part in dataset.to_batches(batch_size=BATCH_ROWS):
        frame = _polars().from_arrow(part)
        known = frame.filter(frame[y].is_not_null()) if len(frame) else frame
        if len(known):
            yield _split(known, y, sample_weight)


def _batch_of(given: Any) -> Batch:
    if not isinstance(given, tuple | list) or len(given) not in (2, 3):
        raise ValueError(f"X() must give (X, y) or (X, y, sample_weight), got {type(given).__name__}")
    return Batch(*(*given, None)[:3])


def _check_column(role: str, name: Any) -> None:
    if not isinstance(name, str):
        raise TypeError(f"{role} must be the name of a column of the files, got {type(name).__name__}")


def _is_lazy(X: Any) -> bool:
    return hasattr(X, "collect_batches")


def _is_arrow_dataset(X: Any) -> bool:
    return hasattr(X, "to_batches") and hasattr(X, "scanner")


def _polars() -> Any:
    try:
        import polars
    except ImportError:
        raise ImportError("reading files in batches needs polars: pip install 'binfm[cli]'") from None
    return polars
