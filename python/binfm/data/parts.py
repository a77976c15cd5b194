"""Tables that come in parts: read like one table, which nobody has as a whole."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from binfm.data.arrays import columns_of_table
from binfm.data.categories import (
    UNKNOWN_TEXT,
    UNSEEN,
    chosen_columns,
    encode_columns,
    is_missing,
    is_text,
    refuse_inexact,
)
from binfm.data.frames import Column, Distinct, Frame, check_names, column_label
from binfm.data.kinds import date_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm.data.arrays import Csr, Dense, Vocabularies
    from binfm.data.frames import Names


class PartReader:
    """Reads the parts of a table; the first determines names and types.

    Texts are numbered in the order in which they are first seen, until their vocabularies are known.
    """

    def __init__(self, categorical: Any) -> None:
        self._given = categorical
        self._codes: dict[int, dict[str, float]] = {}
        self._grows = True
        self.width = 0
        """Number of columns; zero before the first part."""
        self.categorical: list[int] = []
        """Columns whose values are categories."""
        self.names: Names = None
        """Names of the columns, if they have any."""
        self.dates: frozenset[int] = frozenset()
        """Columns of dates."""

    def read(self, X: Any) -> Dense:
        """Return a part as the core reads it."""
        table: Dense | Csr | Frame = columns_of_table(X)
        if isinstance(table, tuple):
            raise TypeError("X must be dense in batches, got a sparse matrix")
        if not self.width:
            self._learn(table)
        if table.shape[1] != self.width:
            raise ValueError(f"X must have {self.width} features, as its first samples have, got {table.shape[1]}")
        if not isinstance(table, Frame):
            return table
        if self.names is not None and table.names is not None:
            check_names(table.names, self.names)
        columns = [self._coded(j, column) if j in self._codes else column for j, column in enumerate(table.columns)]
        numbers = encode_columns(Frame(columns, table.names), {}, frozenset(), UNKNOWN_TEXT)
        refuse_inexact(numbers, self.categorical, self.names)
        return numbers

    @property
    def text_columns(self) -> list[int]:
        """Columns whose categories are texts."""
        return list(self._codes)

    def texts(self, column: int) -> list[str]:
        """Return the texts of a column by their number."""
        return list(self._codes[column])

    def settle(self, vocabularies: Vocabularies) -> None:
        """From now on, number texts by their place in a vocabulary; others are unknown."""
        self._codes = {j: {text: float(i) for i, text in enumerate(texts)} for j, texts in vocabularies.items()}
        self._grows = False

    def _learn(self, table: NDArray[Any] | Frame) -> None:
        self.width = table.shape[1]
        self.dates = frozenset(date_columns(table))
        if not isinstance(table, Frame):
            self.categorical = chosen_columns(self._given, self.width, None)
            return
        self.names = table.names
        chosen = chosen_columns(self._given, self.width, table.names)
        for j, column in enumerate(table.columns):
            if isinstance(column.values, Distinct) and is_text(column, column.values, j in chosen):
                self._codes[j] = {}
        self.categorical = sorted({*chosen, *(j for j, column in enumerate(table.columns) if column.is_category)})

    def _coded(self, j: int, column: Column) -> Column:
        """Return a column of text as numbers."""
        values, codes = column.values, self._codes[j]
        if not isinstance(values, Distinct):
            if not np.isnan(np.asarray(values)).all():
                raise TypeError(f"X: {column_label(j, self.names)} holds numbers; in earlier samples it held text")
            return column
        if self._grows:
            for value in values.objects:
                if not is_missing(value):
                    codes.setdefault(str(value), float(len(codes)))
        numbers = [np.nan if is_missing(value) else codes.get(str(value), UNSEEN) for value in values.objects]
        return replace(column, values=values.replaced(numbers))
