"""Data files: their format and columns, read at once or in batches."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from binfm.cli._cells import TextCell, first_text, line_of, padded_numbers
from binfm.cli._dates import SAMPLE_ROWS, with_dates
from binfm.data.sources import MISSING

FORMATS = {
    ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".pq": "parquet", ".ndjson": "ndjson", ".jsonl": "ndjson",
    ".libsvm": "libsvm", ".svm": "libsvm", ".svmlight": "libsvm",
}  # fmt: skip
COMPRESSED = (".gz", ".zst")
"""Extensions that CSV and TSV files may have on top."""
BATCH_ROWS = 100_000
BATCH_BYTES = 1 << 24


def add_arguments(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the arguments that say where the data is and how to read it."""
    parser.add_argument(
        "data", metavar="DATA", help=f"{what}: CSV, TSV, Parquet, NDJSON or LIBSVM; - is standard input"
    )
    reading = parser.add_argument_group("reading")
    reading.add_argument("--format", choices=sorted(set(FORMATS.values())), help="if the file name does not tell")
    reading.add_argument("--separator", metavar="C", help="field separator of a CSV file (default: a comma)")
    reading.add_argument("--no-header", action="store_true", help="name CSV columns column_1, column_2, …")
    reading.add_argument(
        "--missing",
        action="append",
        metavar="TEXT",
        help=f"text that means a missing value in CSV; may be repeated (default: empty, {', '.join(MISSING)})",
    )
    reading.add_argument(
        "--treat-as-missing",
        action="append",
        default=[],
        metavar="TEXT",
        help="text that means a missing value besides these; may be repeated",
    )
    reading.add_argument("--zero-based", action="store_true", help="LIBSVM features count from 0, not from 1")


