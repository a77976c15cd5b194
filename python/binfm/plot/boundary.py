"""The predictions of a model over two features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from binfm.plot._style import DIVERGING, MARKERS, Display, color, one_axes, plain_numbers, short
from binfm.reading._cells import names_of
from binfm.reading.effects import find

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm.model import Model

POINTS = 300
"""Maximum number of points; more would hide what is under them."""


@dataclass(repr=False)
class DecisionBoundaryDisplay(Display):
    """The predictions of a model over the plane of two features, with the others held constant.

    Examples
    --------
    >>> import numpy as np, binfm
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> display = binfm.plot.DecisionBoundaryDisplay.from_model(binfm.train(X, y, m=4), X, y, resolution=50)
    >>> display.response.shape
    (50, 50)
    """

    response: NDArray[Any]
    """Number of the predicted class, or the predicted number, along y and x."""
    extent: tuple[float, float, float, float]
    """Left, right, bottom and top."""
    names: tuple[str, str]
    classes: tuple[Any, ...] | None
    points: NDArray[np.float64]
    targets: NDArray[Any] | None

    @classmethod
    def from_model(
        cls,
        model: Model,
        X: Any,
        y: Any = None,
        *,
        features: tuple[int | str, int | str] = (0, 1),
        resolution: int = 300,
    ) -> DecisionBoundaryDisplay:
        """Predict over the range of two numeric features of X.

        Parameters
        ----------
        model
            The model.
        X
            2-D array of numbers; features that are not drawn are held at their median.
        y
            Labels or numbers of X, to draw its points; None draws none.
        features
            The two columns, by number or name.
        resolution
            Points to predict along each side.
        """
        table = _numbers(X)
        columns = [find(key, names_of(model)) for key in features]
        drawn = table[:, columns]
        low, high = np.nanmin(drawn, axis=0), np.nanmax(drawn, axis=0)
        margin = 0.05 * (high - low) + 1e-12
        low, high = low - margin, high + margin
        x, z = np.meshgrid(*(np.linspace(a, b, resolution) for a, b in zip(low, high, strict=True)))
        grid = np.tile(np.nanmedian(table, axis=0), (resolution**2, 1))
        grid[:, columns[0]], grid[:, columns[1]] = x.ravel(), z.ravel()
        predicted = model.predict(grid).reshape(resolution, resolution)
        classes = None if model.classes is None else model.classes
        response = predicted if classes is None else np.searchsorted(classes, predicted)
        keep = np.random.default_rng(0).permutation(len(drawn))[:POINTS]
        names = names_of(model)
        return cls(
            response=response,
            extent=(float(low[0]), float(high[0]), float(low[1]), float(high[1])),
            names=(names[columns[0]], names[columns[1]]),
            classes=None if classes is None else tuple(classes.tolist()),
            points=drawn[keep],
            targets=None if y is None else np.asarray(y)[keep],
        )

    def plot(self, ax: Any = None) -> DecisionBoundaryDisplay:
        """Draw the regions, and the points if their labels were given; return itself.

        Parameters
        ----------
        ax
            Matplotlib axes; None creates a figure.
        """
        figure, ax = one_axes(ax)
        look = {"extent": self.extent, "origin": "lower", "aspect": "auto", "interpolation": "nearest"}
        if self.classes is None:
            picture = ax.imshow(self.response, cmap=DIVERGING, **look)
            bar = figure.colorbar(picture, ax=ax, label="prediction")
            plain_numbers(bar.ax.yaxis)
            if self.targets is not None:
                scaled = {"c": self.targets, "cmap": DIVERGING, "norm": picture.norm}
                ax.scatter(*self.points.T, s=18, edgecolors="black", linewidths=0.6, **scaled)
        else:
            self._classes(ax, look)
        names = [short(name, 40) for name in self.names]
        ax.set(xlim=self.extent[:2], ylim=self.extent[2:], xlabel=names[0], ylabel=names[1])
        plain_numbers(ax.xaxis)
        plain_numbers(ax.yaxis)
        self._keep(ax, figure)
        return self

    def _classes(self, ax: Any, look: dict[str, Any]) -> None:
        """Draw each class in a light shade of its color, and its points in the full color."""
        from matplotlib.colors import to_rgb
        from matplotlib.patches import Patch

        classes = self.classes or ()
        full = np.array([to_rgb(color(k)) for k in range(len(classes))])
        light = 1 - 0.3 * (1 - full)
        ax.imshow(light[self.response], **look)
        above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1), "frameon": False, "ncols": min(len(classes), 4)}
        if self.targets is None:
            regions = [Patch(color=shade, label=short(str(label))) for shade, label in zip(light, classes, strict=True)]
            ax.legend(handles=regions, title="predicted class", **above)
            return
        for k, label in enumerate(classes):
            points = self.points[self.targets == label]
            marker = MARKERS[k % len(MARKERS)]
            edge = {} if marker == "x" else {"edgecolors": "white", "linewidths": 0.6}
            ax.scatter(*points.T, s=22, color=color(k), marker=marker, label=short(str(label)), **edge)
        ax.legend(title="class (light: predicted)", **above)


def _numbers(X: Any) -> NDArray[np.float64]:
    try:
        table = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("X must be a 2-D table of numbers, got values that are not numbers") from None
    if table.ndim != 2 or len(table) == 0:
        raise ValueError(f"X must be a 2-D table of at least one sample, got shape {table.shape}")
    return table
