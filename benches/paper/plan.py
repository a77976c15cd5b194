"""How much of everything is measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    splits: int
    folds: int
    """Of the cross-validation that chooses settings."""
    choice_rows: int
    """Rows × score functions of the training part that cross-validation uses at most."""
    choice_epochs: int
    """Passes of the FMs in cross-validation; the chosen one is trained for `epochs`."""
    epochs: int
    most_rows: int | None
    """Rows of a data set that are used at all."""
    nfm_epochs: int
    nfm_steps: int
    """Batches that NFM is trained on at most, however many epochs that is."""
    few_splits: int
    """Splits of what is not in the paper's tables: other people's FMs, and the figure of memory against accuracy."""
    rounds: int
    """Repetitions of a prediction, of which the quickest counts."""


FULL = Plan(
    splits=10,
    folds=5,
    choice_rows=8_000,
    choice_epochs=15,
    epochs=30,
    most_rows=None,
    nfm_epochs=200,
    nfm_steps=6_000,
    few_splits=2,
    rounds=15,
)
QUICK = Plan(
    splits=2,
    folds=2,
    choice_rows=2_000,
    choice_epochs=5,
    epochs=15,
    most_rows=3_000,
    nfm_epochs=10,
    nfm_steps=1_000,
    few_splits=1,
    rounds=3,
)
