"""Colors and markers that stay distinct for color-blind readers and in grayscale."""

from __future__ import annotations

from typing import NamedTuple

RC = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "savefig.dpi": 150,
}
GRID = {"visible": True, "color": "#dddddd", "linewidth": 0.6}


class Style(NamedTuple):
    color: str
    marker: str
    line: str = "-"


STYLES = {
    "fm": Style("#0072b2", "s", "--"),
    "sefm": Style("#009e73", "^"),
    "dfm": Style("#777777", "D", ":"),
    "bfm1": Style("#d55e00", "o"),
    "bfm4": Style("#aa4499", "v"),
}
