"""Model files, and the columns of a data file that a model reads."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from binfm._core import ModelFormatError
from binfm.cli._data import Source
from binfm.model import Model, load


class Batch(NamedTuple):
    """Some rows of a file."""

    X: Any
    y: Any
    """The target, if requested."""
    table: Any
    """All columns; None for a LIBSVM file."""


def load_model(path: str) -> Model:
    """Read a model from a file, or from standard input."""
    try:
        return Model.from_bytes(sys.stdin.buffer.read()) if path == "-" else load(path)
    except ModelFormatError as error:
        raise ModelFormatError(f"{'standard input' if path == '-' else path}: {error}") from None


def batches(model: Model, source: Source, target: str | None = None) -> Iterator[Batch]:
    """Yield what a model reads of a file in batches, with the target if it is named."""
    if source.is_sparse:
        for X, y in source.stored_batches(model.n_features):
            yield Batch(X, y, None)
        return
    names = _columns(model, source, target)
    text = [names[j] for j in model._vocabularies if j < len(names)]
    unused = set(model._unused())  # they may hold anything
    numbers = [name for j, name in enumerate(names) if name not in text and j not in unused]
    if target is not None:
        (text if model.classes is not None and model.classes.dtype.kind == "U" else numbers).append(target)
    for table in source.batches(text, numbers):
        yield Batch(table.select(names), None if target is None else table[target], table)


def _columns(model: Model, source: Source, target: str | None) -> list[str]:
    """Return the columns for the model: by name, or all but the target."""
    columns = source.columns()
    wanted = model.feature_names
    missing = [name for name in [*(wanted or ()), *([target] if target else [])] if name not in columns]
    if missing:
        raise ValueError(f"{source.name} must have a column {missing[0]!r}, got {', '.join(columns)}")
    if wanted is not None:
        return list(wanted)
    names = [name for name in columns if name != target]
    if len(names) != model.n_features:
        raise ValueError(f"{source.name} must have {model.n_features} columns, as in training, got {len(names)}")
    return names


def truths(batch: Batch, source: Source, target: str | None) -> Any:
    """Return the target of a batch as an array; refuse rows without one."""
    if batch.table is not None and batch.y.null_count() > 0:
        raise ValueError(f"{source.name}: column {target!r} must not have missing values, got {batch.y.null_count()}")
    return np.asarray(batch.y)
