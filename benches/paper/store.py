"""Results, one line per record in a JSON file, so that a run can be interrupted and nothing is measured twice."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

Record = dict[str, Any]


class Store:
    """Records by key, such as "accuracy/banana/fm/3". The file is replaced atomically at every change."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records: dict[str, Record] = json.loads(path.read_text()) if path.exists() else {}

    def put(self, key: str, record: Record) -> None:
        self.records[key] = record
        self._write()

    def drop(self, systems: list[str]) -> None:
        """Remove the results of these systems."""
        self.records = {key: r for key, r in self.records.items() if not set(key.split("/")) & set(systems)}
        self._write()

    def _write(self) -> None:
        lines = [f"{json.dumps(key)}: {json.dumps(self.records[key])}" for key in sorted(self.records)]
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        os.replace(temporary, self.path)
