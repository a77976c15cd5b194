"""A model as a C header: its bytes, a description of its features, and rows with their scores for a self-test."""

from __future__ import annotations

import hashlib
import json
import os
import re
import textwrap
import unicodedata
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from binfm import _core

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from binfm.attributes import Feature
    from binfm.model import Model

MAX_WORD = 60
"""Characters of a name in a constant; compilers need not tell longer ones apart."""
TEST_ROWS = 8
"""Rows of the self-test: as many as `_probes` has values for a feature, so that each value is in one of them."""
MAX_BYTES = 2**22 - 1
MAX_ACTIVE = 2**16 - 1
LINEAR_BITS = 21
PAIR_BITS = 32
SCORE_BITS = 61
"""The limits of binfm.h."""

_KEYWORD = re.compile(
    "auto|break|case|char|const|continue|default|do|double|else|enum|extern|float|for|goto|if|inline|int|long|register|"
    "restrict|return|short|signed|sizeof|static|struct|switch|typedef|union|unsigned|void|volatile|while"
)


def device_file(model: Model) -> bytes:
    """Return a model as a device has it: classes are numbers there, and columns have no names."""
    return model.to_bytes(names=False, labels=False, card=False)


def get_include() -> str:
    """Return the folder of ``binfm.h``, the C runtime, for a compiler's ``-I``.

    Examples
    --------
    >>> import os, binfm
    >>> os.listdir(binfm.get_include())
    ['binfm.h']
    """
    return str(Path(__file__).parents[1] / "include")


def export_c(model: Model, path: str | os.PathLike[str], *, name: str = "model", runtime: bool = False) -> None:
    """Write a model as a C header; see :meth:`binfm.Model.export_c`."""
    _check_name(name)
    if not isinstance(runtime, bool):
        raise TypeError(f"runtime must be True or False, got {runtime!r}")
    check_limits(model)
    text = "\n".join(_lines(model, name, runtime)) + "\n"
    _core.write_file(os.fsdecode(path), text.encode("ascii"))


def check_limits(model: Model) -> None:
    """Raise ValueError if the C runtime cannot run a model."""
    if model.method != "bfm":
        raise ValueError(f"model must have method 'bfm' for the C runtime, got {model.method!r}")
    active = model.tilings * sum(feature.kind != "unused" for feature in model.features)
    most_pairs = model.m * active * (active - 1) // 2
    _, multipliers = _core.multipliers(model._core)
    for what, got, most in (
        ("bytes", len(device_file(model)), MAX_BYTES),
        ("rows that can be active at once", active, MAX_ACTIVE),
        ("as 2**w_bits times the rows that can be active", active * 2**model.w_bits, 2**LINEAR_BITS - 1),
        ("as m times the square of the rows that can be active", model.m * active**2, 2**PAIR_BITS - 1),
        ("as the pair term of a score", int(max(pairs for _, _, pairs in multipliers)) * most_pairs, 2**SCORE_BITS - 1),
    ):
        if got > most:
            raise ValueError(f"model must have at most {most} {what} for the C runtime, got {got}")


def integer_scores(model: Model, rows: NDArray[np.float32]) -> list[list[int]]:
    """Return the scores of each row in units of 2**-exponent; a text category is given by its index."""
    _, multipliers = _core.multipliers(model._core)
    terms = model._core.terms(rows, 1).astype(object)
    linear, pairs = terms[:, : len(multipliers)], terms[:, len(multipliers) :]
    bias, a, c = (np.array(column, dtype=object) for column in zip(*multipliers, strict=True))
    scores: list[list[int]] = (bias + a * linear + c * pairs).tolist()
    return scores


# The self-test


def self_test(model: Model) -> bytes:
    """Return rows that touch every kind of cell, each followed by its scores."""
    probes = [_probes(feature) for feature in model.features]
    rows = np.array([[p[(r + j) % TEST_ROWS] for j, p in enumerate(probes)] for r in range(TEST_ROWS)], np.float32)
    scores = integer_scores(model, rows)
    pairs = zip(rows.astype("<f4"), np.array(scores).astype("<i8"), strict=True)
    return b"".join(row.tobytes() + score.tobytes() for row, score in pairs)


