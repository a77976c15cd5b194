"""What a model is made of: features, weights and scales."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from binfm.features import ColumnFacts, Features

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm._core import Model as Core
    from binfm.data.frames import Names

    _Weights: TypeAlias = NDArray[np.int8] | NDArray[np.int16] | NDArray[np.float32]

PROBABILISTIC = ("logistic", "softmax")
"""Losses whose scores give probabilities."""
OF_NUMBERS = ("squared", "poisson", "quantile", "huber")
"""Losses of regression; the others are for classes."""


@dataclass(frozen=True, eq=False)
class Feature:
    """How one column of X becomes active parameter rows.

    A value in cell ``c`` activates the ``tilings`` consecutive rows from ``rows.start + c * stride`` on. With stride 1
    neighboring cells share all rows but one (shifted tilings); with stride ``tilings`` they share none (copies).

    Examples
    --------
    >>> import numpy as np, binfm
    >>> X = np.repeat([[1.0, 5.0], [2.0, 5.0]], 50, axis=0)
    >>> first, second = binfm.train(X, X[:, 0] > 1, m=4).features
    >>> first.kind, first.cells, second.kind
    ('numeric', 2, 'unused')
    """

    kind: str
    """``"numeric"``, ``"categorical"``, ``"raw"`` (a standardized number multiplies its one row) or ``"unused"``
    (constant in training, or left out: no rows)."""
    rows: range
    """The parameter rows of this feature."""
    cells: int
    """Number of cells, not counting that of missing values."""
    stride: int
    edges: NDArray[np.float32]
    """A value of at least ``edges[c - 1]`` and below ``edges[c]`` is in cell ``c``."""
    categories: tuple[int, ...] | tuple[str, ...]
    """Known categories in cell order; others are absent."""
    missing_row: int | None
    """First row of the NaN cell; None if there is none and NaN is absent."""
    center: float = 0.0
    """Subtracted from a raw number."""
    scale: float = 1.0
    """A raw number is multiplied by it after that."""
    name: str | None = None
    """Name of the column; None if columns have no names."""
    type: str = field(default="", repr=False)
    """``"number"``, ``"date"`` or ``"category"``; a loaded model knows no dates, and nothing of unused columns."""
    missing: int | None = field(default=None, repr=False)
    """Number of missing values in training; None for a loaded model."""
    dropped: str = field(default="", repr=False)
    """Why the model does without it: ``"constant"``, ``"one category"``, ``"all missing"``, ``"left out"`` (by the
    search), or ``"unused"`` if a loaded model does not know; empty if it is used."""


class Attributes:
    """The parts of `binfm.Model` as numpy arrays and numbers, read-only."""

    __slots__ = ()

    if TYPE_CHECKING:
        _core: Core
        _classes: NDArray[Any] | None
        _names: Names
        _columns: tuple[ColumnFacts, ...] | None

    @property
    def classes(self) -> NDArray[Any] | None:
        """The sorted class labels; None for regression."""
        return None if self._classes is None else self._classes.copy()

    @property
    def m(self) -> int:
        """Number of factors: columns of V."""
        return self._core.m

    @property
    def w_bits(self) -> int:
        """Number of bits of each w; 32 if w is float."""
        return self._core.w_bits

    @property
    def tilings(self) -> int:
        """Number of rows that each present feature activates."""
        return self._core.tilings

    @property
    def method(self) -> str:
        """Which factorization machine this is: "bfm", "sefm", "dfm" or "fm"."""
        return self._core.method

    @property
    def loss(self) -> str:
        """The loss it was trained with."""
        return self._core.loss

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return self._core.features

    @property
    def feature_names(self) -> Names:
        """The columns of the table it was trained on; None if they had no names."""
        return self._names

    @property
    def alpha(self) -> float | NDArray[np.float64]:
        """Scale of w as used in scores (1 if w is float); an array if there are more than two classes."""
        return self._scale(0)

    @property
    def beta(self) -> float | NDArray[np.float64]:
        """Scale of V as used in scores (1 if V is float); an array if there are more than two classes."""
        return self._scale(1)

    @property
    def bias(self) -> float | NDArray[np.float64]:
        """Score of a sample in which every feature is absent; an array if there are more than two classes."""
        return self._scale(2)

    @property
    def w(self) -> _Weights:
        """Weights of the linear term: shape (rows,), or (classes, rows) for three or more.

        Signs, or odd whole numbers up to 2**w_bits - 1; floats except for "bfm".
        """
        return self._per_output(self._core.w())

    @property
    def V(self) -> _Weights:
        """Signs of the factors (floats for "sefm", "fm"): shape (rows, m), or (classes, rows, m) for three or more."""
        return self._per_output(self._core.V())

    @property
    def features(self) -> Features:
        """How each column becomes active rows: a tuple that prints as a table of types, cells and missing values."""
        return Features(self._feature(j) for j in range(self._core.features))

    @property
    def edges(self) -> tuple[NDArray[np.float32], ...]:
        """The bin edges of each column; empty for categorical ones."""
        return tuple(feature.edges for feature in self.features)

    def _feature(self, j: int) -> Feature:
        read = self._core.feature(j)
        kinds = {"numeric": "number", "raw": "number", "categorical": "category"}
        is_unused = read["kind"] == "unused"
        saved = ColumnFacts(kinds.get(read["kind"], ""), None, "unused")
        facts = saved if self._columns is None else self._columns[j]
        name = None if self._names is None else self._names[j]
        return Feature(**read, name=name, type=facts.type, missing=facts.missing, dropped=facts.dropped * is_unused)

    def _scale(self, which: int) -> float | NDArray[np.float64]:
        values = self._core.scales()[which]
        return values[0] if len(values) == 1 else np.array(values)

    def _per_output(self, array: _Weights) -> _Weights:
        return array[0] if self._core.outputs == 1 else array
