"""Binarized factorization machines: nonlinear tabular models of a few hundred bytes.

``binfm.train(X, y)`` returns a :class:`Model`; ``model.save(path)`` saves it and ``binfm.load(path)`` loads it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from binfm._core import ModelFormatError, __version__
from binfm.attributes import Feature
from binfm.model import Model, load
from binfm.training import train

if TYPE_CHECKING:
    from binfm import plot, reading
    from binfm.cache import Cache
    from binfm.estimators import BinFMClassifier as BinFMClassifier
    from binfm.estimators import BinFMRegressor as BinFMRegressor
    from binfm.export import get_include
    from binfm.metrics import Metric
    from binfm.search import Search, SizeCurve, size_curve
    from binfm.versions import show_versions

__all__ = [
    "Cache",
    "Feature",
    "Metric",
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

_LAZY = {
    "Cache": "cache",
    "Metric": "metrics",
    "Search": "search",
    "SizeCurve": "search",
    "size_curve": "search",
    "get_include": "export",
    "show_versions": "versions",
    "BinFMClassifier": "estimators",
    "BinFMRegressor": "estimators",
}
"""Modules of the names imported on first use: an import loads what training and scoring need, which is numpy.

The estimators need scikit-learn; nothing else does.
"""
_LAZY_MODULES = ("plot", "reading")


def __getattr__(name: str) -> Any:
    if name in _LAZY_MODULES:
        return import_module(f"binfm.{name}")
    if name in _LAZY:
        return getattr(import_module(f"binfm.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'binfm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_LAZY_MODULES})
