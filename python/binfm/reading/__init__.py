"""Reading a model: what each cell, each pair of features and each sample adds to the score, exactly."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from binfm.reading.effects import Effects, FeatureEffects
    from binfm.reading.explanation import Explanation
    from binfm.reading.html import html_report
    from binfm.reading.interactions import Interactions, PairCells

__all__ = ["Effects", "Explanation", "FeatureEffects", "Interactions", "PairCells", "html_report"]

_LAZY = {
    "Effects": "effects",
    "Explanation": "explanation",
    "FeatureEffects": "effects",
    "Interactions": "interactions",
    "PairCells": "interactions",
    "html_report": "html",
}
"""Modules of the names, imported on first use: scoring does not wait for them."""


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"binfm.reading.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'binfm.reading' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
