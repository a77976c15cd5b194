"""The model in thirty lines of numpy: the textbook formulas over arrays of w and ±1, pair by pair, with no tricks."""

import math
import struct

import numpy as np


def header(blob):
    """Return the fixed fields of a model file and the integer scales (bias, a, c) of each output."""
    names = "magic version flags length features m outputs tilings loss shift_a shift_c shift_bias exponent edges"
    fields = dict(zip(names.split(), struct.unpack_from("<4sBBIIHHBBBBBhH", blob), strict=True))
    fields["w_bits"], fields["shift_a"] = fields["shift_a"] // 32 + 1, fields["shift_a"] % 32
    if fields["outputs"] == 1:
        return fields, [struct.unpack_from("<iHH", blob, 27)]
    short = [struct.unpack_from("<bB", blob, 27 + 2 * k) for k in range(fields["outputs"])]
    return fields, [(bias, both % 16, both // 16) for bias, both in short]


def cell(feature, value):
    """Return the cell of a value other than NaN, or None for an unknown category."""
    if feature.kind == "categorical":
        text = len(feature.categories) > 0 and isinstance(feature.categories[0], str)
        known = {category: c for c, category in enumerate(feature.categories)}
        return known.get(str(value) if text else value)
    return int(np.count_nonzero(_float32(value) >= feature.edges))


def _float32(value):
    with np.errstate(over="ignore"):
        return np.float32(float(value))


def active_rows(model, values):
    """Return the parameter rows that one sample activates."""
    return _active_rows(header(model.to_bytes())[0], model.features, values)


def _active_rows(fields, features, values):
    rows = []
    for feature, value in zip(features, values, strict=True):
        missing = value is None or value != value
        if feature.kind == "unused" or (fields["flags"] & 1 and not missing and _float32(value) == 0):
            continue
        c = None if missing else cell(feature, value)
        start = feature.missing_row if missing else None if c is None else feature.rows.start + c * feature.stride
        rows += [] if start is None else range(start, start + fields["tilings"])
    return rows


def terms(model, table):
    """Return L = Σ w_r and Q = Σ_{r<s} v_r·v_s over the active rows, each of shape (samples, outputs)."""
    fields, features, w, V = header(model.to_bytes())[0], model.features, np.atleast_2d(model.w), model.V
    V = V[None] if V.ndim == 2 else V
    active = [_active_rows(fields, features, values) for values in table]
    L = [[int(w[k, rows].sum(dtype=np.int64)) for k in range(len(w))] for rows in active]
    Q = [[_pairs(V[k, rows].astype(np.float32)) for k in range(len(w))] for rows in active]
    return np.array(L, np.int64).reshape(-1, len(w)), np.array(Q, np.int64).reshape(-1, len(w))


def _pairs(v):
    return int(np.triu(v @ v.T, 1).sum(dtype=np.float64))  # exact in both types: the numbers are small integers


def integer_scores(model, table):
    """Return the score of each sample and output as a Python integer, and the exponent e of its unit 2**-e."""
    h, scales = header(model.to_bytes())
    L, Q = terms(model, table)
    return [
        [
            (bias << h["shift_bias"]) + (a << h["shift_a"]) * int(x) + (c << h["shift_c"]) * int(q)
            for (bias, a, c), x, q in zip(scales, ls, qs, strict=True)
        ]
        for ls, qs in zip(L, Q, strict=True)
    ], h["exponent"]


def scores(model, table):
    """Return the float scores: one rounding of the exact integer."""
    integers, exponent = integer_scores(model, table)
    return np.array([[math.ldexp(float(i), -exponent) for i in row] for row in integers])
