"""Accuracy against bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from binfm.plot._style import Display, bare, one_axes

if TYPE_CHECKING:
    from binfm.curve import SizeCurve


MOST_TICKS = 9


@dataclass
class SizeCurveDisplay(Display):
    """What :func:`binfm.size_curve` found: how good a model can be in how many bytes.

    Examples
    --------
    >>> import numpy as np, binfm
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
    >>> curve = binfm.size_curve(X, X[:, 0] * X[:, 1] > 0, budgets=(64, 128), epochs=5)
    >>> binfm.plot.SizeCurveDisplay.from_curve(curve).curve.metric
    'accuracy'
    """

    curve: SizeCurve

    @classmethod
    def from_curve(cls, curve: SizeCurve) -> SizeCurveDisplay:
        """Take a curve."""
        return cls(curve)

    def plot(self, ax: Any = None) -> SizeCurveDisplay:
        """Draw the score against bytes, with its spread, and return itself.

        Parameters
        ----------
        ax
            Matplotlib axes; None makes a figure.
        """
        figure, ax = one_axes(ax, (6.4, 4.0))
        self.curve.plot(ax)
        ax.set_xticks(_apart([point["nbytes"] for point in self.curve.points if point["nbytes"] is not None]))
        ax.minorticks_off()
        ax.grid(axis="y", alpha=0.3)
        bare(ax)
        self._keep(ax, figure)
        return self


def _apart(sizes: list[int]) -> list[int]:
    """Return the greatest size and those, downwards, that stand so far apart on a log scale that labels fit between."""
    kept: list[int] = []
    gap = (max(sizes, default=1) / min(sizes, default=1)) ** (1 / MOST_TICKS)
    for size in sorted(set(sizes), reverse=True):
        if not kept or kept[-1] / size > gap:
            kept.append(size)
    return kept
