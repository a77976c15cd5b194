"""Accuracy against bytes: `binfm.size_curve`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from binfm._checks import whole
from binfm._progress import Reporter, SearchProgress
from binfm._text import table
from binfm.params import PARAMETERS, Params
from binfm.search.halving import FRESH, SuccessiveHalving, successive_halving
from binfm.search.trials import VARIED
from binfm.training import read_data

if TYPE_CHECKING:
    from binfm.search.forecast import Forecast
    from binfm.search.trials import Trials

BUDGETS = (256, 512, 1024, 2048, 4096, 8192, 16384)


@dataclass
class SizeCurve:
    """How good a model can be in how many bytes. Prints as a table, and draws itself.

    ``points`` has a dict for each budget: ``max_bytes``, the size ``nbytes`` of the model found, its ``score`` on
    samples it had not seen and the ``spread`` of that (standard deviation over folds), and its parameters. If no model
    fits, all but ``max_bytes`` are None.

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
    """Name of the score: ``"accuracy"``, ``"log_loss"``, ``"squared error"``, or that of `scoring`."""
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
        return table(head, lines, left=0)

    def _repr_html_(self) -> str:
        from binfm.reading.html.notebook import curve_card

        return curve_card(self)

    def plot(self, ax: Any = None) -> SizeCurve:
        """Draw the score and its spread against bytes, as :class:`binfm.plot.SizeCurveDisplay` does; return itself.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; None creates a figure.
        """
        from binfm.plot import SizeCurveDisplay

        display = SizeCurveDisplay(self).plot(ax)
        self.ax_, self.figure_ = display.axes_, display.figure_
        return self


def size_curve(
    X: Any, y: Any, budgets: Sequence[int] = BUDGETS, *, progress: bool | Reporter = False, **parameters: Any
) -> SizeCurve:
    """Return how accurate a model can be in each of several numbers of bytes.

    For each budget the parameters are chosen as by ``binfm.train(X, y, max_bytes=budget)`` and scored by 5-fold
    cross-validation on folds other than those that chose them. What the budgets have in common is tried once.

    Parameters
    ----------
    X, y
        As for :func:`binfm.train`.
    budgets
        Sizes in bytes.
    progress
        Show a progress bar if tqdm is installed, or call a function with records, as in :func:`binfm.train`.
    **parameters
        Other parameters of :func:`binfm.train`; those given here are not searched.

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
    limits = sorted({whole("budgets", budget) for budget in budgets})
    if not limits:
        raise ValueError("budgets must have at least one size in bytes, got none")
    data = {name: parameters.pop(name, None) for name in ("sample_weight", "eval_set")}
    unknown = [name for name in parameters if name not in PARAMETERS or name in ("max_bytes", "callback")]
    if unknown:
        raise TypeError(f"size_curve got an unexpected keyword argument {unknown[0]!r}")
    params = Params.of({**parameters, "max_bytes": limits[-1]})
    dataset, valid = read_data(X, y, **data, params=params)
    params = params.resolve(len(dataset), valid is not None)
    with SearchProgress(progress) as bar, successive_halving(dataset, params, bar) as halving:
        chosen = halving.run(lambda trials: _best_of_each(halving, limits, trials))
        points = [_point(halving, limit, found) for limit, found in zip(limits, chosen, strict=True)]
        return SizeCurve(halving.metric, tuple(points), halving.smallest)


def _best_of_each(halving: SuccessiveHalving, limits: Sequence[int], trials: Trials | Forecast) -> list[Params | None]:
    """Return the best parameters for each limit, and score them on fresh folds; limits ascend."""
    chosen: list[Params | None] = []
    smaller: list[Params] = []
    for limit in limits:
        best = halving.best(limit, trials, smaller)
        chosen.append(best)
        if best is not None:
            smaller = trials.rank([best], FRESH)
    return chosen


def _point(halving: SuccessiveHalving, limit: int, chosen: Params | None) -> dict[str, Any]:
    if chosen is None:
        return {"max_bytes": limit, **dict.fromkeys(("features", *VARIED, "nbytes", "score", "spread"))}
    return {"max_bytes": limit, **halving.trials.describe(chosen, FRESH)}
