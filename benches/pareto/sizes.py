"""Sizes of models whose package has no compact format: the smallest that a competent engineer could build.

Header, scales, labels and lengths are free, and so is rounding: the peers are scored with the floats of their own
package, so no implementation of these layouts can be more accurate.

Trees are stored in preorder without pointers, with one bit per node to tell leaves from splits. A split stores its
feature, either by number or by rank among the features in use (plus one bit per feature to mark those), and its
threshold, either in place or by rank in a table of distinct thresholds per feature: whichever is smaller. A threshold
takes 1 byte if the feature holds integers from 0 to 255, otherwise 2. A leaf takes 1 byte in a boosted tree (8-bit
leaves were seen to cost no accuracy) and the bits of a class number in a decision tree.

Linear models take 2 bytes per weight, with standardization folded in; softmax stores one class fewer than there are.
If weights are dropped, one bit per weight marks those that are kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

BOOSTED_LEAF_BITS = 8
WEIGHT_BITS = 16
BYTE_BITS, SHORT_BITS = 8, 16


def bits_for(count: int) -> int:
    """Return the number of bits needed to distinguish `count` items."""
    return max(count - 1, 0).bit_length()


def threshold_bits(X: NDArray[Any]) -> NDArray[np.int64]:
    """Return the width of each feature's thresholds in bits."""
    small_counts = ((X >= 0) & (X <= 255) & (np.floor(X) == X)).all(axis=0)
    return np.where(small_counts, BYTE_BITS, SHORT_BITS)


def trees(features: NDArray[Any], thresholds: NDArray[Any], leaves: int, leaf_bits: int, width: NDArray[Any]) -> int:
    """Return the bytes of trees with these splits; `width` comes from `threshold_bits`."""
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
    """Return the bytes of a linear model with `kept` weights in addition to the intercepts."""
    outputs = 1 if classes == 2 else classes
    needed = 1 if classes == 2 else classes - 1
    dense = needed * (features + 1) * WEIGHT_BITS
    sparse = outputs * features + (kept + outputs) * WEIGHT_BITS
    return _bytes(min(dense, sparse))


def _bytes(bits: int) -> int:
    return -(-bits // 8)
