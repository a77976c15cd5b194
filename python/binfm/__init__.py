"""Binarized factorization machines: nonlinear tabular models of a few hundred bytes.

``binfm.train(X, y)`` returns a :class:`Model`; ``model.save(path)`` and ``binfm.load(path)`` keep it.
"""

from typing import TYPE_CHECKING, Any

from binfm import plot, reading
from binfm._core import ModelFormatError, __version__
from binfm.curve import SizeCurve, size_curve
from binfm.export import get_include
from binfm.model import Model, load
from binfm.parameters import Feature
from binfm.training import train
from binfm.tuning import Search
from binfm.versions import show_versions

if TYPE_CHECKING:
    from binfm.estimators import BinFMClassifier as BinFMClassifier
    from binfm.estimators import BinFMRegressor as BinFMRegressor

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

_ESTIMATORS = ("BinFMClassifier", "BinFMRegressor")
"""Found on first use: they need scikit-learn, and the rest does not."""


def __getattr__(name: str) -> Any:
    if name in _ESTIMATORS:
        from binfm import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module 'binfm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_ESTIMATORS})
