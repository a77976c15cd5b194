"""Caches of data that does not fit into memory."""

from __future__ import annotations

import argparse
import glob
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from binfm.cache import Cache
from binfm.cli._messages import naming, on_terminal
from binfm.data.sources import open_source
from binfm.params import Params


def is_pattern(data: str) -> bool:
    """Return whether data is named by a pattern, such as ``logs/*.parquet``."""
    return glob.has_magic(data) and not os.path.exists(data)


@contextmanager
def cached(args: argparse.Namespace, given: dict[str, Any]) -> Iterator[Cache]:
    """Open the cache of --cache, or write it first; without --cache it is a temporary file."""
    from binfm.cache.build import build

    if args.target is None:
        raise ValueError(f"{args.data}: --target must be one of its columns")
    source = open_source(args.data, args.target, args.weight, args.ignore)
    with tempfile.TemporaryDirectory(prefix="binfm-", ignore_cleanup_errors=True) as folder:
        path = Path(args.cache or f"{folder}/samples.cache")
        if not path.exists():
            with naming(args.data, args.target):
                build(source, path, Params.of({**given, "progress": on_terminal()}))
        cache = Cache(path)
        if not cache.is_of(source):
            raise ValueError(f"{path} was built from other files or columns; delete it, or name another with --cache")
        yield cache
