"""Bits of one output by the paper's Table 1, for d features, m factors and b bins."""

from __future__ import annotations

FLOAT = 32
"""Bits of a weight that is not binarized."""


def fm(d: int, m: int, b: int) -> int:
    return FLOAT * (d + m * d)


def sefm(d: int, m: int, b: int) -> int:
    return FLOAT * (d * b + m * d * b)


def dfm(d: int, m: int, b: int) -> int:
    return FLOAT * d + m * d


def bfm(d: int, m: int, b: int) -> int:
    return d * b + m * d * b
