"""Reading a model: what each bin, each pair of features and each row brings to the score, exactly."""

from binfm.reading.effects import Effects, FeatureEffects
from binfm.reading.explanation import Explanation
from binfm.reading.html import html_report
from binfm.reading.interactions import Interactions, PairCells

__all__ = ["Effects", "Explanation", "FeatureEffects", "Interactions", "PairCells", "html_report"]
