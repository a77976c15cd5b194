"""`binfm.Cache`: encoded samples in a file, to train on as often as wanted."""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import numpy as np

from binfm import _core
from binfm.cache.file import Mapped
from binfm.cache.survey import check_readable_in_parts
from binfm.data.dataset import Dataset
from binfm.data.sources import open_source
from binfm.data.targets import Labels
from binfm.features import ColumnFacts
from binfm.params import CHOSEN, Params

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm.data.sources import Source
    from binfm.search.search import Search

ENCODING = ("b", "tilings", "binning", "min_count")
"""Parameters that cannot change once samples are encoded."""
LOOK_INTERVAL = 0.01
RELEASED = 1 << 27
"""Seconds between two looks at the memory that mapped files take, and the bytes above which it is given back."""


@dataclass(frozen=True, eq=False)
class Stored:
    """The samples of a cache. The core reads the fields by name."""

    cells: NDArray[np.uint8]
    hashes: NDArray[np.uint64]
    target: NDArray[np.float64]
    weight: NDArray[np.float64] | None
    centers: list[list[float]]
    labels: Labels
    quantile: float = 0.5
    """Of a loss that does not read samples in parts."""

    def __len__(self) -> int:
        return len(self.target)

    @property
    def outputs(self) -> int:
        """Number of outputs."""
        return len(self.labels.values) if len(self.labels.values) > 2 else 1


