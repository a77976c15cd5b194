"""Where predictions go: standard output, a device, or a file that appears once it is complete."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

WRITERS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".parquet": "parquet",
    ".pq": "parquet",
}


class Output:
    """Tables, one after the other. Parquet is written at the end, the other formats as they come."""

    def __init__(self, file: BinaryIO, kind: str) -> None:
        self._file = file
        self._kind = kind
        self._kept: list[Any] = []
        self.rows = 0

    def write(self, table: Any) -> None:
        """Add a table."""
        if self._kind == "parquet":
            self._kept.append(table)
        elif self._kind == "ndjson":
            self._file.write(table.write_ndjson().encode())
        else:
            separator = "\t" if self._kind == "tsv" else ","
            self._file.write(table.write_csv(include_header=self.rows == 0, separator=separator).encode())
        self.rows += len(table)

    def finish(self) -> None:
        """Write what was kept."""
        if self._kept:
            import polars

            polars.concat(self._kept, how="vertical_relaxed").write_parquet(self._file)


@contextmanager
def output_to(given: str, kind: str | None) -> Iterator[Output]:
    """Open a file or standard output; a file appears in its place once all is written."""
    if given == "-":
        output = Output(sys.stdout.buffer, kind or "csv")
        yield output
        output.finish()
        sys.stdout.buffer.flush()
        return
    path = Path(given)
    if path.exists() and not path.is_file():  # a device or a pipe, such as /dev/null
        with path.open("wb") as file:
            output = Output(file, kind or WRITERS.get(path.suffix.lower(), "csv"))
            yield output
            output.finish()
        return
    kind = kind or WRITERS.get(path.suffix.lower())
    if kind is None:
        raise ValueError(f"{path} must end in {', '.join(WRITERS)}, got {path.suffix!r}")
    check_folder(given)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as file:
        try:
            output = Output(file, kind)  # type: ignore[arg-type]
            yield output
            output.finish()
            file.flush()
            os.chmod(file.name, 0o666 & ~_umask())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def check_folder(path: str) -> None:
    """Refuse a file in a folder that does not exist, before any work is done for it."""
    folder = Path(path).parent
    if path != "-" and not folder.is_dir():
        raise FileNotFoundError(2, "No such folder", str(folder))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
