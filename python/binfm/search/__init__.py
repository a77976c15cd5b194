"""The most accurate model within a size limit: `binfm.train(X, y, max_bytes=N)` and `binfm.size_curve`."""

from binfm.search.curve import SizeCurve, size_curve
from binfm.search.search import Search

__all__ = ["Search", "SizeCurve", "size_curve"]
