"""The methods that explain a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from binfm.data.arrays import samples_of
from binfm.data.kinds import ValueKind, date_columns, kinds_of
from binfm.data.readers import is_table, read_frame

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from binfm._core import Model as Core
    from binfm.data.arrays import Csr, Dense
    from binfm.model import Model
    from binfm.reading._reference import Reference
    from binfm.reading.effects import Effects
    from binfm.reading.explanation import Explanation
    from binfm.reading.interactions import Interactions


class Readable:
    """What `binfm.Model` can tell about itself."""

    __slots__ = ()

    if TYPE_CHECKING:
        _core: Core
        _vocabularies: dict[int, list[str]]

        def _table(self, X: Any) -> Dense | Csr: ...

    def effects(self, X: Any = None) -> Effects:
        """Return what each cell of each feature adds to the score.

        A cell has an exact part of its own, a whole number, and a main effect: its own part plus the mean of its parts
        with the other features, minus the mean over all cells. If there are more than two classes, each has its own
        effects.

        Parameters
        ----------
        X
            Table whose cell frequencies, feature by feature, weight the means; None weights all cells of a feature
            equally, which for quantile bins is close to the training data.

        Examples
        --------
        >>> import numpy as np, binfm
        >>> X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 2))
        >>> effects = binfm.train(X, X[:, 0] > 0, b=8, tilings=2).effects(X)
        >>> bool(effects.strength[0] > 5 * effects.strength[1])
        True
        >>> (effects[0].effect > 0).tolist()  # cells to the left of 0 lower the score
        [False, False, False, False, True, True, True]
        """
        from binfm.reading.effects import Effects

        self._check_bins("effects")
        return Effects(cast("Model", self), self._reference(X))

    def feature_importances(self, X: Any = None) -> NDArray[np.float64]:
        """Return the share of the variance of the score that each column explains: they add up to 1.

        If features vary independently, the variance of the score is the sum of the variances of main effects and
        interactions, and half of an interaction belongs to each of its features (Shapley effects). Exact for the model,
        and without randomness or labels; it says how much the model uses a feature, not how much it should.

        Parameters
        ----------
        X
            Table whose cell frequencies count, feature by feature; None weights all cells of a feature equally, which
            gives rare categories too much weight.

        Examples
        --------
        >>> import numpy as np, binfm
        >>> X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 3))
        >>> model = binfm.train(X, X[:, 0] * X[:, 2] > 0, b=8, tilings=2)
        >>> model.feature_importances(X).round(1)
        array([0.5, 0. , 0.5])
        """
        from binfm.reading._importances import importances

        self._check_bins("feature_importances")
        return importances(self._reference(X))

    def interactions(self, X: Any = None, *, features: Sequence[int | str] | None = None) -> Interactions:
        """Return how strongly each pair of features interacts, beyond the effects of each feature.

        Parameters
        ----------
        X
            Table whose cell frequencies count, feature by feature; None weights all cells of a feature equally.
        features
            Columns, by number or name, to pair; None means all, up to 2,000.

        Examples
        --------
        >>> import numpy as np, binfm
        >>> X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 3))
        >>> pairs = binfm.train(X, X[:, 0] * X[:, 2] > 0, b=8, tilings=2).interactions()
        >>> pairs.order(1)
        [(0, 2)]
        >>> pairs.cells(0, 2).pairs.shape
        (7, 7)
        """
        from binfm.reading.interactions import Interactions

        self._check_bins("interactions")
        return Interactions(cast("Model", self), self._reference(X), features)

    def explain(self, row: Any, X: Any = None) -> Explanation:
        """Return what each feature of one sample adds to its score, in whole numbers that add up to it.

        If weights are floats, they are floats in units of the score and add up except for rounding.

        Parameters
        ----------
        row
            1-D array, list or tuple with the features of training, or a table of one sample.
        X
            Table whose mean score the sample is compared with; None weights all cells of a feature equally.

        Examples
        --------
        >>> import numpy as np, binfm
        >>> X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 3))
        >>> model = binfm.train(X, X[:, 0] * X[:, 2] > 0, b=8, tilings=2)
        >>> why = model.explain([0.7, 0.1, -0.8])
        >>> bool((why.bias + why.contributions.sum()) * why.unit == model.score_row([0.7, 0.1, -0.8]))
        True
        """
        from binfm.reading.explanation import Explanation

        row = read_frame(row) if is_table(row) else row
        table = self._one_row(row)
        return Explanation(cast("Model", self), self._reference(X, date_columns(row)), table)

    def _check_bins(self, what: str) -> None:
        if self._core.method in ("fm", "dfm"):
            raise ValueError(f"{what} needs a model with bins, of method 'bfm' or 'sefm', got {self._core.method!r}")

    def _one_row(self, row: Any) -> Dense | Csr:
        if not hasattr(row, "tocsr") and not is_table(row) and len(np.shape(row)) < 2:
            row = np.array([list(row)], dtype=object) if self._vocabularies else np.atleast_1d(np.asarray(row))[None]
        table = self._table(row)
        if samples_of(table) != 1:
            raise ValueError(f"row must be one sample, got {samples_of(table)}")
        return table

    def _reference(self, X: Any, dates: Iterable[int] = ()) -> Reference:
        """Return the frequencies of X; without it, `dates` are the columns known to hold dates."""
        from binfm.reading._parts import Parts
        from binfm.reading._reference import Reference

        if X is None:
            return Reference(Parts(self._core), kinds={j: ValueKind(is_date=True) for j in dates})
        X = read_frame(X) if is_table(X) else X  # once: a stream of columns ends
        table = self._table(X)
        return Reference(Parts(self._core), table, samples_of(table), kinds_of(X, table))