def _probes(feature: Feature) -> list[float]:
    """Return values of a feature: ordinary ones, ones at the edge of a cell, NaN, zeros and unknown categories."""
    if feature.kind == "categorical":
        known: Sequence[Any] = feature.categories
        numbers = range(len(known)) if isinstance(known[0], str) else known
        first, middle, last = (float(np.float32(numbers[i])) for i in (0, len(numbers) // 2, -1))
        return [first, np.nan, last, last + 1.0, middle, middle + 0.5, 0.0, -1.0]
    if len(feature.edges) == 0:
        return [1.0, np.nan, 0.0, -1.0, -0.0, np.inf, -np.inf, 0.5]
    first, middle, last = (feature.edges[i] for i in (0, len(feature.edges) // 2, -1))
    with np.errstate(over="ignore"):
        below = np.nextafter(np.array([first, middle, last], np.float32), np.float32(-np.inf))
    return [float(x) for x in (below[0], np.nan, first, middle, 0.0, below[1], -0.0, last)]


# The text


def _lines(model: Model, name: str, runtime: bool) -> Iterable[str]:
    blob, upper = device_file(model), name.upper()
    tests = self_test(model)
    yield from _comment(model, name)
    yield from (f"#ifndef BINFM_MODEL_{upper}", f"#define BINFM_MODEL_{upper}", "")
    yield (Path(get_include()) / "binfm.h").read_text("ascii") if runtime else '#include "binfm.h"\n'
    for what, value in _constants(model, blob):
        yield f"#define {upper}_{what} {value}"
    yield ""
    yield from _indices("Features, in the order of x.", f"{upper}_FEATURE", model.feature_names or ())
    yield from _indices("Classes.", f"{upper}_CLASS", _text_labels(model))
    yield from _array(f"{name}_model", f"{upper}_BYTES", blob)
    yield "/* Rows and their scores, for the self-test. */"
    yield from _array(f"{name}_tests", f"{len(tests)}u", tests)
    yield textwrap.dedent(f"""\
        /* BINFM_OK if the model is whole and this machine scores as Python does. It takes
         * {_self_test_stack(model)} bytes of stack, and what binfm_check takes. */
        static inline binfm_status {name}_selftest(void)
        {{
            float x[{upper}_FEATURES];
            uint32_t active[BINFM_ACTIVE({upper}_FEATURES)];

            return binfm_selftest({name}_model, {upper}_BYTES, {name}_tests, {upper}_TESTS, x, active);
        }}

        #endif""")


def _self_test_stack(model: Model) -> int:
    return 4 * model.n_features + 4 * (model.n_features + 2)


def _constants(model: Model, blob: bytes) -> list[tuple[str, str]]:
    exponent, _ = _core.layout(model._core)
    classes = 0 if model.classes is None else len(model.classes)
    return [
        ("ID", f'"{hashlib.sha256(blob).hexdigest()[:16]}"'),
        ("BYTES", f"{len(blob)}u"),
        ("FEATURES", f"{model.n_features}u"),
        ("OUTPUTS", f"{model._core.outputs}u"),
        ("CLASSES", f"{classes}u"),
        ("EXPONENT", f"({exponent})"),
        ("TESTS", f"{TEST_ROWS}u"),
    ]


def _text_labels(model: Model) -> list[str]:
    """Return the class labels if they are text; numbers are best used as they are."""
    labels = [] if model.classes is None else model.classes.tolist()
    return [label for label in labels if isinstance(label, str)]


def _indices(title: str, prefix: str, names: Sequence[str]) -> Iterable[str]:
    """Define a constant for the position of each name."""
    if names:
        yield f"/* {title} */"
        yield from (f"#define {prefix}_{word} {i}u" for i, word in enumerate(identifiers(names)))
        yield ""


def identifiers(names: Sequence[str]) -> list[str]:
    """Return a distinct C identifier in capitals for each name, which follows a prefix.

    Accents are dropped, and what is not a letter or digit becomes an underscore. Where nothing is left, or another name
    came out the same, the position is appended.
    """
    words = [_word(name) for name in names]
    counts = Counter(words)
    numbered = [word if word and counts[word] == 1 else f"{word}_{i}".strip("_") for i, word in enumerate(words)]
    taken = Counter(numbered)
    return [word if taken[word] == 1 else f"{word}__{i}" for i, word in enumerate(numbered)]


def _word(name: str) -> str:
    ascii_only = unicodedata.normalize("NFKD", name.upper()).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Z0-9]+", "_", ascii_only).strip("_")[:MAX_WORD]


def _array(name: str, size: str, data: bytes) -> Iterable[str]:
    yield f"static const uint8_t {name}[{size}] BINFM_FLASH = {{"
    for at in range(0, len(data), 20):
        yield "    " + ",".join(map(str, data[at : at + 20])) + ","
    yield "};\n"


def _comment(model: Model, name: str) -> Iterable[str]:
    """Describe the model and what x holds. Texts are escaped so that they cannot end the comment."""
    task = "regression" if model.classes is None else f"{len(model.classes)} classes"
    task += " with scores that are logarithms of predictions" if model.loss == "poisson" else ""
    lines = [
        f"{name}: a binfm model for {task}, {model.n_features} features, {len(device_file(model))} bytes.",
        f"Generated by binfm {_core.__version__}; do not edit.",
        "",
        "Features, in the order of x:",
        *(f"{j:6}  {_named(model, j)}{_feature(feature)}" for j, feature in enumerate(model.features)),
    ]
    if model.classes is not None:
        lines += ["", "Classes:", *(f"{k:6}  {_quoted(label)}" for k, label in enumerate(model.classes.tolist()))]
    yield "/*"
    for line in lines:
        wrapped = textwrap.wrap(line, 110, subsequent_indent=" " * 8, break_long_words=False, break_on_hyphens=False)
        yield from (f" * {part}".rstrip() for part in wrapped or [""])
    yield " */"


def _named(model: Model, j: int) -> str:
    return "" if model.feature_names is None else f"{_quoted(model.feature_names[j])}: "


def _feature(feature: Feature) -> str:
    if feature.kind == "unused":
        return "not used"
    missing = "" if feature.missing_row is None else "; NaN is a value of its own"
    if feature.kind == "numeric":
        return f"number, {feature.cells} cells{missing}"
    if isinstance(feature.categories[0], str):
        return "category, as " + ", ".join(f"{i} {_quoted(t)}" for i, t in enumerate(feature.categories)) + missing
    return "category, one of " + " ".join(map(str, feature.categories)) + missing


def _quoted(label: Any) -> str:
    return json.dumps(label).replace("/", "\\/")


def _check_name(name: Any) -> None:
    wanted = "a C identifier that begins with a letter, and not with binfm"
    if not isinstance(name, str):
        raise TypeError(f"name must be {wanted}, got {type(name).__name__}")
    reserved = _KEYWORD.fullmatch(name) or name.lower().startswith("binfm")
    if reserved or not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name):
        raise ValueError(f"name must be {wanted}, got {name!r}")
