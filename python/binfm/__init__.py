"""Binarized factorization machines: nonlinear tabular models of a few hundred bytes.

``binfm.train(X, y)`` returns a :class:`Model`; ``model.save(path)`` and ``binfm.load(path)`` keep it.
"""

from binfm import plot, reading
from binfm._core import ModelFormatError, __version__
from binfm.curve import SizeCurve, size_curve
from binfm.export import get_include
from binfm.model import Feature, Model, load
from binfm.training import train
from binfm.tuning import Search
from binfm.versions import show_versions

__all__ = [
    "Feature",
    "Model",
    "ModelFormatError",
    "Search",
    "SizeCurve",
    "__version__",
    "get_include",
    "load",
    "plot",
    "reading",
    "show_versions",
    "size_curve",
    "train",
]
