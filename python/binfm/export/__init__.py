"""Models on devices: as a C header, and what they need there."""

from binfm.export.c import get_include

__all__ = ["get_include"]
