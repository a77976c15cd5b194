"""A build of binfm, and how to run it in a process of its own."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

BENCHES = Path(__file__).parents[1]
CURRENT = BENCHES.parent / "python"
"""The package of this checkout."""


@dataclass(frozen=True)
class Build:
    """A folder to put first in PYTHONPATH, and the parameters to train with."""

    name: str
    folder: Path
    params: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def identity(self) -> str:
        """A hash of the code, so that a build that changed is measured again."""
        files = [path for path in (self.folder / "binfm").rglob("*") if path.suffix in (".py", ".so", ".pyd")]
        if not files:
            sys.exit(f"{self.folder} must hold a built package binfm")
        digest = hashlib.sha256()
        for path in sorted(files):
            digest.update(path.read_bytes())
        return digest.hexdigest()[:12]

    def key(self, data: str, seed: int, inside: bool) -> str:
        """Return the name of a result in the store."""
        settings = ",".join(f"{name}={value}" for name, value in sorted(self.params.items()))
        return "/".join((data, "inside" if inside else "whole", str(seed), self.identity, settings or "defaults"))

    def measure(self, data: str, seed: int, inside: bool) -> dict[str, Any]:
        """Train and test in a child process."""
        task = {"data": data, "seed": seed, "inside": inside, "params": self.params, "folder": str(self.folder)}
        done = subprocess.run(
            [sys.executable, "-m", "engine.child", json.dumps(task)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join((str(self.folder), str(BENCHES)))},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found
