"""Binarized factorization machines: nonlinear tabular models of a few hundred bytes.

``binfm.train(X, y)`` returns a :class:`Model`; ``model.save(path)`` and ``binfm.load(path)`` keep it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from binfm._core import ModelFormatError, __version__
from binfm.model import Model, load
from binfm.parameters import Feature
from binfm.training import train

if TYPE_CHECKING:
    from binfm import plot, reading
    from binfm.curve import SizeCurve, size_curve
    from binfm.estimators import BinFMClassifier as BinFMClassifier
    from binfm.estimators import BinFMRegressor as BinFMRegressor
    from binfm.export import get_include
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

_LATER = {
    "SizeCurve": "curve",
    "size_curve": "curve",
    "get_include": "export",
    "Search": "tuning",
    "show_versions": "versions",
    "BinFMClassifier": "estimators",
    "BinFMRegressor": "estimators",
}
"""Where names are that are found on first use: an import takes the time of what training and scoring need, and no more.

The estimators need scikit-learn, and the rest does not.
"""
_PARTS = ("plot", "reading")
"""Modules that are found so, too."""


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return import_module(f"binfm.{name}")
    if name in _LATER:
        return getattr(import_module(f"binfm.{_LATER[name]}"), name)
    raise AttributeError(f"module 'binfm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, *_PARTS})
