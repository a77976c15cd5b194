"""The methods by which a model is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from binfm._inputs import rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from binfm._core import Model as Core
    from binfm._inputs import Csr, Dense
    from binfm.model import Model
    from binfm.reading._reference import Reference
    from binfm.reading.effects import Effects
    from binfm.reading.explanation import Explanation
    from binfm.reading.interactions import Interactions


class Readable:
    """What `binfm.Model` can tell of itself."""

    __slots__ = ()

    if TYPE_CHECKING:
        _core: Core
        _vocabularies: dict[int, list[str]]

        def _table(self, X: Any) -> Dense | Csr: ...

    def effects(self, X: Any = None) -> Effects:
        """Return what each bin of each feature brings to the score.

        A cell has an exact own part, a whole number, and a main effect: its own part and the mean of its parts with the
        other features, less the mean over all cells. Where there are more than two classes, each has its own effects.

        Parameters
        ----------
        X
            Table whose frequencies of cells the means are taken over, each feature by itself; None takes all cells of a
            feature alike, which for quantile bins is about what training had.

        Examples
        --------
        >>> import numpy as np, binfm
        >>> X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 2))
        >>> effects = binfm.train(X, X[:, 0] > 0, b=8, tilings=2).effects(X)
        >>> bool(effects.strength[0] > 5 * effects.strength[1])
        True
        >>> (effects[0].effect > 0).tolist()  # bins to the left of 0 lower the score
        [False, False, False, False, True, True, True]
        """
        from binfm.reading.effects import Effects

        self._check_bins("effects")
        return Effects(cast("Model", self), self._reference(X))

    def interactions(self, X: Any = None, *, features: Sequence[int | str] | None = None) -> Interactions:
        """Return how strongly each pair of features acts together, beyond the effects of each by itself.

        Parameters
        ----------
        X
            Table whose frequencies of cells count, each feature by itself; None takes all cells of a feature alike.
        features
            Columns, by number or name, whose pairs are wanted; None is all, up to 2,000.

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
        """Return what each feature of one row brings to its score, in whole numbers that add up to it.

        Where weights are floats they are floats in units of the score, and add up but for rounding.

        Parameters
        ----------
        row
            1-D array, list or tuple of the features of training, or a table of one row.
        X
            Table whose mean score the row is compared with; None takes all cells of a feature alike.

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

        return Explanation(cast("Model", self), self._reference(X), self._one_row(row))

    def _check_bins(self, what: str) -> None:
        if self._core.method in ("fm", "dfm"):
            given = f"a model of method {self._core.method!r}, which has no bins"
            raise ValueError(f"{what}: got {given}; accepted are 'bfm' and 'sefm'")

    def _one_row(self, row: Any) -> Dense | Csr:
        if not hasattr(row, "tocsr") and len(np.shape(row)) < 2:
            row = np.array([list(row)], dtype=object) if self._vocabularies else np.atleast_1d(np.asarray(row))[None]
        table = self._table(row)
        if rows_of(table) != 1:
            raise ValueError(f"row: got a table of {rows_of(table)} rows; accepted is one row")
        return table

    def _reference(self, X: Any) -> Reference:
        from binfm.reading._parts import Parts
        from binfm.reading._reference import Reference

        if X is None:
            return Reference(Parts(self._core))
        table = self._table(X)
        return Reference(Parts(self._core), table, rows_of(table))
