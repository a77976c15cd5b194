"""The card of a model: where it comes from, for those who find its file later.

It holds nothing that differs between two runs with the same data, parameters and seed: no date, no machine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from binfm import _core
from binfm.params import DEFAULTS, PARAMETERS

if TYPE_CHECKING:
    from binfm.attributes import Feature
    from binfm.cache.cache import Stored
    from binfm.data.dataset import Dataset
    from binfm.model import Model
    from binfm.params import Params

MAX_COLUMNS = 1000
"""A card lists as many columns; of wider tables it has the number of each type."""
LEFT_OUT = ("categorical", "eval_metric", "scoring", "n_jobs", "progress", "callback")
"""Parameters that do not describe a model: columns have their types, and the others leave no trace in it."""


def origin(dataset: Dataset | Stored, params: Params) -> dict[str, Any]:
    """Return what a card says that is not in the model."""
    return {
        "rows": len(dataset),
        "settings": {name: getattr(params, name) for name in PARAMETERS if name not in LEFT_OUT},
    }


def facts(model: Model, made_of: dict[str, Any]) -> dict[str, Any]:
    """Return the card of a model with a certain origin."""
    kept = model.history[(model.best_epoch or len(model.history)) - 1]
    return {
        "binfm": _core.__version__,
        "rows": made_of["rows"],
        "columns": _columns(model),
        "settings": dict(made_of["settings"]),
        "best_epoch": model.best_epoch,
        "metrics": {name: value for name, value in kept.items() if name != "epoch"},
    }


def to_text(card: dict[str, Any] | None, given: bool | str | Mapping[str, Any]) -> str:
    """Return the JSON to save for a model with some card: the card, with what the caller adds."""
    if isinstance(given, str):
        given = {"text": given}
    if not isinstance(given, bool | Mapping):
        raise TypeError(f"card must be True, False, a text or a dict, got {type(given).__name__}")
    if given is True and card is None:
        raise ValueError("card must be a text or a dict for a model that has none, got True")
    added = {} if isinstance(given, bool) else dict(given)
    if any(not isinstance(name, str) for name in added):
        raise TypeError("card must have text as keys")
    try:
        return json.dumps({**(card or {}), **added}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"card must hold only what JSON can: {error}") from None


def card_lines(card: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return a card as pairs of a name and a line of text; of settings those that differ from the defaults."""
    return [(str(name).replace("_", " "), _line(name, value)) for name, value in card.items()]


def _line(name: str, value: Any) -> str:
    if name == "columns" and isinstance(value, list):
        kinds = [str(column.get("type")) if isinstance(column, dict) else "?" for column in value]
        value = {kind: kinds.count(kind) for kind in sorted(set(kinds))}
    if name == "settings" and isinstance(value, dict):
        value = {key: each for key, each in value.items() if DEFAULTS.get(key, ...) != each}
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_line('', each)}" for key, each in value.items())
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _columns(model: Model) -> list[dict[str, Any]] | dict[str, int]:
    kinds = [_kind(feature) for feature in model.features] if model.n_features > MAX_COLUMNS else []
    if kinds:
        return {kind: kinds.count(kind) for kind in sorted(set(kinds))}
    names = model.feature_names
    return [
        {**({} if names is None else {"name": names[j]}), "type": _kind(feature), **_cells(feature)}
        for j, feature in enumerate(model.features)
    ]


def _kind(feature: Feature) -> str:
    if feature.kind != "categorical":
        return "number" if feature.kind in ("numeric", "raw") else feature.kind
    return "text" if isinstance(feature.categories[0], str) else "category"


def _cells(feature: Feature) -> dict[str, Any]:
    if feature.kind not in ("numeric", "categorical"):
        return {}
    missing = {} if feature.missing_row is None else {"missing": True}
    return {"cells" if feature.kind == "numeric" else "categories": feature.cells, **missing}
