"""Accuracy against bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from binfm.plot._style import Display, bare, one_axes, plain_numbers

if TYPE_CHECKING:
    from binfm.search import SizeCurve

MAX_TICKS = 9


@dataclass(repr=False)
class SizeCurveDisplay(Display):
    """The result of :func:`binfm.size_curve`: how good a model can be in how many bytes.

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
        """Draw the score and its spread against bytes; return itself.

        Parameters
        ----------
        ax
            Matplotlib axes; None creates a figure.
        """
        figure, ax = one_axes(ax, (6.4, 4.0))
        fits = [point for point in self.curve.points if point["nbytes"] is not None]
        sizes = [point["nbytes"] for point in fits]
        label = "mean ± standard deviation over folds, samples not seen in training"
        ax.errorbar(sizes, [p["score"] for p in fits], [p["spread"] for p in fits], marker="o", capsize=3, label=label)
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.set_xlabel("bytes of the saved model")
        ax.set_ylabel(self.curve.metric)
        ax.set_xticks(_apart(sizes))
        ax.minorticks_off()
        plain_numbers(ax.yaxis)
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), frameon=False, fontsize="small")
        ax.grid(axis="y", alpha=0.3)
        bare(ax)
        self._keep(ax, figure)
        return self


def _apart(sizes: list[int]) -> list[int]:
    """Return the largest size and smaller ones that are far enough apart on a log scale for their labels to fit."""
    kept: list[int] = []
    gap = (max(sizes, default=1) / min(sizes, default=1)) ** (1 / MAX_TICKS)
    for size in sorted(set(sizes), reverse=True):
        if not kept or kept[-1] / size > gap:
            kept.append(size)
    return kept
