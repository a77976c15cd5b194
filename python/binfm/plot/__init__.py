"""Figures of models, with matplotlib (``pip install 'binfm[plot]'``).

Each Display holds what it draws; ``plot()`` draws it and returns the Display, whose ``figure_`` and ``axes_`` can be
changed or saved.
"""

from binfm.plot.boundary import DecisionBoundaryDisplay
from binfm.plot.curve import SizeCurveDisplay
from binfm.plot.effects import EffectsDisplay
from binfm.plot.explanation import ExplanationDisplay
from binfm.plot.history import HistoryDisplay
from binfm.plot.interactions import InteractionsDisplay, PairDisplay

__all__ = [
    "DecisionBoundaryDisplay",
    "EffectsDisplay",
    "ExplanationDisplay",
    "HistoryDisplay",
    "InteractionsDisplay",
    "PairDisplay",
    "SizeCurveDisplay",
]
