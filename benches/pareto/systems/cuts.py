"""The order in which the nodes of a grown scikit-learn tree are split, so that one fit serves all sizes."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

NEVER = np.iinfo(np.int64).max
"""The turn of a leaf."""


def best_first(tree: Any) -> NDArray[np.int64]:
    """Return each node's turn if the split with the largest gain goes first, as with max_leaf_nodes."""
    risks = _risks(tree)
    left, right = tree.children_left, tree.children_right
    gains = risks - risks[left] - risks[right]
    turn = np.full(tree.node_count, NEVER)
    waiting = [(-gains[0], 0)] if left[0] >= 0 else []
    count = 0
    while waiting:
        node = heapq.heappop(waiting)[1]
        turn[node] = count = count + 1
        for child in (left[node], right[node]):
            if left[child] >= 0:
                heapq.heappush(waiting, (-gains[child], child))
    return turn


def pruned(tree: Any) -> NDArray[np.int64]:
    """Return each node's turn if the weakest link goes last, as with ccp_alpha."""
    links = _Links(tree)
    split = np.flatnonzero(tree.children_left >= 0)
    weakest = [(links.strength(node), node) for node in split]
    heapq.heapify(weakest)
    turn = np.full(tree.node_count, NEVER)
    for later in range(len(split), 0, -1):
        while weakest and not links.is_current(*weakest[0]):
            heapq.heappop(weakest)
        if not weakest:
            break
        node = heapq.heappop(weakest)[1]
        turn[links.cut(node)] = later
        for above in links.above(node):
            heapq.heappush(weakest, (links.strength(above), above))
    return turn


def _risks(tree: Any) -> NDArray[np.float64]:
    return tree.weighted_n_node_samples * tree.impurity


class _Links:
    """The branches of a tree during pruning: number of leaves and risk below each node."""

    def __init__(self, tree: Any) -> None:
        self.risks = _risks(tree)
        self.below, self.leaves, self.nodes = self.risks.copy(), np.ones(tree.node_count), np.ones(tree.node_count, int)
        self.parent = np.full(tree.node_count, -1)
        self.split = tree.children_left >= 0
        for node in np.flatnonzero(self.split)[::-1]:  # children come after their parents
            children = [tree.children_left[node], tree.children_right[node]]
            self.parent[children] = node
            self.below[node], self.leaves[node] = self.below[children].sum(), self.leaves[children].sum()
            self.nodes[node] += self.nodes[children].sum()

    def strength(self, node: int) -> float:
        """Return the average gain per leaf of the branch."""
        return (self.risks[node] - self.below[node]) / (self.leaves[node] - 1)

    def is_current(self, strength: float, node: int) -> bool:
        return bool(self.split[node]) and strength == self.strength(node)

    def above(self, node: int) -> list[int]:
        """Return the ancestors of a node, the nearest first."""
        found = []
        while (node := self.parent[node]) >= 0:
            found.append(node)
        return found

    def cut(self, node: int) -> NDArray[np.int64]:
        """Turn a node into a leaf and return the nodes that are no longer split."""
        gone = node + np.flatnonzero(self.split[node : node + self.nodes[node]])  # the nodes of a branch are contiguous
        leaves, below = self.leaves[node] - 1, self.risks[node] - self.below[node]
        for above in self.above(node):
            self.leaves[above] -= leaves
            self.below[above] += below
        self.leaves[node], self.below[node] = 1, self.risks[node]
        self.split[gone] = False
        return gone
