"""Shape plots: the main effect of each cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from binfm.plot._style import (
    DOWN,
    MARKERS,
    PLAIN,
    STYLES,
    UP,
    Display,
    bare,
    color,
    new_axes,
    plain_numbers,
    short,
    sign_legend,
    toward,
)
from binfm.reading._marks import counted, leading, not_shown, ticks

if TYPE_CHECKING:
    from binfm.model import Model
    from binfm.reading import Effects, FeatureEffects

MAX_PANELS = 9
MAX_CLASSES = 7
MAX_BARS = 10
MAX_TICKS = 5
COLUMNS = 3
LETTER = 0.08
"""Inches that a character of a small label takes, at most on average."""
LEGEND_ENTRY = 2.6
"""Inches that an entry of the legend takes."""
STRIP = 0.14
"""Height of the tallest bar of the histogram, as a share of the panel."""


@dataclass(repr=False)
class EffectsDisplay(Display):
    """The main effects of some features, one panel each.

    Numeric features are drawn bin by bin, all equally wide, with their edges below. Categories are bars, or points if
    there are more than two classes. If X is given, gray bars show how many of its samples each bin holds, the most
    frequent categories are drawn, with their counts, and columns of dates and of whole numbers are labeled as such.
    Without X the categories of the strongest effects are drawn.

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
            Table on whose cell frequencies the effects are centered, and whose samples are counted; None weights all
            cells equally.
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
        if axes is None:
            figure, axes = self._new_panels()
        else:
            axes = np.atleast_1d(axes)
            figure = axes.ravel()[0].figure
        for ax, feature in zip(axes.ravel(), self.features, strict=False):
            self._panel(ax, feature)
        if self.features:
            self._legend(figure, axes.ravel()[0])
        self._keep(axes, figure)
        return self

    def _new_panels(self) -> tuple[Any, Any]:
        count = max(1, len(self.features))
        columns = min(COLUMNS, count)
        rows = -(-count // columns)
        beside = len(self.shown) > 1  # the legend of classes
        figure, made = new_axes(rows, columns, (3.6 * columns + 0.4 + beside, 2.8 * rows + 0.6))
        axes = np.atleast_1d(made)
        for ax in axes.ravel()[len(self.features) :]:
            ax.set_visible(False)
        return figure, axes

    def _legend(self, figure: Any, first: Any) -> None:
        """Say what colors mean: classes, or the sign of an effect; and gray, if samples are counted."""
        from matplotlib.patches import Patch

        is_counted = any(f.count is not None and f.kind != "categorical" for f in self.features)
        gray = [Patch(color=PLAIN, alpha=0.4, label="samples per bin")] if is_counted else []
        if len(self.shown) > 1:
            lines, _ = first.get_legend_handles_labels()
            figure.legend(handles=lines, title="class", loc="outside right upper", frameon=False)
        handles = [*(sign_legend(self.effects.direction) if len(self.shown) == 1 else []), *gray]
        if handles:
            columns = max(1, min(len(handles), int(figure.get_figwidth() / LEGEND_ENTRY)))
            figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False)

    def _panel(self, ax: Any, feature: FeatureEffects) -> None:
        values = np.atleast_2d(feature.effect)[self.shown]
        if not feature.cells:
            ax.text(0.5, 0.5, "not used by the model", ha="center", transform=ax.transAxes, color=PLAIN)
            ax.set(xticks=[], yticks=[])
        elif feature.kind == "categorical":
            self._categories(ax, feature, values)
            ax.axvline(0, color=PLAIN, linewidth=0.8, zorder=0)
            plain_numbers(ax.xaxis)
            ax.locator_params(axis="x", nbins=3)
        else:
            self._steps(ax, feature, values)
            ax.axhline(0, color=PLAIN, linewidth=0.8, zorder=0)
            ax.set_ylabel(toward("up", feature.direction), fontsize="small")
            plain_numbers(ax.yaxis)
        ax.set_title(short(feature.name, 26), fontsize="medium", fontweight="bold")
        bare(ax)

    def _steps(self, ax: Any, feature: FeatureEffects, values: Any) -> None:
        """Draw stairs for each class, and missing values as points to the right."""
        bins = len(feature.bounds)
        for i, (k, effect) in enumerate(zip(self.shown, values, strict=True)):
            look = {"color": color(i), "linestyle": STYLES[i // 2 % len(STYLES)], "linewidth": 2}
            label = short(str(self.effects.classes[k]))
            ax.stairs(effect[:bins], np.arange(bins + 1), baseline=None, label=label, **look)
            if len(effect) > bins:
                ax.plot([bins + 1], effect[bins:], MARKERS[i % len(MARKERS)], color=color(i), markersize=7)
        if len(self.shown) == 1:
            colors = [UP if v > 0 else DOWN for v in values[0, :bins]]
            ax.bar(np.arange(bins) + 0.5, values[0, :bins], width=1, color=colors, alpha=0.15, linewidth=0)
        if feature.count is not None:
            _histogram(ax, feature.count, bins)
        marks = ticks(feature.axis, MAX_TICKS)
        if len(feature.cells) > bins:
            marks.append((bins + 1.0, "missing"))
        places, labels = [place for place, _ in marks], [label for _, label in marks]
        turned = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if _is_crowded(ax, marks, bins) else {}
        ax.set_xticks(places, labels, fontsize="small", **turned)

    def _categories(self, ax: Any, feature: FeatureEffects, values: Any) -> None:
        order = leading(feature.axis, values, MAX_BARS)
        places = np.arange(len(order))[::-1]
        if len(self.shown) == 1:
            colors = [UP if v > 0 else DOWN for v in values[0, order]]
            ax.barh(places, values[0, order], color=colors)
        else:
            for i, effect in enumerate(values):
                ax.plot(effect[order], places, MARKERS[i % len(MARKERS)], color=color(i), markersize=6,
                        linestyle="none", label=short(str(self.effects.classes[self.shown[i]])))  # fmt: skip
        ax.set_yticks(places, [counted(feature.axis, c, short(feature.cells[c])) for c in order], fontsize="small")
        note = not_shown(feature.axis, len(order))
        ax.set_xlabel(toward("right", feature.direction) + (f"\n{note}" if note else ""), fontsize="small")


def _histogram(ax: Any, counts: Any, bins: int) -> None:
    """Draw how many samples each bin has along the bottom of a panel, below the effects."""
    low, high = ax.get_ylim()
    share = STRIP + 0.1
    ax.set_ylim(low - (high - low) * share / (1 - share), high)
    places = [*np.arange(bins) + 0.5, *[bins + 1.0] * (len(counts) - bins)]
    heights = STRIP * counts / max(1, counts.max(initial=0))
    ax.bar(places, heights, width=1, color=PLAIN, alpha=0.4, linewidth=0, transform=ax.get_xaxis_transform())
    fullest = int(np.argmax(counts))
    where = {"ha": "center", "va": "bottom", "transform": ax.get_xaxis_transform()}
    ax.text(places[fullest], STRIP, f"{counts[fullest]:,}", color=PLAIN, fontsize="x-small", **where)


def _is_crowded(ax: Any, marks: list[tuple[float, str]], bins: int) -> bool:
    """Return whether labels side by side would touch."""
    letters = ax.bbox.width / ax.figure.dpi / LETTER / max(bins, marks[-1][0])
    return any((len(a) + len(b)) / 2 + 1 > (q - p) * letters for (p, a), (q, b) in pairwise(marks))