class Cache:
    """Encoded samples in a file, one to four bytes a value, which :func:`binfm.train` reads as it needs them.

    A cache is made by :meth:`build`, for samples that do not fit into memory or are trained on many times. It holds
    what :func:`binfm.train` would have made of the same samples in memory, so the models are the same to the byte.

    Parameters
    ----------
    path : path
        A file that `build` wrote.

    Examples
    --------
    >>> import numpy as np, binfm, tempfile, os
    >>> def batches():
    ...     rng = np.random.default_rng(0)
    ...     for _ in range(5):
    ...         X = rng.uniform(-1, 1, size=(1000, 2))
    ...         yield X, X[:, 0] * X[:, 1] > 0
    >>> path = os.path.join(tempfile.mkdtemp(), "samples.cache")
    >>> cache = binfm.Cache.build(batches, path=path, regularization=30)
    >>> len(cache)
    5000
    >>> model = binfm.train(cache, m=8)
    >>> float(model.predict([[0.5, -0.5]])[0])
    0.0
    """

    search: Search | None = None
    """What was tried to choose the parameters within `max_bytes`; None without that limit. Not saved."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._mapped = Mapped(Path(path))

    @classmethod
    def build(
        cls, X: Any, y: Any = None, *, path: str | os.PathLike[str], sample_weight: Any = None, **params: Any
    ) -> Cache:
        """Encode samples into a file.

        The file appears once it is complete: interrupted, there is none.

        Parameters
        ----------
        X : path, pattern, list of paths, polars LazyFrame, pyarrow dataset, function, or samples in memory
            Parquet, CSV, NDJSON or Feather files. A function returns an iterator of (X, y) or (X, y, sample_weight),
            the same ones each time it is called: samples are read two or three times.
        y : str
            Name of the column to predict; None if X is a function, and an array for samples in memory.
        path : path
            The file to write.
        sample_weight : str, optional
            Name of the column of weights.
        **params
            As for :func:`binfm.train`. Parameters that held-out samples decide are chosen by 10,000 of the samples.
        """
        checked = Params.of(params)
        unknown = params.keys() - Params.of({}).core().keys() - {"categorical", "n_jobs", "progress", "max_bytes"}
        unknown -= {"scoring", "target"}
        if unknown:
            raise TypeError(f"Cache.build has no parameter {min(unknown)!r}")
        from binfm.cache.build import build

        found = build(open_source(X, y, sample_weight), Path(path), checked)
        cache = cls(path)
        cache.search = found
        return cache

    @property
    def path(self) -> Path:
        """The file."""
        return self._mapped.path

    def __len__(self) -> int:
        """Return the number of samples."""
        return int(self._described["samples"])

    def __repr__(self) -> str:
        return f"<binfm.Cache of {len(self):,} samples with {len(self._described['missing'])} features: {self.path}>"

    def verify(self) -> None:
        """Compare all checksums, and raise an error if the file is damaged."""
        first = dict.fromkeys(self._described["parts"], 0)
        for count, sums in self._described["shards"]:
            for name, checksum in sums.items():
                part = self._mapped.part(name)
                numbers = count * (self.encoder.width if name == "cells" else 1)
                shard = part[first[name] : first[name] + numbers]
                first[name] += numbers
                if _core.checksum(shard.view(np.uint8)) != checksum:
                    raise self._mapped.damaged()
            self._mapped.release()

    def is_of(self, source: Source) -> bool:
        """Return whether it was built from the same columns of the same files, unchanged since."""
        fingerprint: Any = json.loads(json.dumps(source.fingerprint))
        return bool(fingerprint) and fingerprint == self._described["source"]

    @property
    def encoder(self) -> _core.SampleEncoder:
        """The encoder of its samples."""
        return _core.SampleEncoder.from_bytes(self._encoder_bytes(), tuple(self._described["units"]))

    def stored(self) -> Stored:
        """Return its samples."""
        part, found = self._mapped.part, self._described
        weight = part("weight") if "weight" in found["parts"] else None
        return Stored(part("cells"), part("hashes"), part("target"), weight, found["centers"], self._labels)

    def like(self) -> Dataset:
        """Return how samples are read, without any."""
        found = self._described
        names = None if found["names"] is None else tuple(found["names"])
        core = _core.Model.from_bytes(self._encoder_bytes())
        vocabularies = {j: core.vocabulary(j) or [] for j in found["vocabularies"]}
        table = np.empty((0, len(found["missing"])), np.float32)
        categorical, dates = found["categorical"], frozenset(found["dates"])
        return Dataset(table, np.empty(0), None, self._labels, categorical, vocabularies, names, dates)

    def columns(self) -> tuple[ColumnFacts, ...]:
        """Return what is known about the columns."""
        found, facts = self._described, []
        counted = self._mapped.description["parts"]["hashes"][1]
        for j, missing in enumerate(found["missing"]):
            kind = "category" if j in found["categorical"] else "date" if j in found["dates"] else "number"
            constant = "all missing" if missing == counted else "constant" if kind != "category" else "one category"
            facts.append(ColumnFacts(kind, missing, "left out" if j in found["leave_out"] else constant))
        return tuple(facts)

    def settled(self, params: Params) -> Params:
        """Return parameters of a training with those that the cache was built for."""
        check_readable_in_parts(params)
        chosen, is_searched = self._described["params"], self._described["searched"]
        for name in ENCODING:
            given = getattr(params, name)
            if name in params.free or (name == "min_count" and given == 1):
                continue
            if given != chosen[name]:
                raise ValueError(f"{name} must be {chosen[name]!r}, as {self.path} was built for, got {given!r}")
        if params.searching and not is_searched:
            raise ValueError(
                f"max_bytes must be None, because {self.path} was built without it, got {params.max_bytes}"
            )
        settled = {*ENCODING, *({*params.free, "regularization", "seed"} if is_searched else ())}
        params = params.replace(
            **{name: chosen[name] for name in settled},
            free=params.free - settled,
            leave_out=tuple(self._described["leave_out"]),
            max_bytes=None,
        )
        if params.is_regression != (self._labels.kind == "none"):
            kind = "numbers" if self._labels.kind == "none" else "classes"
            raise ValueError(f"loss must be one for {kind}, which {self.path} holds, got {params.loss!r}")
        return params

    def chosen(self, params: Params) -> Params:
        """Return settled parameters with a regularization that was chosen when the cache was built."""
        if params.regularization != "auto" or not params.is_quiet:
            return params
        chosen = self._described["params"]
        if chosen["regularization"] == 0:
            raise ValueError(f"regularization must be given, because {self.path} was built with 0")
        names = ["regularization", *CHOSEN]
        names += ["m"] if "m" in params.free or chosen["m"] == 0 else []
        return params.replace(**{name: chosen[name] for name in names})

    @contextmanager
    def releasing(self) -> Iterator[None]:
        """Give back the memory of pages that were read, again and again."""
        done = Event()

        def release() -> None:
            while not done.wait(LOOK_INTERVAL):
                if mapped_bytes() > RELEASED:
                    self._mapped.release()

        thread = Thread(target=release, name="binfm-release", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            self._mapped.release()

    def _encoder_bytes(self) -> bytes:
        """Return the model without weights that describes the encoder."""
        blob = self._mapped.part("encoder")
        if _core.checksum(blob) != self._described["checks"]["encoder"]:
            raise self._mapped.damaged()
        return blob.tobytes()

    @property
    def _described(self) -> dict[str, Any]:
        return self._mapped.description

    @property
    def _labels(self) -> Labels:
        kind, values = self._described["labels"]
        return Labels(kind, values)


def mapped_bytes() -> int:
    """Return the bytes of files that are in the memory of this process; where nobody can tell, more than enough."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[2]) * mmap.PAGESIZE
    except OSError:
        return 2 * RELEASED
