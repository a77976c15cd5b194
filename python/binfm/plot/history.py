"""The history of a training, epoch by epoch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from binfm.plot._style import PALETTE, PLAIN, Display, bare, one_axes, plain_numbers

if TYPE_CHECKING:
    from binfm.model import Model


@dataclass(repr=False)
class HistoryDisplay(Display):
    """The loss of each epoch on training samples and on held-out samples.

    Examples
    --------
    >>> import numpy as np, binfm
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = binfm.train(X, X[:, 0] > 0, m=4, epochs=3, early_stopping=False)
    >>> binfm.plot.HistoryDisplay.from_model(model).epochs
    [1, 2, 3]
    """

    epochs: list[int]
    losses: dict[str, list[float]]
    """The loss of each epoch, by what it was measured on."""
    best_epoch: int | None
    loss: str = ""
    """Name of the loss."""

    @classmethod
    def from_model(cls, model: Model) -> HistoryDisplay:
        """Take the history of a model trained in this process; files do not hold it."""
        history = model.history
        if not history:
            raise ValueError("model must have a history, which files do not hold, got one without")
        names = {"loss": "training samples", "val_loss": "held-out samples"}
        losses = {names[key]: [record[key] for record in history] for key in names if key in history[0]}
        return cls([int(record["epoch"]) for record in history], losses, model.best_epoch, model.loss)

    def plot(self, ax: Any = None) -> HistoryDisplay:
        """Draw the losses; return itself.

        Parameters
        ----------
        ax
            Matplotlib axes; None creates a figure.
        """
        figure, ax = one_axes(ax, (6.4, 4.0))
        for (name, loss), color, marker in zip(self.losses.items(), PALETTE, "os", strict=False):
            ax.plot(self.epochs, loss, marker=marker, markersize=4, color=color, label=name)
        if self.best_epoch is not None:
            kept = f"kept: epoch {self.best_epoch}"
            ax.axvline(self.best_epoch, color=PLAIN, linestyle="--", linewidth=1, label=kept)
        ax.locator_params(axis="x", integer=True)
        ax.set_xlabel("epoch")
        ax.set_ylabel(f"{self.loss} loss".strip())
        plain_numbers(ax.yaxis)
        ax.legend()
        bare(ax)
        self._keep(ax, figure)
        return self
