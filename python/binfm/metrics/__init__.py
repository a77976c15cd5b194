"""Metrics for `eval_metric` and `scoring`: by name, of one's own, or scikit-learn's."""

from binfm.metrics.measure import Measure, Metric, measure_of, measures_of
from binfm.metrics.scored import NoProbabilitiesError, Scored

__all__ = ["Measure", "Metric", "NoProbabilitiesError", "Scored", "measure_of", "measures_of"]
