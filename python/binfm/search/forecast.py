"""How much of a search is still to be done, for an honest estimate of the time left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from binfm.params import Params
    from binfm.search.trials import Trials


class Forecast:
    """Takes the place of `Trials`: walks the steps of a search without training, and counts what they would train.

    What has been tried has its real rank. Of the rest it is not known which will be promoted, so those of average cost
    are taken; the count is corrected as rungs finish.
    """

    def __init__(self, trials: Trials) -> None:
        self._trials = trials
        self._counted: set[tuple[Any, ...]] = set()
        self.fits = 0
        """Number of fits that are left."""
        self.cost = 0
        """What they cost together."""

    def rank(self, candidates: Sequence[Params], rung: int) -> list[Params]:
        """Return the candidates as they might be ranked."""
        trials, counted = self._trials, self._counted
        known = [candidate for candidate in candidates if trials.is_known(candidate, rung)]
        rest = {trials.key(candidate, rung): candidate for candidate in candidates if candidate not in known}
        costs = {key: trials.cost(candidate, rung) for key, candidate in rest.items()}
        for key in rest.keys() - counted:
            self.fits += len(trials.folds[rung])
            self.cost += len(trials.folds[rung]) * costs[key]
        mean = sum(costs.values()) / max(1, len(costs))
        order = sorted(rest, key=lambda key: (key not in counted, abs(costs[key] - mean)))
        counted |= rest.keys()
        return trials.ranked(known, rung) + [rest[key] for key in order]

    def with_least_training_loss(self, candidates: Sequence[Params]) -> Params:
        """Return the first candidate."""
        self.fits += len(candidates)
        self.cost += sum(map(self._trials.cost_on_all, candidates))
        return candidates[0]
