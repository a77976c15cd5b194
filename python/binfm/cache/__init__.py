"""Samples that do not fit into memory, encoded into a file."""

from binfm.cache.cache import Cache as Cache

__all__ = ["Cache"]
