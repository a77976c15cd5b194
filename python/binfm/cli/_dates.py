"""Dates in CSV and JSON, which have no type for them: text that looks like dates is read as dates.

polars can do that for CSV itself, but takes a second per 25,000 rows if all rows determine the types.
"""

from __future__ import annotations

from typing import Any

SAMPLE_ROWS = 10_000
"""Rows that determine whether a column holds dates; if they all do, the others must."""
DATE = "%Y-%m-%d"
MOMENTS = ("%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f")


def with_dates(scan: Any, names: list[str], otherwise: Any = None) -> Any:
    """Return a lazy table in which those of the named columns that look like dates are dates.

    Columns without a value in the first rows get the type `otherwise`, if given.
    """
    import polars

    columns = [name for name, kind in scan.collect_schema().items() if kind == polars.String and name in names]
    sample = scan.select(columns).head(SAMPLE_ROWS).collect()
    parsed = [_parser(sample[name], otherwise) for name in columns]
    return scan.with_columns(parser for parser in parsed if parser is not None)


def holds_dates(sample: Any) -> bool:
    """Return whether the values of a text column are dates."""
    return _parser(sample, None) is not None


def _parser(sample: Any, otherwise: Any) -> Any:
    """Return an expression that reads a column as dates, if the first rows are dates."""
    import polars

    column = polars.col(sample.name)
    known = sample.drop_nulls()
    if len(known) == 0:
        return None if otherwise is None else column.cast(otherwise)
    if known.str.to_date(DATE, strict=False).null_count() == 0:
        return column.str.to_date(DATE)
    for form in MOMENTS:
        if known.str.to_datetime(form, strict=False).null_count() == 0:
            return column.str.to_datetime(form)
    return None
