"""The first pass over a source: what the encoder, the class labels and the choice of parameters need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from binfm import _core
from binfm._checks import length, same_length
from binfm.cache.sample import RowSample
from binfm.data.arrays import missing_counts, read_weight
from binfm.data.categories import warn_of_many
from binfm.data.dataset import Dataset
from binfm.data.parts import PartReader
from binfm.data.targets import (
    REGRESSION,
    Labels,
    check_labels,
    distinct_labels,
    joined_labels,
    read_target,
    refuse_numbers,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from binfm.data.arrays import Dense, Vocabularies
    from binfm.data.sources import Source
    from binfm.params import Params


def check_readable_in_parts(params: Params) -> None:
    """Refuse what needs all targets at a time."""
    if params.is_regression and params.loss != "squared":
        raise ValueError(f"loss must be 'squared' or one for classes if samples are read in parts, got {params.loss!r}")
    if params.class_weight is not None:
        raise ValueError(f"class_weight must be None if samples are read in parts, got {params.class_weight!r}")


class Survey:
    """What is known about all samples of a source."""

    def __init__(self, source: Source, params: Params, largest_weight: float | None) -> None:
        check_readable_in_parts(params)
        self._source = source
        self._params = params
        self.reader = PartReader(params.categorical)
        self._sketches: _core.Sketches | None = None
        self.samples = 0
        """Number of samples."""
        self.weighted = 0
        """Number of samples of positive weight."""
        self.labels: Labels = REGRESSION
        self.missing = np.zeros(0, np.intp)
        """Number of missing values of each column, in samples of positive weight."""
        self.has_weights = largest_weight is not None
        self._largest_weight = largest_weight
        self._rows = RowSample()
        self._y: list[NDArray[np.float64]] = []
        self._weights: list[NDArray[np.float64]] = []

    def run(self, progress: Any) -> None:
        """Read all samples."""
        for table, y, weight in self.read():
            self._add(table, y, weight)
            progress.advance(len(table))
        if self.samples == 0:
            raise ValueError(f"{self._source.name} must have at least one sample, got none")
        if not self._params.is_regression:
            check_labels(self.labels)
            if "loss" in self._params.free:
                refuse_numbers(self.labels, self.samples)
        if self.weighted == 0:
            raise ValueError("sample_weight must have at least one positive weight, got all zeros")

    @property
    def sketches(self) -> _core.Sketches:
        """What is known about the columns."""
        return cast("_core.Sketches", self._sketches)

    def read(self) -> Iterator[tuple[Dense, Any, NDArray[np.float64] | None]]:
        """Yield all samples, read the same way each time."""
        for X, y, weight in self._source.batches():
            table = self.reader.read(X)
            same_length("X", len(table), "y", length(y))
            if (weight is not None) != self.has_weights:
                raise ValueError(f"{self._source.name} must give weights with all samples or with none")
            yield table, y, None if weight is None else _weights(weight, len(table))

    def targets(self, y: Any) -> NDArray[np.float64]:
        """Return y as the core reads it."""
        return read_target(y, self.labels, "y")

    def vocabularies(self) -> Vocabularies:
        """Settle which texts are categories, and return them."""
        vocabularies: Vocabularies = {}
        renumbered: dict[int, NDArray[np.float32]] = {}
        for j in self.reader.text_columns:
            texts = self.reader.texts(j)
            counts = {texts[int(code)]: weight for code, weight in self.sketches.categories(j)}
            known = sorted(text for text, weight in counts.items() if weight >= self._params.min_count)
            codes = {text: code for code, text in enumerate(texts)}
            self.sketches.renumber(j, [codes[text] for text in known])
            places = {text: place for place, text in enumerate(known)}
            renumbered[j] = np.array([places.get(text, -1) for text in texts], np.float32)
            vocabularies[j] = known
        warn_of_many(vocabularies, self.samples, self.reader.names)
        self._rows.renumber(renumbered)
        self.reader.settle(vocabularies)
        return vocabularies

    def sample(self, vocabularies: Vocabularies) -> Dataset:
        """Return some samples, the same ones in whatever order they came; all, if they are few."""
        table, y, weight = self._rows.rows()
        return Dataset(
            table, self.targets(y), weight, self.labels, self.reader.categorical, vocabularies, self.reader.names,
            self.reader.dates,
        )  # fmt: skip

    def units(self) -> tuple[float, float]:
        """Return mean and standard deviation of the numbers to predict."""
        if not self._params.is_regression:
            return 0.0, 1.0
        weight = np.concatenate(self._weights) if self.has_weights else None
        return _core.target_units(np.concatenate(self._y), weight)

    def _add(self, table: Dense, y: Any, weight: NDArray[np.float64] | None) -> None:
        if self._sketches is None:
            self._sketches = _core.Sketches(self.reader.width, self.reader.categorical, self._largest_weight)
            self.missing = np.zeros(self.reader.width, np.intp)
        self._sketches.add(table, weight, self._params.n_jobs)
        if self._params.is_regression:
            self._y.append(self.targets(y))
            if weight is not None:
                self._weights.append(weight)
        else:
            self.labels = joined_labels(self.labels, distinct_labels(y)) if len(table) else self.labels
        counted = table if weight is None else table[weight > 0]
        self.missing = self.missing + missing_counts(counted)
        self.samples += len(table)
        self.weighted += len(counted)
        self._rows.add(table, np.asarray(y), weight, [j for j in range(table.shape[1]) if j not in self._texts])

    @property
    def _texts(self) -> list[int]:
        return self.reader.text_columns


def largest_weight(source: Source) -> float | None:
    """Return the largest weight of all samples, in a pass of its own; None if they have none."""
    if source.has_weights is False:
        return None
    largest = None
    for _, y, weight in source.batches():
        if weight is None:
            return None
        largest = max(largest or 0.0, float(_weights(weight, length(y)).max(initial=0.0)))
    return largest


def _weights(weight: Any, samples: int) -> NDArray[np.float64]:
    """Return the weights of a part, which may all be zero."""
    padded = read_weight(np.append(weight, 1.0), "sample_weight", samples + 1)
    return cast("NDArray[np.float64]", padded)[:-1]
