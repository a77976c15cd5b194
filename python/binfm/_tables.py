"""Tables with named columns: pandas, polars, Arrow."""

from __future__ import annotations

from typing import Any


def is_table(X: Any) -> bool:
    """Return whether X has named columns, as data frames do."""
    return hasattr(X, "__dataframe__") or (hasattr(X, "__arrow_c_stream__") and getattr(X, "ndim", 2) == 2)
