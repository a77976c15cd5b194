"""A decision tree, fully grown and then cut: best split first, or by cost-complexity pruning."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from pareto import sizes
from pareto.ladder import steps, within_budgets
from pareto.problem import Codes, Problem
from pareto.search import Search, Settings
from pareto.store import Point
from pareto.systems.cuts import NEVER, best_first, pruned

CRITERIA = ("gini", "entropy")
MIN_LEAF_SAMPLES = (1, 3, 8, 20)
CUTS = {"best first": best_first, "pruned": pruned}


def measure(problem: Problem) -> dict[int, Point | None]:
    return Search(Family(), problem).points()


class Family:
    """Splits × criterion × minimum leaf size × order of splits."""

    def candidates(self, problem: Problem) -> list[Settings]:
        return [
            {"criterion": criterion, "min_samples_leaf": samples, "cut": cut}
            for criterion, samples, cut in product(CRITERIA, MIN_LEAF_SAMPLES, CUTS)
        ]

    def neighbors(self, settings: Settings) -> list[Settings]:
        least = settings["min_samples_leaf"]
        return [{**settings, "min_samples_leaf": near} for near in (max(1, least // 2), least + 1, 2 * least)]

    def fit(self, settings: Settings, X: NDArray[Any], y: Codes, classes: int) -> Cut:
        grown = DecisionTreeClassifier(
            criterion=settings["criterion"], min_samples_leaf=settings["min_samples_leaf"], random_state=0
        ).fit(X, y)
        turn = CUTS[settings["cut"]](grown.tree_)
        return Cut(grown.tree_, turn, classes, sizes.threshold_bits(X))


class Cut:
    """A tree that can be cut: `turn` is the order in which nodes are split, NEVER for leaves."""

    def __init__(self, tree: Any, turn: NDArray[np.int64], classes: int, width: NDArray[Any]) -> None:
        self.tree, self.turn = tree, turn
        self.winners = tree.value[:, 0, :].argmax(axis=1)
        self.turns = np.sort(turn[turn != NEVER])
        self.classes, self.width = classes, width
        self.sizes = within_budgets((step, self._bytes(step)) for step in steps(max(1, len(self.turns))))

    def predictions(self, X: NDArray[Any]) -> Iterator[Codes]:
        return (self.predict(step, X) for step in self.sizes)

    def predict(self, step: int, X: NDArray[Any]) -> Codes:
        split = self._split(step)
        tree, active = self.tree, np.arange(len(X))
        nodes = np.zeros(len(X), np.int64)
        while len(active := active[split[nodes[active]]]):
            node = nodes[active]
            left = X[active, tree.feature[node]] <= tree.threshold[node]
            nodes[active] = np.where(left, tree.children_left[node], tree.children_right[node])
        return self.winners[nodes]

    def _split(self, step: int) -> NDArray[np.bool_]:
        """Return the nodes that are split in the largest cut with at most `step` splits."""
        if len(self.turns) <= step:
            return self.turn != NEVER
        return self.turn < self.turns[step]

    def _bytes(self, step: int) -> int:
        split = self._split(step)
        leaf_bits = sizes.bits_for(self.classes)
        features, thresholds = self.tree.feature[split], self.tree.threshold[split]
        return sizes.trees(features, thresholds, int(split.sum()) + 1, leaf_bits, self.width)
