"""Bytes of models whose package has no small format: the least that a competent engineer could really build.

Nothing is charged for a header, scales, labels or lengths, nor for rounding: the peers are scored with the floats of
their own package, so no implementation of these layouts can be more accurate.

Trees, in preorder without pointers: a bit a node says leaf or split. A split names its feature, by number or by rank
among the features in use (then a bit a feature says which are), and its threshold, in place or by rank in its feature's
table of distinct thresholds: whichever is smaller. A threshold takes 1 byte where the feature holds whole numbers from
0 to 255, else 2. A leaf of a boosted tree takes 1 byte (8-bit leaves were seen to cost nothing), a leaf of a decision
tree the bits of a class number.

Linear models: 2 bytes a weight, standardisation folded in. Softmax needs one class less than there are. Weights may be
dropped: then a bit a weight says which are left.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

BOOSTED_LEAF_BITS = 8
WEIGHT_BITS = 16
BYTE_BITS, SHORT_BITS = 8, 16


def bits_for(count: int) -> int:
    """Return the bits that tell `count` things apart."""
    return max(count - 1, 0).bit_length()


def threshold_bits(X: NDArray[Any]) -> NDArray[np.int64]:
    """Return the width of each feature's thresholds."""
    small_counts = ((X >= 0) & (X <= 255) & (np.floor(X) == X)).all(axis=0)
    return np.where(small_counts, BYTE_BITS, SHORT_BITS)


def trees(features: NDArray[Any], thresholds: NDArray[Any], leaves: int, leaf_bits: int, width: NDArray[Any]) -> int:
    """Return the bytes of trees whose splits are `features` and `thresholds`; `width` is of `threshold_bits`."""
    flags = len(features) + leaves
    bits = flags + _feature_bits(features, len(width)) + _threshold_bits(features, thresholds, width)
    return _bytes(bits + leaves * leaf_bits)


def _feature_bits(features: NDArray[Any], count: int) -> int:
    by_number = len(features) * bits_for(count)
    by_rank = len(features) * bits_for(len(np.unique(features))) + count
    return min(by_number, by_rank)


def _threshold_bits(features: NDArray[Any], thresholds: NDArray[Any], width: NDArray[Any]) -> int:
    in_place = int(width[features].sum())
    distinct = np.unique(np.stack([features, thresholds]), axis=1)[0].astype(np.int64)
    longest = int(np.bincount(distinct).max()) if len(distinct) else 0
    by_rank = int(width[distinct].sum()) + len(features) * bits_for(longest)
    return min(in_place, by_rank)


def linear(kept: int, features: int, classes: int) -> int:
    """Return the bytes of a linear model with `kept` weights besides the intercepts."""
    functions = 1 if classes == 2 else classes
    needed = 1 if classes == 2 else classes - 1
    dense = needed * (features + 1) * WEIGHT_BITS
    sparse = functions * features + (kept + functions) * WEIGHT_BITS
    return _bytes(min(dense, sparse))


def _bytes(bits: int) -> int:
    return -(-bits // 8)
