"""Data as the core takes it: one type, whoever trains on it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from binfm._checks import length, same_length
from binfm.data.arrays import columns_of, learn_table, read_table, read_weight, samples_of, take
from binfm.data.kinds import date_columns
from binfm.data.readers import is_table, read_frame
from binfm.data.targets import (
    REGRESSION,
    Labels,
    learn_labels,
    read_target,
    refuse_numbers,
    refuse_zeros,
    weights_of_classes,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm.data.arrays import Csr, Dense, Vocabularies
    from binfm.data.frames import Names
    from binfm.params import Params

    Samples = NDArray[np.intp]
    """Numbers of samples."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples with their targets, and how they were read. The core reads the fields by name."""

    table: Dense | Csr
    target: NDArray[np.float64]
    """Numbers of classes, or the numbers to predict."""
    weight: NDArray[np.float64] | None
    labels: Labels
    categorical: list[int]
    """Columns whose values are categories."""
    vocabularies: Vocabularies
    names: Names
    """Names of the columns, if they have any."""
    dates: frozenset[int] = frozenset()
    """Columns of dates, which are here days since 1970."""
    loss: str = ""
    """The loss of the training, which may limit the targets."""
    quantile: float = 0.5
    """The quantile to predict, if the loss is that of one."""

    @classmethod
    def learn(cls, X: Any, y: Any, sample_weight: Any, params: Params, classes: Any = None) -> Dataset:
        """Read the first samples; they determine labels, categories and names.

        `classes` are all labels there can be, if y need not have them all.
        """
        X = read_frame(X) if is_table(X) else X  # once: a stream of columns ends
        weight = read_weight(sample_weight, "sample_weight", length(X))
        table, categorical, vocabularies, names = learn_table(X, params.categorical, weight, params.min_count)
        labels = REGRESSION if params.is_regression else learn_labels(y, classes)
        if "loss" in params.free and classes is None:
            refuse_numbers(labels, length(y))
        target = read_target(y, labels, "y", params.loss)
        refuse_zeros(target, params.loss)
        same_length("X", samples_of(table), "y", len(target))
        dates = frozenset(date_columns(X))
        return cls(table, target, weight, labels, categorical, vocabularies, names, dates, params.loss, params.quantile)

    def read(self, X: Any, y: Any, sample_weight: Any, unused: Collection[int] = (), of: str = "") -> Dataset:
        """Read more samples as these were read; unused columns may hold anything, and errors begin with `of`."""
        X = read_frame(X) if is_table(X) else X
        try:
            table = read_table(X, self.vocabularies, self.names, lambda: unused)
        except (ValueError, TypeError) as error:
            raise type(error)(f"{of}{error}") from None
        target = read_target(y, self.labels, f"{of}y", self.loss)
        same_length(f"{of}X", samples_of(table), f"{of}y", len(target))
        weight = read_weight(sample_weight, f"{of}sample_weight", len(target))
        return replace(self, table=table, target=target, weight=weight)

    def read_eval_set(self, eval_set: Any) -> Dataset | None:
        """Read the samples to measure the loss on, if there are any."""
        if eval_set is None:
            return None
        if isinstance(eval_set, list) and len(eval_set) == 1:
            eval_set = eval_set[0]
        if not isinstance(eval_set, tuple | list) or len(eval_set) not in (2, 3):
            given = f"{len(eval_set)} values" if isinstance(eval_set, tuple | list) else type(eval_set).__name__
            raise ValueError(f"eval_set must be (X, y) or (X, y, sample_weight), got {given}")
        X, y, weight = (*eval_set, None)[:3]
        return self.read(X, y, weight, of="eval_set's ")

    def with_class_weight(self, class_weight: Any) -> Dataset:
        """Return the samples with their weights multiplied by those of their classes."""
        if class_weight is None:
            return self
        weight = weights_of_classes(class_weight, self.labels, self.target)
        return replace(self, weight=weight if self.weight is None else weight * self.weight)

    def __len__(self) -> int:
        """Return the number of samples."""
        return samples_of(self.table)

    @property
    def columns(self) -> int:
        """Number of columns."""
        return columns_of(self.table)

    @property
    def is_regression(self) -> bool:
        """Whether the targets are numbers."""
        return self.labels.kind == "none"

    @property
    def outputs(self) -> int:
        """Number of outputs: one score per class, or one in all for two classes and for regression."""
        classes = len(self.labels.values)
        return classes if classes > 2 else 1

    @property
    def values_per_sample(self) -> float:
        """Number of columns; the mean number of stored values if X is sparse."""
        if isinstance(self.table, tuple):
            return len(self.table[1]) / max(1, len(self))
        return float(self.columns)

    def take(self, samples: Samples) -> Dataset:
        """Return some of the samples."""
        weight = None if self.weight is None else self.weight[samples]
        return replace(self, table=take(self.table, samples), target=self.target[samples], weight=weight)

    def weighted(self) -> Dataset:
        """Return the samples of positive weight; the others count for nothing."""
        if self.weight is None or (self.weight > 0).all():
            return self
        return self.take(np.flatnonzero(self.weight > 0))

    def emptied(self) -> Dataset:
        """Return how samples are read, without any."""
        return self.take(np.empty(0, np.intp))
