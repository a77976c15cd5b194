"""What effects are relative to: how often each cell occurs, and the mean score that follows.

If features vary independently, each with these frequencies, the score is the sum of a mean, a main effect of each
feature and an interaction of each pair, all of mean zero (the functional ANOVA). Here it has a closed form: with ū the
mean of u over the cells of a feature,

    main_f(c) = own_f(c) + β² · u_f(c) · Σ_{g≠f} ū_g − its mean
    inter_fg(c, d) = β² · (u_f(c) − ū_f) · (u_g(d) − ū_g)
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from binfm.data.kinds import ValueKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from binfm.reading._parts import Parts


class Reference:
    """Cell frequencies. All arrays of effects are in units of the score."""

    def __init__(
        self, parts: Parts, table: Any = None, samples: int = 0, kinds: Mapping[int, ValueKind] | None = None
    ) -> None:
        """Take the frequencies of a table; without one, all cells are equally frequent.

        For a model of a sparse table, in which most values are absent, absence then counts as a cell. `kinds` says what
        the columns of the table hold, if that is known.
        """
        self.parts, self._kinds, self.is_counted = parts, kinds or {}, table is not None
        if table is None:
            self.described = "all cells of a feature equally frequent"
            self.counts: NDArray[Any] = np.where(parts.raw, 0, 1)  # a raw number has mean zero
            self.totals = np.maximum(parts.sizes + parts.core.zero_is_absent, 1)
        elif samples == 0:
            raise ValueError("X must have at least one sample, got none")
        else:
            self.described = f"cells as frequent as in {samples:,} samples"
            self.counts = parts.values(table) if parts.raw.any() else parts.counts(table)
            self.totals = np.full(parts.features, samples)

    def kind(self, feature: int) -> ValueKind:
        """Return what the values of a feature are."""
        return self._kinds.get(feature, ValueKind())

    def counts_of(self, feature: int) -> NDArray[np.int64] | None:
        """Return how many samples of the table are in each cell of a feature; None without a table."""
        return self.counts[self.parts.of(feature)] if self.is_counted else None

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Share of each cell within its feature."""
        weights: NDArray[np.float64] = self.counts / self.totals[self.parts.feature]
        return weights

    @cached_property
    def absent(self) -> NDArray[np.float64]:
        """Share of each feature's absent values."""
        absent: NDArray[np.float64] = 1 - self.parts.sums(self.counts[None])[0] / self.totals
        return absent

    @cached_property
    def means(self) -> NDArray[np.float64]:
        """ū of each feature, shape (outputs, features, m)."""
        totals = self.parts.sums(self.parts.factors * self.counts[None, :, None])
        means: NDArray[np.float64] = totals / self.totals[None, :, None]
        return means

    @cached_property
    def mean_score(self) -> NDArray[np.float64]:
        """Mean score of each output."""
        parts = self.parts
        own = self._means(_floats(parts.own)).sum(axis=1)
        all_means = self.means.sum(axis=1)
        squares = (all_means**2).sum(axis=1) - (self.means**2).sum(axis=(1, 2))
        bias, pairs = _floats([s.bias for s in parts.scales]), _floats([s.pairs for s in parts.scales])
        mean: NDArray[np.float64] = parts.unit * (bias + own + pairs * squares / 2)
        return mean

    @cached_property
    def main(self) -> NDArray[np.float64]:
        """Main effect of each cell, shape (outputs, cells)."""
        main: NDArray[np.float64] = self.before + self.absent_main[:, self.parts.feature]
        return main

    @cached_property
    def absent_main(self) -> NDArray[np.float64]:
        """Main effect of each feature's absence, shape (outputs, features)."""
        return -self._means(self.before)

    @cached_property
    def variances(self) -> NDArray[np.float64]:
        """Variance of each feature's main effect, shape (outputs, features)."""
        return self._means(self.main**2) + self.absent * self.absent_main**2

    def deviations(self, feature: int) -> NDArray[np.float64]:
        """Return β · (u − ū) for each cell of a feature and then for its absence, shape (outputs, cells + 1, m)."""
        factors = self.parts.factors[:, self.parts.of(feature)]
        with_absent = np.concatenate([factors, np.zeros_like(factors[:, :1], shape=(len(factors), 1, self.parts.m))], 1)
        return self._beta()[:, None, None] * (with_absent - self.means[:, feature, None])

    def _beta(self) -> NDArray[np.float64]:
        return np.sqrt(_floats([s.pairs for s in self.parts.scales]) * self.parts.unit)

    @cached_property
    def before(self) -> NDArray[np.float64]:
        """Main effects before centering; that of an absent feature is zero."""
        parts = self.parts
        others = self.means.sum(axis=1, keepdims=True) - self.means
        dots = np.einsum("kcm,kcm->kc", parts.factors, others[:, parts.feature])
        pairs = _floats([s.pairs for s in parts.scales])[:, None]
        raw: NDArray[np.float64] = parts.unit * (_floats(parts.own) + pairs * dots)
        return raw

    def _means(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean over the cells of each feature, with zero for absence."""
        means: NDArray[np.float64] = self.parts.sums(values * self.weights)
        return means


def _floats(whole: Any) -> NDArray[np.float64]:
    return np.asarray(whole).astype(np.float64)
