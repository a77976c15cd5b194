"""Accuracy against bytes: `binfm.size_curve`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from binfm._checks import whole
from binfm._progress import Progress
from binfm.training import prepare
from binfm.tuning import as_table, curve

BUDGETS = (256, 512, 1024, 2048, 4096, 8192, 16384)


@dataclass
class SizeCurve:
    """How good a model can be in how many bytes. Prints as a table, and draws itself.

    ``points`` has a dict for each budget: ``max_bytes``, the size ``nbytes`` of the model that was found, its ``score``
    on rows it had not seen and the ``spread`` of that (standard deviation over folds), and its settings. Where no model
    fits, all but ``max_bytes`` is None.

    Examples
    --------
    >>> import numpy as np, binfm
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
    >>> print(binfm.size_curve(X, X[:, 0] * X[:, 1] > 0, budgets=(30, 31), epochs=2))
    max_bytes     nbytes  accuracy  spread  m  b  tilings  loss
           30  none fits
           31  none fits
    """

    metric: str
    """``"accuracy"`` or ``"squared error"``"""
    points: tuple[dict[str, Any], ...]
    smallest: int
    """Size of the smallest model of this data, in bytes."""
    ax_: Any = field(default=None, init=False, repr=False, compare=False)
    """The matplotlib axes of the last plot."""
    figure_: Any = field(default=None, init=False, repr=False, compare=False)
    """The figure of the last plot."""

    def __str__(self) -> str:
        head = ["max_bytes", "nbytes", self.metric, "spread", "m", "b", "tilings", "loss"]
        lines = []
        for point in self.points:
            if point["nbytes"] is None:
                lines.append([str(point["max_bytes"]), "none fits", *[""] * (len(head) - 2)])
                continue
            shape = [str(point[name]) for name in head[4:]]
            score = [f"{point[name]:.4f}" for name in ("score", "spread")]
            lines.append([str(point["max_bytes"]), str(point["nbytes"]), *score, *shape])
        return as_table(head, lines)

    def plot(self, ax: Any = None) -> SizeCurve:
        """Draw score against bytes, with its spread, on `ax_` and return itself.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; None makes a figure.
        """
        if ax is None:
            try:
                from matplotlib import pyplot
            except ImportError:
                raise ImportError("SizeCurve.plot needs matplotlib: pip install 'binfm[plot]'") from None
            _, ax = pyplot.subplots()
        fits = [point for point in self.points if point["nbytes"] is not None]
        sizes = [point["nbytes"] for point in fits]
        ax.errorbar(sizes, [p["score"] for p in fits], [p["spread"] for p in fits], marker="o", capsize=3)
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.set_xlabel("bytes of the saved model")
        ax.set_ylabel(self.metric)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def size_curve(
    X: Any, y: Any, budgets: Sequence[int] = BUDGETS, *, progress: bool = False, **parameters: Any
) -> SizeCurve:
    """Return how accurate a model can be in each of some numbers of bytes.

    For each budget the settings are chosen as by ``binfm.train(X, y, max_bytes=budget)``, and scored by 5-fold
    cross-validation on folds other than those that chose them. What the budgets have in common is tried once.

    Parameters
    ----------
    X, y
        As for :func:`binfm.train`.
    budgets
        Numbers of bytes.
    progress
        Show a bar, if tqdm is installed.
    **parameters
        Other parameters of :func:`binfm.train`: what is given here is not searched.

    Returns
    -------
    SizeCurve

    Examples
    --------
    >>> import numpy as np, binfm
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(400, 2))
    >>> curve = binfm.size_curve(X, X[:, 0] * X[:, 1] > 0, budgets=(32, 64, 128), epochs=5)
    >>> [point["nbytes"] is not None for point in curve.points]
    [False, True, True]
    """
    problem, settings, free = prepare(X, y, **parameters, searching=True)
    limits = sorted({whole("budgets", budget) for budget in budgets})
    if not limits:
        raise ValueError("budgets: got none; accepted is one number of bytes or more")
    with Progress(progress, None, "fit") as bar:
        metric, points, smallest = curve(problem, settings, free, limits, bar.advance)
    return SizeCurve(metric, points, smallest)
