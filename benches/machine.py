"""What the results say of the machine they come from."""

from __future__ import annotations

import platform
from pathlib import Path


def cpu() -> str:
    """Return the CPU's model name, or what Python knows of it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
