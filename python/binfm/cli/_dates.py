"""Dates in JSON, which has none: text that is written as a date is one, as in CSV files."""

from __future__ import annotations

from typing import Any

SAMPLE_ROWS = 1000
"""Rows that tell whether a column holds dates; if they all do, the others have to."""
DATE = "%Y-%m-%d"
MOMENTS = ("%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f")


def with_dates(scan: Any, text: list[str]) -> Any:
    """Return the columns of a lazy table with dates instead of their text; the columns in `text` stay as they are."""
    import polars

    columns = [name for name, kind in scan.collect_schema().items() if kind == polars.String and name not in text]
    sample = scan.select(columns).head(SAMPLE_ROWS).collect()
    parsed = [_parser(sample[name]) for name in columns]
    return scan.with_columns(parser for parser in parsed if parser is not None)


def _parser(sample: Any) -> Any:
    """Return an expression that reads a column as dates, if that is what the sample holds."""
    import polars

    known = sample.drop_nulls()
    if len(known) == 0:
        return None
    if known.str.to_date(DATE, strict=False, exact=True).null_count() == 0:
        return polars.col(sample.name).str.to_date(DATE)
    for form in MOMENTS:
        if known.str.to_datetime(form, strict=False).null_count() == 0:
            return polars.col(sample.name).str.to_datetime(form)
    return None
