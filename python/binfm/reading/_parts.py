"""A score, decomposed into whole numbers.

Let a value in cell c activate T rows of the parameter table, and let u be the sum of their v and l the sum of their w.
A pair of active rows is either within a feature or of two features, so

    score = bias + Σ_f own_f(c_f) + Σ_{f<g} pair_fg(c_f, c_g)

    own_f(c) = α · l + β² · ½ (|u|² − T·m)          pair_fg(c, d) = β² · u_f(c) · u_g(d)

exactly: α, β² and bias are whole multiples of the unit of scores. Everything here is counted in halves of that unit, so
that a pair can be split evenly between its two features.

If weights are floats, the same holds up to rounding, and everything is counted in units of the score. If numbers are
used raw, a feature has one cell, and a sample multiplies its u and l by its value.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from binfm import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAFE = 1 << 62
"""Whole numbers below this are kept in int64; larger ones as Python integers."""


@dataclass(frozen=True)
class Scale:
    """The multipliers of one output, in half units."""

    bias: int | float
    linear: int | float
    pairs: int | float
    """Of ½|u|² and of u·u': twice what Q is multiplied by."""


class Parts:
    """The cells of all features, one after the other, and what each adds to a score.

    The cell of missing values, if there is one, is the last of its feature.
    """

    def __init__(self, core: _core.Model) -> None:
        self.core = core
        self.tilings, self.m, self.outputs = core.tilings, core.m, core.outputs
        self.whole = core.method == "bfm"
        first, ordinary, stride, missing = _core.spans(core).T
        self.ordinary = ordinary
        self.has_missing = missing >= 0
        self.sizes = ordinary + self.has_missing
        self.ends = np.cumsum(self.sizes)
        self.begins = self.ends - self.sizes
        self.feature = np.repeat(np.arange(len(self.sizes)), self.sizes)
        within = np.arange(len(self.feature)) - self.begins[self.feature]
        self.starts = first[self.feature] + within * stride[self.feature]
        self.starts[self.ends[self.has_missing] - 1] = missing[self.has_missing]
        unit, scales = _core.multipliers(core)
        halves = 2 if self.whole else 1
        self.unit = unit / halves
        self.scales = [Scale(halves * bias, halves * linear, halves * pairs) for bias, linear, pairs in scales]

    @property
    def features(self) -> int:
        """Number of columns of X."""
        return len(self.sizes)

    def of(self, feature: int) -> slice:
        """Return the cells of a feature."""
        return slice(int(self.begins[feature]), int(self.ends[feature]))

    @cached_property
    def factors(self) -> NDArray[Any]:
        """The vectors u of all cells, shape (outputs, cells, m)."""
        return self._over_tilings(self.core.V())

    @cached_property
    def linear(self) -> NDArray[Any]:
        """The sum of w of each cell, shape (outputs, cells)."""
        linear = self._over_tilings(self.core.w())
        return linear.astype(np.int64) if self.whole else linear

    @cached_property
    def own_pairs(self) -> NDArray[Any]:
        """½ (|u|² − T·m): the sum of v·v' over the pairs within a cell, shape (outputs, cells)."""
        if not self.whole:
            alone = self._over_tilings(self.core.V().astype(np.float64) ** 2)
            return ((self.factors**2 - alone) / 2).sum(axis=-1)  # type: ignore[no-any-return]
        squares = np.einsum("kcm,kcm->kc", self.factors, self.factors, dtype=np.int64)
        pairs: NDArray[np.int64] = (squares - self.tilings * self.m) // 2
        return pairs

    @cached_property
    def own(self) -> NDArray[Any]:
        """What each cell adds by itself, in half units, shape (outputs, cells)."""
        both = zip(self.scales, self._exact(self.linear), self._exact(self.own_pairs), strict=True)
        return self._stack([scale.linear * linear + scale.pairs * pairs for scale, linear, pairs in both])

    def pairs(self, left: NDArray[np.intp] | slice, right: NDArray[np.intp] | slice) -> NDArray[Any]:
        """Return what pairs of cells add, in half units, shape (outputs, left, right)."""
        kind = np.int64 if self.whole else np.float64
        dots = np.einsum("kcm,kdm->kcd", self.factors[:, left], self.factors[:, right], dtype=kind)
        return self._stack([scale.pairs * dot for scale, dot in zip(self.scales, self._exact(dots), strict=True)])

    def counts(self, table: Any) -> NDArray[np.int64]:
        """Return how many samples of a table are in each cell."""
        counts: NDArray[np.int64] = _core.count_cells(self.core, table)[self.starts]
        return counts

    def values(self, table: Any) -> NDArray[np.float64]:
        """Return the sum of what each cell is multiplied by, over the samples of a table."""
        sums: NDArray[np.float64] = _core.sum_values(self.core, table)[self.starts]
        return sums

    def present(self, table: Any) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Return the cells of the one sample of a table, in the order of features, and what multiplies them."""
        starts, values = _core.active_cells(self.core, table)
        order = np.argsort(starts, kind="stable")
        return np.searchsorted(self.starts, starts[order]), values[order]

    @cached_property
    def raw(self) -> NDArray[np.bool_]:
        """Whether a cell is that of a raw number."""
        if self.core.method not in ("fm", "dfm"):
            return np.zeros(len(self.starts), bool)
        features = [self.core.feature(j)["kind"] == "raw" for j in range(self.features)]
        return np.array(features, bool)[self.feature]

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the sum over the cells of each feature; cells are the second axis."""
        sums = np.zeros_like(values, shape=(len(values), self.features, *values.shape[2:]))
        used = self.sizes > 0
        if used.any():
            sums[:, used] = np.add.reduceat(values, self.begins[used], axis=1)
        return sums

    @cached_property
    def wide(self) -> bool:
        """Whether whole-number scores may need more than 64 bits."""
        if not self.whole:
            return False
        active = self.tilings * int(np.count_nonzero(self.sizes))
        most_linear = active * ((1 << self.core.w_bits) - 1)
        most = (abs(s.bias) + s.linear * most_linear + s.pairs * self.m * active**2 for s in self.scales)
        return max(most) >= SAFE

    def _exact(self, numbers: NDArray[Any]) -> NDArray[Any]:
        return numbers.astype(object) if self.wide else numbers

    def _stack(self, arrays: list[NDArray[Any]]) -> NDArray[Any]:
        kind = object if self.wide else np.int64 if self.whole else np.float64
        return np.stack(arrays).astype(kind)

    def _over_tilings(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of weights over the rows that each cell activates."""
        total = weights[:, self.starts].astype(np.int32 if self.whole else np.float64)
        for t in range(1, self.tilings):
            total = total + weights[:, self.starts + t]
        return total