@dataclass(frozen=True)
class Source:
    """A file of data."""

    path: Path
    name: str
    """Its name in messages."""
    format: str
    options: dict[str, Any]
    """Of polars' CSV reader."""
    zero_based: bool

    @classmethod
    @contextmanager
    def opened(cls, given: str, args: argparse.Namespace) -> Iterator[Source]:
        """Determine the format of a file; standard input is kept in a temporary file."""
        options = {
            "has_header": not args.no_header,
            "null_values": ["", *(args.missing or MISSING), *args.treat_as_missing],
            "with_column_names": _numbered if args.no_header else None,
        }
        if given != "-":
            path = Path(given)
            kind = args.format or _format_of(path)
            with path.open("rb") as file:  # raises a clear error if it cannot be read
                file.read(1)
            yield cls(path, given, kind, _separated(options, kind, args.separator), args.zero_based)
            return
        kind = args.format or "csv"
        with tempfile.NamedTemporaryFile(prefix="binfm-", suffix=f".{kind}") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
            file.flush()
            options = _separated(options, kind, args.separator)
            yield cls(Path(file.name), "standard input", kind, options, args.zero_based)

    @property
    def is_sparse(self) -> bool:
        """Whether this is a LIBSVM file, which has no columns."""
        return self.format == "libsvm"

    def columns(self) -> list[str]:
        """Return the column names."""
        with self._explained():
            return self._lazy(infer_schema_length=SAMPLE_ROWS).collect_schema().names()  # type: ignore[no-any-return]

    def rows(self) -> int:
        """Return the number of rows, found without reading their values."""
        if self.is_sparse:
            with self.path.open("rb") as file:
                return sum(line.strip() != b"" and not line.startswith(b"#") for line in file)
        with self._explained():
            scan = self._lazy() if self.format == "parquet" else self._lazy(infer_schema_length=SAMPLE_ROWS)
            return int(scan.select(_polars().len()).collect().item())

    def table(self, text: list[str]) -> Any:
        """Return all rows; the columns in `text` are read as text, whatever they look like."""
        with self._explained():
            table = self._scan(text).collect()
        return table.with_columns(padded_numbers(table, text)) if self.is_csv else table

    def batches(self, text: list[str], numbers: list[str]) -> Iterator[Any]:
        """Yield the rows in order, in batches; columns neither in `text` nor in `numbers` are left as they are."""
        with self._explained(numbers):
            scan, whole = self._scan_for(text, numbers)
            for table in scan.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True):
                yield table.with_columns(*_without_fractions(table, whole))

    def stored(self, features: int | None = None) -> tuple[Any, Any]:
        """Return all rows of a LIBSVM file and their labels."""
        return self._stored(features, 0, -1)

    def stored_batches(self, features: int) -> Iterator[tuple[Any, Any]]:
        """Yield the rows of a LIBSVM file and their labels, in batches."""
        for offset in range(0, max(1, os.path.getsize(self.path)), BATCH_BYTES):
            yield self._stored(features, offset, BATCH_BYTES)

    def _stored(self, features: int | None, offset: int, length: int) -> tuple[Any, Any]:
        try:
            from sklearn.datasets import load_svmlight_file
        except ImportError:
            raise ImportError("reading LIBSVM files needs scikit-learn: pip install 'binfm[cli]'") from None
        try:
            X, y = load_svmlight_file(
                str(self.path), n_features=features, zero_based=self.zero_based, offset=offset, length=length
            )
        except ValueError as error:
            raise ValueError(f"{self.name} is not a LIBSVM file ({error})") from None
        return X, y.astype(int) if (y == y.astype(int)).all() else y

    def _scan(self, text: list[str]) -> Any:
        """Return a lazy table whose types are inferred from all rows."""
        overrides = dict.fromkeys(text, _polars().String)
        if self.format == "parquet":
            return self._lazy()
        found = self._lazy(infer_schema_length=None, schema_overrides=overrides).collect_schema()
        return with_dates(self._lazy(schema=found), [name for name in found if name not in text])

    def _scan_for(self, text: list[str], numbers: list[str]) -> tuple[Any, list[str]]:
        """Return a lazy table for a model, and the columns that hold whole numbers in the first rows.

        The types are known except for dates, which the first rows determine, and a later row may have a fraction.
        """
        polars = _polars()
        if self.format == "parquet":
            return self._lazy(), []
        found = self._lazy(infer_schema_length=SAMPLE_ROWS).collect_schema()
        whole = [name for name, kind in found.items() if name in numbers and kind.is_integer()]
        for name, kind in found.items():
            if name in text or (self.format != "ndjson" and name not in numbers):
                found[name] = polars.String
            elif name in numbers and kind.is_numeric():
                found[name] = polars.Float64
        scan = with_dates(self._lazy(schema=found), numbers, polars.Float64)
        padded = [name for name, kind in scan.collect_schema().items() if name in numbers and kind == polars.String]
        if self.is_csv:
            scan = scan.with_columns(polars.col(name).str.strip_chars().cast(polars.Float64) for name in padded)
        return scan, whole

    def _lazy(self, **reading: Any) -> Any:
        """Return the file as a lazy table."""
        polars = _polars()
        if self.format == "parquet":
            return polars.scan_parquet(self.path, glob=False)
        if self.format == "ndjson":
            return polars.scan_ndjson(self.path, **reading)
        return polars.scan_csv(self.path, glob=False, **self.options, **reading)

    def refuse_text(self, cell: TextCell | None, problem: str, advice: str = "") -> None:
        """Name a cell that holds text among numbers, if there is one."""
        if cell is None:
            return
        line = line_of(self.path, cell.row, self.options["has_header"], self.options["separator"])
        others = f", and {cell.others:,} more such cells" if cell.others else ""
        raise ValueError(
            f"{self.name}: column {cell.column!r} {problem} {cell.text!r} in line {line:,}{others}; "
            f"--treat-as-missing {shlex.quote(cell.text)} reads it as missing{advice}"
        )

    @property
    def is_csv(self) -> bool:
        """Whether the file is CSV or TSV, which do not say what is a number."""
        return self.format in ("csv", "tsv")

    @contextmanager
    def _explained(self, numbers: list[str] | None = None) -> Iterator[None]:
        """Name the file in errors of polars, and the cell if it is text in a column of numbers."""
        polars = _polars()
        try:
            yield
        except polars.exceptions.PolarsError as error:
            if self.is_csv and numbers:
                texts = self._lazy(infer_schema_length=0)
                self.refuse_text(first_text(texts, numbers), "must hold numbers, as in training, got")
            reason = str(error).strip().splitlines()[0]
            raise ValueError(f"{self.name} cannot be read as {self.format} ({reason})") from None


def _without_fractions(table: Any, columns: list[str]) -> list[Any]:
    """Return the columns without fractions as whole numbers, so that copies look like the original."""
    import polars

    return [table[name].cast(polars.Int64) for name in columns if (table[name] % 1 == 0).all()]


def _format_of(path: Path) -> str:
    ending = path.suffix.lower()
    if ending in COMPRESSED:
        ending = Path(path.stem).suffix.lower()
    if ending not in FORMATS:
        raise ValueError(f"{path} must end in {', '.join(FORMATS)}, got {ending!r}; use --format for others")
    return FORMATS[ending]


def _numbered(columns: list[str]) -> list[str]:
    """Return names for columns without one; those of polars differ between versions."""
    return [f"column_{number}" for number in range(1, len(columns) + 1)]


def _separated(options: dict[str, Any], kind: str, separator: str | None) -> dict[str, Any]:
    return {**options, "separator": separator or ("\t" if kind == "tsv" else ",")}


def _polars() -> Any:
    try:
        import polars
    except ImportError:
        raise ImportError("reading tables needs polars: pip install 'binfm[cli]'") from None
    return polars
