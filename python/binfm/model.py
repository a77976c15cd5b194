"""A finished model: immutable, a few kilobytes, the same bytes in memory, in a file and in a pickle."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from binfm._core import Model as Core
from binfm.attributes import Attributes
from binfm.data.arrays import read_table, table_to_score
from binfm.data.targets import Labels
from binfm.reading._readable import Readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from binfm.data.arrays import Csr, Dense, Table, Vocabularies
    from binfm.data.frames import Names
    from binfm.features import ColumnFacts
    from binfm.search.search import Search


class Model(Attributes, Readable):
    """A trained factorization machine: binarized, or of another `method` of the family.

    Created by :func:`binfm.train`, :func:`binfm.load` or :meth:`from_bytes`; it never changes.

    Examples
    --------
    >>> import numpy as np, binfm
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2))
    >>> model = binfm.train(X, (X**2).sum(axis=1) < 1.4, m=4)
    >>> model.predict([[0.0, 0.1], [2.0, 1.5]])
    array([ True, False])
    >>> model.nbytes < 250
    True
    """

    __slots__ = (
        "_classes",
        "_columns",
        "_core",
        "_history",
        "_ids",
        "_names",
        "_origin",
        "_vocabularies",
        "best_epoch",
        "search",
    )

    _core: Core
    _classes: NDArray[Any] | None
    _columns: tuple[ColumnFacts, ...] | None
    _history: tuple[dict[str, float], ...]
    _ids: tuple[int, ...]
    _names: Names
    _origin: dict[str, Any] | None
    _vocabularies: Vocabularies
    best_epoch: int | None
    """The epoch whose parameters were kept, counted from 1; None for a loaded model."""
    search: Search | None
    """What was tried to choose the parameters within `max_bytes`; None without that limit. Not saved."""

    def __init__(self) -> None:
        raise TypeError("Model cannot be called; use binfm.train, binfm.load or Model.from_bytes")

    @classmethod
    def _of(
        cls,
        core: Core,
        history: list[dict[str, float]] | None = None,
        best_epoch: int | None = None,
        search: Search | None = None,
        columns: tuple[ColumnFacts, ...] | None = None,
        origin: dict[str, Any] | None = None,
    ) -> Model:
        self = object.__new__(cls)
        labels = Labels(*core.labels())
        put = object.__setattr__
        put(self, "_core", core)
        put(self, "_classes", None if labels.kind == "none" else labels.as_array())
        put(self, "_history", tuple(dict(record) for record in history or ()))
        put(self, "_ids", tuple(core.id_columns))
        put(self, "_names", None if core.names is None else tuple(core.names))
        put(self, "_origin", origin)
        put(self, "_vocabularies", {j: core.vocabulary(j) for j in core.text_columns})
        put(self, "best_epoch", best_epoch)
        put(self, "search", search)
        put(self, "_columns", columns)
        return self

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} cannot be set: a model never changes")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name} cannot be deleted: a model never changes")

    # Scores

    def decision_function(self, X: Any, *, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the score of each sample: shape (n,), or (n, classes) if there are more than two.

        After regression the score is the predicted number; with the loss "poisson", its logarithm.

        Parameters
        ----------
        X
            Table of n samples with the features of training.
        n_jobs
            Number of threads; None means all cores. The scores do not depend on it.

        Examples
        --------
        >>> import numpy as np, binfm
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> model = binfm.train(X, X[:, 0] * X[:, 1] > 0, m=4)
        >>> model.decision_function(X[:3]).shape
        (3,)
        """
        return self._core.decision(self._to_score(X), n_jobs)

    def score_row(self, row: Any) -> float | list[float]:
        """Return the score of one sample: a float, or a list with one per class if there are more than two.

        For tight loops: it creates no arrays.

        Parameters
        ----------
        row
            1-D array, list or tuple with the features of training.

        Examples
        --------
        >>> import numpy as np, binfm
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> model = binfm.train(X, X[:, 0] * X[:, 1] > 0, m=4)
        >>> bool(model.score_row([0.5, -1.0]) == model.decision_function([[0.5, -1.0]])[0])
        True
        """
        if self._vocabularies:
            scores = self.decision_function(np.array([list(row)], dtype=object))[0]
            return scores.tolist()  # type: ignore[no-any-return]
        return self._core.score_row(row)

    def predict(self, X: Any, *, n_jobs: int | None = None) -> NDArray[Any]:
        """Return the class label of each sample, or the predicted number after regression.

        Examples
        --------
        >>> import numpy as np, binfm
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> model = binfm.train(X, X[:, 0] * X[:, 1] > 0, m=4)
        >>> model.predict([[1.0, 1.5], [-1.0, 1.5]])
        array([ True, False])
        """
        if self._classes is None:
            return self._core.numbers(self._to_score(X), n_jobs)
        classes: NDArray[Any] = self._classes[self._classify(X, n_jobs)]
        return classes

    def predict_proba(self, X: Any, *, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the probability of each class, shape (n, classes). The loss must be "logistic" or "softmax".

        With more than two classes and "logistic" each class has a logistic score of its own; they are scaled to add up
        to one.

        Examples
        --------
        >>> import numpy as np, binfm
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> model = binfm.train(X, X[:, 0] * X[:, 1] > 0, m=4)
        >>> bool(model.predict_proba([[1.0, 1.5]])[0, 1] > 0.9)
        True
        """
        return self._core.probabilities(self._to_score(X), n_jobs)

    def terms(self, X: Any, *, n_jobs: int | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return L and Q of each sample, with score = bias + alpha * L + beta**2 * Q; integers for "bfm".

        L is the sum of w over the active rows, Q the sum of v·v' over all pairs of active rows.

        Examples
        --------
        >>> import numpy as np, binfm
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> model = binfm.train(X, X[:, 0] * X[:, 1] > 0, m=4)
        >>> L, Q = model.terms(X)
        >>> scores = model.bias + model.alpha * L + model.beta**2 * Q
        >>> bool(np.allclose(scores, model.decision_function(X)))
        True
        """
        both = self._core.terms(self._to_score(X), n_jobs)
        outputs = self._core.outputs
        if outputs == 1:
            return both[:, 0].copy(), both[:, 1].copy()
        return both[:, :outputs].copy(), both[:, outputs:].copy()

    # History and size

    @property
    def history(self) -> list[dict[str, float]]:
        """A record of each epoch: epoch, loss and, with held-out samples, val_loss. Not saved."""
        return [dict(record) for record in self._history]

    @property
    def nbytes(self) -> int:
        """Size of the saved file in bytes, all included: column names, and the card if it was loaded with one."""
        return self._core.nbytes

    def size_report(self, target: str | None = None) -> dict[str, int]:
        """Return the bytes of each part of the saved file; they add up to ``nbytes``.

        With a target, return what the model needs there. Bytes of flash: ``flash`` is all of it, ``runtime`` the code,
        of which ``predict`` is for ``binfm_predict`` and ``check`` for ``binfm_check``, which is optional,
        and ``model`` the model without names and labels. Bytes of memory: ``row`` for a row of floats, ``active`` for
        its active rows, and ``stack``. And ``cycles`` or ``instructions`` of a prediction, estimated to within 15 %.

        Parameters
        ----------
        target
            "avr" (ATmega328P, in cycles), "cortex-m0", "cortex-m3" or "riscv32" (in instructions).

        Examples
        --------
        >>> import numpy as np, binfm
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> report = binfm.train(X, X[:, 0] * X[:, 1] > 0, m=4).size_report("avr")
        >>> report["flash"] == report["runtime"] + report["model"]
        True
        """
        if target is None:
            return dict(self._core.size_report())
        from binfm.export.devices import size_report

        return size_report(self, target)

    # Bytes

    @property
    def card(self) -> dict[str, Any] | None:
        """Where the model comes from; None if its file does not say so.

        After training: the version of binfm, the number of rows, the columns and their types, the settings, the best
        epoch, and the loss of that epoch, on held-out samples too if there were any. ``save(path, card=True)`` writes
        it into the file.

        Examples
        --------
        >>> import numpy as np, binfm
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> model = binfm.train(X, X[:, 0] * X[:, 1] > 0, m=4)
        >>> model.card["rows"], model.card["settings"]["m"]
        (500, 4)
        >>> blob = model.to_bytes(card="Signs of two numbers, by A. Nonymous")
        >>> binfm.Model.from_bytes(blob).card["text"]
        'Signs of two numbers, by A. Nonymous'
        """
        if self._core.card is not None:
            import json

            saved: dict[str, Any] = json.loads(self._core.card)
            return saved
        from binfm.card import facts

        return None if self._origin is None else facts(self, self._origin)

    def to_bytes(
        self, *, names: bool = True, labels: bool = True, card: bool | str | Mapping[str, Any] | None = None
    ) -> bytes:
        """Return the content of the saved file.

        Parameters
        ----------
        names
            Keep the column names; without them the file is smaller and the scores are the same.
        labels
            Keep the class labels; without them the file is smaller and predicts 0, 1, 2, … in their order.
        card
            The card (see :attr:`card`): True writes it, a text or a dict is added to it, False leaves it out. By
            default a model keeps the card it was loaded with, and a new one is saved without.

        Examples
        --------
        >>> import numpy as np, binfm
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> model = binfm.train(X, X[:, 0] * X[:, 1] > 0, m=4)
        >>> len(model.to_bytes()) == model.nbytes
        True
        """
        return self._carded(card).to_bytes(names, labels, card is not False)

    @classmethod
    def from_bytes(cls, blob: Any) -> Model:
        """Return the model saved in some bytes; raise ModelFormatError if they are damaged in any way.

        Examples
        --------
        >>> import numpy as np, binfm
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> model = binfm.train(X, X[:, 0] * X[:, 1] > 0, m=4)
        >>> binfm.Model.from_bytes(model.to_bytes()) == model
        True
        """
        if not isinstance(blob, bytes):
            try:
                blob = bytes(memoryview(blob))
            except TypeError:
                raise TypeError(f"blob must be bytes, got {type(blob).__name__}") from None
        return cls._of(Core.from_bytes(blob))

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        names: bool = True,
        labels: bool = True,
        card: bool | str | Mapping[str, Any] | None = None,
    ) -> None:
        """Write the model to a file. At any moment the path holds the old file or the whole new one.

        Parameters
        ----------
        path
            File to write.
        names
            Keep the column names; without them the file is smaller and the scores are the same.
        labels
            Keep the class labels; without them the file is smaller and predicts 0, 1, 2, … in their order.
        card
            The card (see :attr:`card`): True writes it, a text or a dict is added to it, False leaves it out. By
            default a model keeps the card it was loaded with, and a new one is saved without.

        Examples
        --------
        >>> import numpy as np, binfm
        >>> import pathlib, tempfile
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> model = binfm.train(X, X[:, 0] * X[:, 1] > 0, m=4)
        >>> path = pathlib.Path(tempfile.mkdtemp(), "model.binfm")
        >>> model.save(path)
        >>> path.stat().st_size == model.nbytes
        True
        """
        self._carded(card).save(_path(path), names, labels, card is not False)

    def export_c(self, path: str | os.PathLike[str], *, name: str = "model", runtime: bool = False) -> None:
        """Write the model as a C header for the runtime ``binfm.h``, which gives the same scores on any machine.

        The header holds the bytes of the file, describes features and classes, and has a self-test:
        ``<name>_selftest()`` scores some rows on the device and compares the scores with Python's.
        The same model gives the same text.

        Parameters
        ----------
        path
            File to write.
        name
            Prefix of its constants and arrays: ``<name>_model``, ``<NAME>_BYTES`` and so on.
        runtime
            Include the runtime in the file; otherwise a compiler finds it in ``binfm.get_include()``.

        Examples
        --------
        >>> import numpy as np, binfm, pathlib, tempfile
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> model = binfm.train(X, X[:, 0] * X[:, 1] > 0, m=4)
        >>> path = pathlib.Path(tempfile.mkdtemp(), "gesture.h")
        >>> model.export_c(path, name="gesture", runtime=True)
        >>> "static const uint8_t gesture_model[GESTURE_BYTES]" in path.read_text()
        True
        """
        from binfm.export.c import export_c

        export_c(self, _path(path), name=name, runtime=runtime)

    def __reduce__(self) -> tuple[Any, ...]:
        facts = (self.history, self.best_epoch, self.search, self._columns, self._origin)
        return _restore, (self.to_bytes(), *facts)

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.to_bytes(card=False) == other.to_bytes(card=False)

    def __hash__(self) -> int:
        return hash(self.to_bytes(card=False))

    def __repr__(self) -> str:
        task = "regression" if self._classes is None else f"{len(self._classes)} classes"
        w_bits = f", w_bits={self.w_bits}" if self.method == "bfm" and self.w_bits > 1 else ""
        shape = f"{self.n_features} features, m={self.m}{w_bits}, tilings={self.tilings}"
        method = "" if self.method == "bfm" else f"{self.method}, "
        return f"<binfm.Model: {method}{task}, {shape}, {self.nbytes} bytes>"

    def _repr_html_(self) -> str:
        from binfm.reading.html.notebook import model_card

        return model_card(self)

    def _carded(self, card: bool | str | Mapping[str, Any] | None) -> Core:
        """Return the model to write: with the card that was asked for."""
        if card is None or card is False:
            return self._core
        from binfm.card import to_text

        return self._core.with_card(to_text(self.card, card))

    def _classify(self, X: Any, n_jobs: int | None) -> NDArray[np.intp]:
        """Return the class number of each sample."""
        return self._core.classify(self._to_score(X), n_jobs)

    def _table(self, X: Any) -> Dense | Csr:
        return read_table(X, self._vocabularies, self._names, self._unused)

    def _to_score(self, X: Any) -> Table:
        return table_to_score(X, self._vocabularies, self._names, self._unused, self._ids)

    def _unused(self) -> Iterable[int]:
        return self._core.unused_columns


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model from a file; raise ModelFormatError if it is damaged in any way.

    Examples
    --------
    >>> import numpy as np, binfm
    >>> import pathlib, tempfile
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = binfm.train(X, X[:, 0] * X[:, 1] > 0, m=4)
    >>> path = pathlib.Path(tempfile.mkdtemp(), "model.binfm")
    >>> model.save(path)
    >>> binfm.load(path) == model
    True
    """
    return Model._of(Core.load(_path(path)))


def _restore(
    blob: bytes,
    history: list[dict[str, float]],
    best_epoch: int | None,
    search: Search | None = None,
    columns: tuple[ColumnFacts, ...] | None = None,
    origin: dict[str, Any] | None = None,
) -> Model:
    return Model._of(Core.from_bytes(blob), history, best_epoch, search, columns, origin)


def _path(path: str | os.PathLike[str]) -> str:
    try:
        return os.fsdecode(path)
    except TypeError:
        raise TypeError(f"path must be a path, got {type(path).__name__}") from None
