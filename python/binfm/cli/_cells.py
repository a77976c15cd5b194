"""Text among numbers in CSV files: which cell it is, so that nobody has to search for it."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from binfm.cli._dates import holds_dates

MOSTLY = 0.9
"""A column of which this share are numbers is one of numbers, and its texts are mistakes."""
SAMPLE_ROWS = 1_000
"""Values that are looked at first: most columns of text have few numbers among these."""


class TextCell(NamedTuple):
    """A text in a column of numbers."""

    column: str
    row: int
    """Counted from 0."""
    text: str
    others: int
    """Number of other cells of the column that hold text."""


def as_numbers(texts: Any) -> Any:
    """Return texts as numbers, whatever spaces surround them; null if they are none. For a series or an expression."""
    import polars

    return texts.str.strip_chars().cast(polars.Float64, strict=False)


def padded_numbers(table: Any, text: list[str]) -> list[Any]:
    """Return the columns that are text only because of spaces around numbers, as numbers; those in `text` stay."""
    import polars

    found = [table[name] for name in table.columns if table[name].dtype == polars.String and name not in text]
    numeric = [texts for texts in found if _is_numeric(texts.drop_nulls().head(SAMPLE_ROWS), 1.0)]
    return [as_numbers(texts) for texts in numeric if _is_numeric(texts.drop_nulls(), 1.0)]


def text_among_numbers(table: Any, names: Iterable[str]) -> TextCell | None:
    """Return the first text in a column of a table that is otherwise one of numbers."""
    import polars

    for name in names:
        texts = table[name]
        if texts.dtype != polars.String or not _is_numeric(texts.drop_nulls().head(SAMPLE_ROWS)):
            continue
        wrong = (as_numbers(texts).is_null() & texts.is_not_null()).arg_true()
        if len(wrong) and _is_numeric(texts.drop_nulls()):
            return TextCell(name, wrong[0], texts[wrong[0]], len(wrong) - 1)
    return None


def first_text(scan: Any, names: Iterable[str]) -> TextCell | None:
    """Return the first text in columns of numbers or dates; the lazy table has all of them as text."""
    import polars

    for name in names:
        if holds_dates(scan.select(name).head(SAMPLE_ROWS).collect()[name]):
            continue
        texts = scan.select(polars.col(name).alias("text")).with_row_index("row")
        is_wrong = as_numbers(polars.col("text")).is_null() & polars.col("text").is_not_null()
        wrong = texts.filter(is_wrong).collect()
        if len(wrong):
            return TextCell(name, wrong["row"][0], wrong["text"][0], len(wrong) - 1)
    return None


def line_of(path: Path, row: int, has_header: bool, separator: str) -> int:
    """Return the line of a file on which a row ends, counted from 1; rows in quotes may have several lines."""
    rows = row + has_header
    if path.suffix == ".zst":
        return rows + 1
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", newline="", encoding="utf-8", errors="replace") as file:
        reader = csv.reader(file, delimiter=separator)
        next(islice(reader, rows, None), None)
        return reader.line_num


def _is_numeric(texts: Any, share: float = MOSTLY) -> bool:
    return len(texts) > 0 and as_numbers(texts).count() >= share * len(texts)
