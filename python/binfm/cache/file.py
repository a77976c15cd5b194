"""The cache file: packed samples in canonical order, in shards with checksums of their own.

    magic │ encoder │ hashes │ targets │ weights │ cells │ description │ its length and checksum │ magic

The description is JSON: where the parts are, how the samples were read, and which parameters they were packed for. It
is written last, and the file gets its name when it is complete.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from binfm import _core

MAGIC = b"\xb1FMCACH1"
TAIL = struct.Struct("<QI")
"""Length and checksum of the description, before the last magic."""
ALIGNMENT = 64
TYPES = {"encoder": np.uint8, "hashes": np.uint64, "target": np.float64, "weight": np.float64, "cells": np.uint8}
"""The parts with the types of their numbers."""


class Writer:
    """Writes the parts of a cache, each of known length, piece by piece."""

    def __init__(self, path: Path, lengths: dict[str, int]) -> None:
        self._file = path.open("wb")
        self._file.write(MAGIC)
        self.parts: dict[str, tuple[int, int]] = {}
        """Offset and length of each part, in bytes and in numbers."""
        end = len(MAGIC)
        for name, length in lengths.items():
            begin = -(-end // ALIGNMENT) * ALIGNMENT
            self.parts[name] = begin, length
            end = begin + length * np.dtype(TYPES[name]).itemsize
        self._end = end
        self._written = dict.fromkeys(lengths, 0)

    def append(self, name: str, numbers: NDArray[Any]) -> int:
        """Append numbers to a part, and return their checksum."""
        numbers = np.ascontiguousarray(numbers.reshape(-1), TYPES[name])
        begin, _ = self.parts[name]
        self._file.seek(begin + self._written[name] * numbers.itemsize)
        self._file.write(numbers.data)
        self._written[name] += len(numbers)
        return _core.checksum(numbers.view(np.uint8))

    def finish(self, description: dict[str, Any]) -> None:
        """Write the description."""
        content = json.dumps({**description, "parts": self.parts}, separators=(",", ":")).encode()
        self._file.seek(self._end)
        self._file.write(content)
        checksum = _core.checksum(np.frombuffer(content, np.uint8))
        self._file.write(TAIL.pack(len(content), checksum) + MAGIC)
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Mapped:
    """A cache file in memory, page by page as it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < len(MAGIC) or file.read(len(MAGIC)) != MAGIC:
                raise ValueError(f"{path} is not a cache of this version of binfm; build it again")
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if hasattr(mmap, "MADV_NOHUGEPAGE"):
            self._map.madvise(mmap.MADV_NOHUGEPAGE)  # else to read one sample is to map two megabytes
        self.description = self._describe(size)

    def part(self, name: str) -> NDArray[Any]:
        """Return a part."""
        begin, length = self.description["parts"][name]
        return np.frombuffer(self._map, TYPES[name], length, begin)

    def release(self) -> None:
        """Let the system take back the memory of pages that were read."""
        if hasattr(self._map, "madvise"):
            self._map.madvise(mmap.MADV_DONTNEED)

    def _describe(self, size: int) -> dict[str, Any]:
        tail = TAIL.size + len(MAGIC)
        if self._map[-len(MAGIC) :] != MAGIC or size < len(MAGIC) + tail:
            raise ValueError(f"{self.path} is truncated; build it again")
        length, checksum = TAIL.unpack(self._map[size - tail : size - len(MAGIC)])
        content = self._map[max(0, size - tail - length) : size - tail]
        if _core.checksum(np.frombuffer(content, np.uint8)) != checksum:
            raise self.damaged()
        found: dict[str, Any] = json.loads(content)
        return found

    def damaged(self) -> ValueError:
        """Return the error of a cache whose checksums are wrong."""
        return ValueError(f"{self.path} is damaged: a checksum is wrong; build it again")
