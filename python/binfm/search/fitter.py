"""Trains candidates. Those with the same bins and features share one encoding of the samples."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Lock
from typing import TYPE_CHECKING

from binfm import _core
from binfm.search.sizes import Bins

if TYPE_CHECKING:
    from typing import TypeAlias

    from binfm.data.dataset import Dataset
    from binfm.params import Params

    Key: TypeAlias = tuple[Dataset, Bins, tuple[int, ...]]
    """A dataset, how it is cut, and the columns that are left out."""

MAX_BYTES = 1 << 26
"""Bytes of encoded samples to keep. A rung of a search needs a few megabytes, unless there are very many columns."""


class Fitter:
    """Trains models, each on the calling thread. What several threads need is encoded by one of them.

    Encoded samples are kept until others need their room, or until the search is over.
    """

    def __init__(self, stop: _core.Stop, max_bytes: int = MAX_BYTES) -> None:
        self._stop = stop
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._kept: dict[Key, Future[_core.TrainingSet]] = {}  # the least recently used first

    def fit(self, dataset: Dataset, params: Params) -> _core.Model:
        """Train a model."""
        return self._encoded(dataset, params).fit(params.core(), params.schedule(), self._stop)

    def close(self) -> None:
        """Forget all samples."""
        with self._lock:
            self._kept.clear()

    @property
    def nbytes(self) -> int:
        """Bytes of the encoded samples that are kept."""
        with self._lock:
            return sum(map(_nbytes, self._kept.values()))

    def _encoded(self, dataset: Dataset, params: Params) -> _core.TrainingSet:
        """Return encoded samples; if another thread is encoding them, wait for it."""
        key = (dataset, Bins.of(params), params.leave_out)
        with self._lock:
            found = self._kept.pop(key, None)
            kept = self._kept[key] = found or Future()
        if found is None:
            try:
                kept.set_result(_core.TrainingSet(dataset, params.core(), params.leave_out, self._stop))
            except BaseException as error:
                kept.set_exception(error)  # for whoever waits for it, too
                with self._lock:
                    self._kept.pop(key, None)
            self._make_room(key)
        return kept.result()

    def _make_room(self, newest: Key) -> None:
        """Forget what was not used for longest, while there are too many bytes."""
        with self._lock:
            sizes = {key: _nbytes(kept) for key, kept in self._kept.items()}
            total = sum(sizes.values())
            for key, size in sizes.items():
                if total > self._max_bytes and size and key != newest:
                    del self._kept[key]
                    total -= size


def _nbytes(kept: Future[_core.TrainingSet]) -> int:
    """Return the bytes of encoded samples; 0 while they are being encoded."""
    return kept.result().nbytes if kept.done() and not kept.exception() else 0
