"""Results, one line per entry in `benches/results/pareto.json`, so that nothing is measured twice."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

Key = tuple[str, int, str]


@dataclass(frozen=True)
class Point:
    """A model: test accuracy, bytes, chosen settings, and their accuracy in cross-validation."""

    accuracy: float
    bytes: int
    settings: dict[str, Any] = field(default_factory=dict)
    validated: float | None = None


@dataclass(frozen=True)
class Entry:
    """One system on one split of one data set: a point per budget, None if nothing fits."""

    data: str
    seed: int
    system: str
    version: str
    date: str
    seconds: float
    points: dict[int, Point | None]

    @property
    def key(self) -> Key:
        return self.data, self.seed, self.system


class Store:
    """The entries of a file, which is replaced atomically at every change."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries: dict[Key, Entry] = {}
        self._read()

    def put(self, entry: Entry) -> None:
        self._read()  # another process may have added results
        self.entries[entry.key] = entry
        self._write()

    def drop(self, data: str, systems: list[str]) -> None:
        """Remove the results of these systems on a data set."""
        self._read()
        self.entries = {key: e for key, e in self.entries.items() if key[0] != data or key[2] not in systems}
        self._write()

    def _read(self) -> None:
        if self.path.exists():
            lines = json.loads(self.path.read_text())["entries"]
            self.entries = {entry.key: entry for entry in map(_entry, lines)}

    def _write(self) -> None:
        lines = [json.dumps(asdict(entry), ensure_ascii=False) for _, entry in sorted(self.entries.items())]
        text = '{"entries": [\n' + ",\n".join(lines) + "\n]}\n"
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text(text)
        os.replace(temporary, self.path)


def _entry(line: dict[str, Any]) -> Entry:
    points = {int(budget): None if point is None else Point(**point) for budget, point in line["points"].items()}
    return Entry(**{**line, "points": points})
