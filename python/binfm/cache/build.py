"""From a source to a cache file, in as little memory as a part of the samples takes.

Three passes: one to learn how to encode, one to encode, and one over what was encoded, to sort it. Samples are dealt
into as many temporary files as needed by the highest bits of their hashes; each is then sorted alone, which puts all
of them into canonical order. A second pass to learn is made only where values crowd.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from binfm._progress import Preparing, Progress
from binfm.cache.file import Writer
from binfm.cache.sample import MAX_ROWS
from binfm.cache.survey import Survey, largest_weight
from binfm.params import CHOSEN, PARAMETERS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm import _core
    from binfm.data.sources import Source
    from binfm.params import Params
    from binfm.search.search import Search

PART_BYTES = 1 << 26
"""Bytes of encoded samples to sort at a time."""
MAX_PARTS = 512
"""Files to write to at a time, at most: systems limit them."""
SEARCHED = tuple(name for name, spec in PARAMETERS.items() if spec.searched)
REMEMBERED = (*SEARCHED, "min_count", "regularization", "seed", *CHOSEN)
"""Parameters that a cache remembers."""


def build(source: Source, path: Path, params: Params) -> Search | None:
    """Write a cache; return what was tried to choose the parameters, if they were searched."""
    survey = Survey(source, params, largest_weight(source))
    with Progress(params.progress, None, "row") as bar:
        survey.run(bar)
    vocabularies = survey.vocabularies()
    like = survey.sample(vocabularies)
    params, found = _choose(params, like, survey)
    sketches = survey.sketches
    if sketches.start_second_pass(params.core()):
        for table, _, weight in survey.read():
            sketches.add_again(table, weight, params.n_jobs)
    encoder = sketches.encoder(like.emptied(), params.core(), params.leave_out, survey.units())
    description = {
        "source": source.fingerprint,
        "samples": survey.samples,
        "units": encoder.units,
        "labels": like.labels,
        "categorical": like.categorical,
        "vocabularies": sorted(vocabularies),
        "names": like.names,
        "dates": sorted(like.dates),
        "missing": survey.missing.tolist(),
        "params": {name: getattr(params, name) for name in REMEMBERED},
        "searched": found is not None,
        "leave_out": params.leave_out,
    }
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        with Progress(params.progress, survey.samples, "row") as bar:
            dealt = _Dealt(Path(folder), survey, encoder, params.n_jobs)
            dealt.run(bar)
        with Preparing(params.progress, "sorting samples"):
            dealt.write(Path(folder) / "cache", encoder, description)
        os.replace(Path(folder) / "cache", path)
    return found


def _choose(params: Params, sample: Any, survey: Survey) -> tuple[Params, Search | None]:
    """Return all parameters; those that held-out samples decide are chosen by the sample."""
    found = None
    resolved = params.resolve(survey.samples, False)
    if resolved.searching:
        from binfm.search.search import search

        resolved, found = search(sample, resolved)
    with Preparing(resolved.progress and resolved.regularization == "auto", "choosing the regularization"):
        return resolved.chosen(sample), found


class _Dealt:
    """Encoded samples in temporary files, each with a range of hashes, and those of zero weight in one of their own."""

    def __init__(self, folder: Path, survey: Survey, encoder: _core.SampleEncoder, n_jobs: int | None) -> None:
        self._folder, self._survey, self._encoder, self._n_jobs = folder, survey, encoder, n_jobs
        self._record = np.dtype(
            [("hash", "<u8"), ("order", "<u8"), ("y", "<f8"), ("weight", "<f8"), ("cells", "u1", (encoder.width,))]
        )
        bytes_needed = survey.samples * self._record.itemsize
        self._bits = min(max(bytes_needed // PART_BYTES, 1).bit_length() - 1, MAX_PARTS.bit_length() - 1)
        self._parts = 1 << self._bits
        self._first: list[tuple[NDArray[Any], ...]] = []
        """Of the first samples in canonical order: hash, weight, order and values."""

    def run(self, bar: Progress) -> None:
        """Encode all samples."""
        seen = weighted = 0
        with ExitStack() as stack:
            files = [stack.enter_context(self._path(part).open("wb")) for part in range(self._parts + 1)]
            for table, y, weight in self._survey.read():
                records = self._encode(table, y, weight, seen)
                seen += len(table)
                weighted += len(table) if weight is None else int((weight > 0).sum())
                part = (
                    records["hash"] >> np.uint64(64 - self._bits) if self._bits else np.zeros(len(records), np.uint64)
                )
                part = np.where(records["weight"] > 0, part, self._parts).astype(np.intp)
                records = records[np.argsort(part, kind="stable")]
                ends = np.cumsum(np.bincount(part, minlength=len(files)))
                for file, begin, end in zip(files, [0, *ends[:-1]], ends, strict=True):
                    file.write(np.ascontiguousarray(records[begin:end]).view(np.uint8).data)
                bar.advance(len(table))
        if (seen, weighted) != (self._survey.samples, self._survey.weighted):
            raise ValueError(f"X must give the same samples each time, got {self._survey.samples:,} and then {seen:,}")

    def write(self, path: Path, encoder: _core.SampleEncoder, description: dict[str, Any]) -> None:
        """Write the cache: all samples in canonical order."""
        blob = np.frombuffer(encoder.to_bytes(), np.uint8)
        samples, weighted = self._survey.samples, self._survey.weighted
        lengths = {"encoder": len(blob), "hashes": weighted, "target": samples}
        if self._survey.has_weights:
            lengths["weight"] = samples
        writer = Writer(path, {**lengths, "cells": samples * encoder.width})
        try:
            checks = {"encoder": writer.append("encoder", blob)}
            shards = []
            for part in range(self._parts + 1):
                records = self._sorted(part)
                columns = {"target": records["y"], "weight": records["weight"], "cells": records["cells"]}
                if part < self._parts:
                    columns["hashes"] = records["hash"]
                sums = {name: writer.append(name, columns[name]) for name in columns if name in writer.parts}
                shards.append((len(records), sums))
            writer.finish({**description, "checks": checks, "shards": shards, "centers": self._centers()})
        finally:
            writer.close()

    def _encode(self, table: Any, y: Any, weight: NDArray[np.float64] | None, seen: int) -> NDArray[Any]:
        target = self._survey.targets(y)
        cells, hashes = self._encoder.encode(table, target, self._n_jobs)
        records = np.empty(len(table), self._record)
        records["hash"], records["y"] = hashes, target
        records["order"] = np.arange(seen, seen + len(table))
        records["weight"] = 1.0 if weight is None else weight
        records["cells"] = cells.reshape(len(table), -1)
        self._keep_first(records, table)
        return records

    def _keep_first(self, records: NDArray[Any], table: Any) -> None:
        counted = np.flatnonzero(records["weight"] > 0)
        if self._first and len(self._first[0][0]) == MAX_ROWS:
            counted = counted[records["hash"][counted] <= self._first[0][0][-1]]
        part = records[counted]
        self._first.append((part["hash"], part["weight"], part["order"], table[counted]))
        joined = [np.concatenate(each) for each in zip(*self._first, strict=True)]
        first = np.lexsort((joined[2], joined[1], joined[0]))[:MAX_ROWS]
        self._first = [tuple(each[first] for each in joined)]

    def _centers(self) -> list[list[float]]:
        return self._encoder.centers(self._first[0][3])

    def _sorted(self, part: int) -> NDArray[Any]:
        """Return the samples of a temporary file in canonical order, and remove it."""
        records = np.fromfile(self._path(part), self._record)
        self._path(part).unlink()
        return records[np.lexsort((records["order"], records["weight"], records["hash"]))]

    def _path(self, part: int) -> Path:
        return self._folder / f"part{part}"
