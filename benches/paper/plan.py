"""The extent of a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    splits: int
    folds: int
    """Folds of the cross-validation that chooses settings."""
    choice_samples: int
    """Maximum samples × outputs of the training part used in cross-validation."""
    choice_epochs: int
    """Epochs of the FMs in cross-validation; the chosen settings are trained for `epochs`."""
    epochs: int
    most_rows: int | None
    """Maximum number of samples used of a data set."""
    nfm_epochs: int
    nfm_steps: int
    """Maximum number of batches for training NFM, regardless of epochs."""
    few_splits: int
    """Splits for what is not in the paper's tables: other FM implementations, and accuracy against memory."""
    rounds: int
    """Repetitions of a timed prediction, of which the fastest counts."""


FULL = Plan(
    splits=10,
    folds=5,
    choice_samples=8_000,
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
    choice_samples=2_000,
    choice_epochs=5,
    epochs=15,
    most_rows=3_000,
    nfm_epochs=10,
    nfm_steps=1_000,
    few_splits=1,
    rounds=3,
)
