"""Shape plots: the main effect of each cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from binfm.plot._style import DOWN, MARKERS, PLAIN, STYLES, UP, Display, bare, color, new_axes, short

if TYPE_CHECKING:
    from binfm.model import Model
    from binfm.reading import Effects, FeatureEffects

MAX_PANELS = 9
MAX_CLASSES = 7
MAX_BARS = 12
MAX_TICKS = 5
COLUMNS = 3


@dataclass
class EffectsDisplay(Display):
    """The main effects of some features, one panel each.

    Numeric features are drawn bin by bin, all equally wide, with their edges below; categories are bars, or points if
    there are more than two classes, the strongest first.

    Examples
    --------
    >>> import numpy as np, binfm
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = binfm.train(X, X[:, 0] > 0, m=4)
    >>> display = binfm.plot.EffectsDisplay.from_model(model, X)
    >>> [effect.name for effect in display.features]
    ['x0', 'x1']
    """

    effects: Effects
    features: list[FeatureEffects]
    """The features drawn."""
    shown: list[int]
    """The outputs drawn."""

    @classmethod
    def from_model(
        cls,
        model: Model,
        X: Any = None,
        *,
        features: Sequence[int | str] | None = None,
        classes: Sequence[Any] | None = None,
    ) -> EffectsDisplay:
        """Take the effects of a model.

        Parameters
        ----------
        model
            The model.
        X
            Table on whose cell frequencies the effects are centered; None weights all cells equally.
        features
            Columns, by number or name; None means the nine strongest.
        classes
            Class labels; None means the first seven.
        """
        effects = model.effects(X)
        wanted = effects.order()[:MAX_PANELS] if features is None else list(features)
        known = list(effects.classes)
        if classes is None:
            shown = list(range(len(known)))[:MAX_CLASSES]
        else:
            missing = [c for c in classes if c not in known]
            if missing:
                raise ValueError(f"classes must be among {known}, got {missing[0]!r}")
            shown = [known.index(c) for c in classes]
        return cls(effects, [effects[key] for key in wanted], shown)

    def plot(self, axes: Any = None) -> EffectsDisplay:
        """Draw the panels and return itself.

        Parameters
        ----------
        axes
            As many matplotlib axes as there are features; None creates a figure.
        """
        count = max(1, len(self.features))
        if axes is None:
            columns = min(COLUMNS, count)
            rows = -(-count // columns)
            figure, made = new_axes(rows, columns, (3.4 * columns + 0.4 + (len(self.shown) > 1), 2.7 * rows + 0.3))
            axes = np.atleast_1d(made)
            for ax in axes.ravel()[len(self.features) :]:
                ax.set_visible(False)
        else:
            axes = np.atleast_1d(axes)
            figure = axes.ravel()[0].figure
        for ax, feature in zip(axes.ravel(), self.features, strict=False):
            self._panel(ax, feature)
        if len(self.shown) > 1 and self.features:
            lines, labels = axes.ravel()[0].get_legend_handles_labels()
            figure.legend(lines, labels, title="class", loc="outside right upper", frameon=False)
        self._keep(axes, figure)
        return self

    def _panel(self, ax: Any, feature: FeatureEffects) -> None:
        values = np.atleast_2d(feature.effect)[self.shown]
        if feature.kind == "categorical":
            self._categories(ax, feature, values)
            ax.axvline(0, color=PLAIN, linewidth=0.8, zorder=0)
            ax.set_xlabel("effect on the score")
        else:
            self._steps(ax, feature, values)
            ax.axhline(0, color=PLAIN, linewidth=0.8, zorder=0)
            ax.set_ylabel("effect on the score")
        ax.set_title(short(feature.name), fontsize="medium", fontweight="bold")
        bare(ax)

    def _steps(self, ax: Any, feature: FeatureEffects, values: Any) -> None:
        """Draw stairs for each class, and missing values as points to the right."""
        bins = len(feature.bounds)
        for i, (k, effect) in enumerate(zip(self.shown, values, strict=True)):
            look = {"color": color(i), "linestyle": STYLES[i // 2 % len(STYLES)], "linewidth": 2}
            ax.stairs(effect[:bins], np.arange(bins + 1), baseline=None, label=str(self.effects.classes[k]), **look)
            if len(effect) > bins:
                ax.plot([bins + 1], effect[bins:], MARKERS[i % len(MARKERS)], color=color(i), markersize=7)
        if len(self.shown) == 1:
            ax.fill_between(np.arange(bins + 1), np.append(values[0, :bins], values[0, bins - 1 : bins]), step="post",
                            color=color(0), alpha=0.12, linewidth=0)  # fmt: skip
        edges = [high for _, high in feature.bounds[:-1]]
        step = max(1, -(-len(edges) // MAX_TICKS))
        first = (len(edges) - 1) % step // 2 if edges else 0
        ticks = list(range(first, len(edges), step))
        labels = [f"{edges[i]:.3g}" for i in ticks]
        places = [i + 1.0 for i in ticks]
        if len(feature.cells) > bins:
            places, labels = [*places, bins + 1.0], [*labels, "missing"]
        ax.set_xticks(places, labels, rotation=30 if max(map(len, labels), default=0) > 5 else 0)

    def _categories(self, ax: Any, feature: FeatureEffects, values: Any) -> None:
        order = np.argsort(-np.abs(values).max(axis=0), kind="stable")[:MAX_BARS]
        order = order[np.argsort(values[0, order], kind="stable")]
        places = np.arange(len(order))
        if len(self.shown) == 1:
            colors = [UP if v > 0 else DOWN for v in values[0, order]]
            ax.barh(places, values[0, order], color=colors)
        else:
            for i, effect in enumerate(values):
                ax.plot(effect[order], places, MARKERS[i % len(MARKERS)], color=color(i), markersize=6,
                        linestyle="none", label=str(self.effects.classes[self.shown[i]]))  # fmt: skip
        ax.set_yticks(places, [short(feature.cells[c]) for c in order])
        if len(order) < len(feature.cells):
            ax.set_ylabel(f"{len(order)} of {len(feature.cells)} categories", fontsize="small")
