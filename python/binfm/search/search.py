"""`binfm.train(X, y, max_bytes=N)`: the most accurate model within a size limit.

The size of a file is known before training, so only models that fit are ever trained, and the limit is hard. Successive
halving finds the best of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from binfm._progress import SearchProgress
from binfm._text import table
from binfm.search.halving import successive_halving
from binfm.search.trials import VARIED

if TYPE_CHECKING:
    from binfm.data.dataset import Dataset
    from binfm.params import Params
    from binfm.search.forecast import Forecast
    from binfm.search.trials import Trials


@dataclass(frozen=True)
class Search:
    """What a search within a size limit tried, and how well each candidate did. Prints as a table.

    ``trials`` has a dict for each candidate and rung: the ``rung``, the ``rows`` it was trained on and the number of
    ``folds``; its parameters, its number of ``features`` and the columns it leaves out (``leave_out``); its size
    ``nbytes``; its mean ``score`` on samples it had not seen and the ``spread`` of that (standard deviation over
    folds); and whether it was ``chosen``. ``metric`` names the score.

    Examples
    --------
    >>> import numpy as np, binfm
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
    >>> search = binfm.train(X, X[:, 0] * X[:, 1] > 0, max_bytes=100, epochs=5).search
    >>> search.chosen["nbytes"] <= 100
    True
    """

    max_bytes: int
    metric: str
    """Name of the score: ``"accuracy"``, ``"log_loss"``, ``"squared error"``, or that of `scoring`."""
    trials: tuple[dict[str, Any], ...] = field(repr=False)

    @classmethod
    def of(cls, trials: Trials, chosen: Params, max_bytes: int, metric: str) -> Search:
        """Report all trials; the last one of the chosen parameters is marked."""
        log = trials.log
        own = [i for i, trial in enumerate(log) if all(trial[name] == getattr(chosen, name) for name in VARIED)]
        return cls(max_bytes, metric, tuple({**trial, "chosen": i == own[-1]} for i, trial in enumerate(log)))

    @property
    def chosen(self) -> dict[str, Any]:
        """The trial that was chosen."""
        return dict(next(trial for trial in self.trials if trial["chosen"]))

    def __len__(self) -> int:
        return len(self.trials)

    def __str__(self) -> str:
        title = f"{len(self)} trials for {self.max_bytes} bytes; the score is {self.metric}, * marks the one chosen"
        names = [name for name in self.trials[0] if name not in ("chosen", "leave_out")]
        lines = [[_cell(trial[name]) for name in names] + ["*" * trial["chosen"]] for trial in self.trials]
        return title + "\n" + table([*names, ""], lines, left=0)

    def _repr_html_(self) -> str:
        from binfm.reading.html.notebook import search_card

        return search_card(self)


def search(dataset: Dataset, params: Params) -> tuple[Params, Search]:
    """Return the parameters of the best model of at most `max_bytes`, choosing those that are free."""
    limit = params.max_bytes or 0
    with SearchProgress(params.progress) as progress, successive_halving(dataset, params, progress) as halving:

        def steps(trials: Trials | Forecast) -> tuple[Params, Params] | None:
            chosen = halving.best(limit, trials)
            return None if chosen is None else (chosen, halving.with_best_init(chosen, limit, trials))

        found = halving.run(steps)
        if found is None:
            raise ValueError(
                f"max_bytes must be at least {halving.smallest}, the size of the smallest model of this data, "
                f"got {limit}"
            )
        chosen, initialized = found
        return initialized, Search.of(halving.trials, chosen, limit, halving.metric)


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
