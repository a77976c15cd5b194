"""The machine that the results come from."""

from __future__ import annotations

import platform
from pathlib import Path


def cpu() -> str:
    """Return the model name of the CPU, or what the platform module reports."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
