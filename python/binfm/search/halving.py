"""Successive halving: many candidates on few samples, the better ones on more.

Many shapes (features, m, bins) are tried on few samples, the better ones with more factors on more samples, the best
few on all folds, and the best of all with a few features more or less; then with other losses, step sizes, numbers of
epochs, dropout and polish, and as an ensemble. The rungs are judgment, checked for time and plausibility.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from binfm import _core
from binfm.search.candidates import Candidates
from binfm.search.features import rank_features
from binfm.search.fitter import Fitter
from binfm.search.forecast import Forecast
from binfm.search.pool import WorkerPool
from binfm.search.sizes import Sizes
from binfm.search.trials import FOLDS, Rung, Trials, default_measure

if TYPE_CHECKING:
    from binfm._progress import SearchProgress
    from binfm.data.dataset import Dataset
    from binfm.params import Params

RUNGS = (
    Rung(values=200_000, samples=(1_200, 2_500), folds=1, epochs=0.5, keep=8, keep_full=3),
    Rung(values=400_000, samples=(2_000, 5_000), folds=1, epochs=2 / 3, keep=3, keep_full=1),
    Rung(values=1_200_000, samples=(3_000, 20_000), folds=2, epochs=1.0, keep=1),
    Rung(values=1_200_000, samples=(20_000, 20_000), folds=FOLDS, epochs=1.0, keep=1, split=1),
)
FIRST, SECOND, LAST, FRESH = range(len(RUNGS))
"""The rungs by name. `FRESH` scores what was chosen on folds that had no part in choosing it."""
RANKER: dict[str, Any] = {"m": 6, "b": 8, "tilings": 2, "epochs": 15, "ensemble": 1}
"""The model that ranks features: as small as those that have to do with few."""
INITS = 4
"""Inits of a small model; the one with the least training loss is kept."""
INITS_UP_TO = 1024
"""Size in bytes up to which several inits are tried. With 3 factors and 6 bins four of them gave 0.75 points on average
over six data sets, three splits inside the training part; with 8 factors and 12 bins, or more, they gave nothing.
Choosing the init on held-out samples lost 0.4 points. Smoothed labels gave up to 2 points here and took up to 2
there."""
SEEDS = 2**63
"""Number of seeds."""

Chosen = TypeVar("Chosen")


@contextmanager
def successive_halving(dataset: Dataset, params: Params, progress: SearchProgress) -> Iterator[SuccessiveHalving]:
    """Prepare a search for any number of limits: what they have in common is tried once."""
    if "m" in params.free:
        params = params.replace(m=params.ensemble)  # the fewest there can be
    stop = _core.Stop()
    with closing(Fitter(stop)) as fitter, WorkerPool(params.n_jobs, stop, progress.advance) as pool:
        yield SuccessiveHalving(dataset.weighted(), params, pool, fitter, progress)


class SuccessiveHalving:
    """A search for the best parameters within a size limit."""

    def __init__(
        self, dataset: Dataset, base: Params, pool: WorkerPool, fitter: Fitter, progress: SearchProgress
    ) -> None:
        self._progress = progress
        sizes = Sizes(dataset, base)
        self._candidates = Candidates(dataset, base, sizes)
        pool.map(sizes.learn, self._candidates.bins)
        measure = base.measure() or default_measure(dataset, base)
        self.trials = Trials(dataset, sizes, pool, fitter, RUNGS, base.seed, measure)
        ranker = base.replace(early_stopping=False, holdout=0.0, **RANKER)
        self._candidates.least_needed = rank_features(self.trials.folds[SECOND][0], ranker, fitter, pool)
        own = "squared error" if dataset.is_regression else "accuracy"
        self.metric = own if measure is None else measure.name

    @property
    def smallest(self) -> int:
        """Size of the smallest candidate."""
        return self._candidates.smallest

    def run(self, steps: Callable[[Trials | Forecast], Chosen]) -> Chosen:
        """Take the steps of a search, and before each of them forecast how much is left."""

        def expect() -> None:
            forecast = Forecast(self.trials)
            steps(forecast)
            self._progress.expect(forecast.fits, forecast.cost)

        if self._progress.is_shown:
            self.trials.before_step = expect
        return steps(self.trials)

    def best(self, limit: int, trials: Trials | Forecast, also: Sequence[Params] = ()) -> Params | None:
        """Return the best candidate of at most `limit` bytes, or one of `also`; None if none fits."""
        candidates, rank = self._candidates, trials.rank
        shapes = candidates.shapes(limit)
        if not shapes:
            return None
        shapes = _promoted(rank(shapes, FIRST), RUNGS[FIRST])
        shapes = _promoted(rank(candidates.with_more_factors(shapes, limit), SECOND), RUNGS[SECOND])
        best = rank(shapes, LAST)[0]
        for variants in (candidates.with_other_features, candidates.with_other_losses, candidates.trained_otherwise):
            best = rank([best, *variants(best, limit)], LAST)[0]
        return rank([best, *candidates.ensembles(best, limit), *also], LAST)[0]

    def with_best_init(self, chosen: Params, limit: int, trials: Trials | Forecast) -> Params:
        """Return the parameters with the seed of the best init, if the model is so small that it matters."""
        if limit > INITS_UP_TO or chosen.early_stopping or not chosen.free:
            return chosen
        inits = [chosen.replace(seed=(chosen.seed + i) % SEEDS) for i in range(INITS)]
        return trials.with_least_training_loss(inits)


def _promoted(ranked: list[Params], rung: Rung) -> list[Params]:
    """Return the candidates for the next rung: the best, and the best of those with all features."""
    best = ranked[: rung.keep]
    full = [candidate for candidate in ranked if not candidate.leave_out]
    return best + [candidate for candidate in full[: rung.keep_full] if candidate not in best]
