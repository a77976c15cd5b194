"""The systems by name. NFM is imported on first use, because JAX takes a second to start."""

from __future__ import annotations

from paper.systems.base import NotAvailableError, System
from paper.systems.family import Bfm1, Bfm4, Dfm, Fm, Quantile, Sefm, Unscaled
from paper.systems.linear import Liblinear
from paper.systems.others import ModernFm, MyFm

__all__ = ["LABELS", "OTHERS", "TABLE", "NotAvailableError", "System", "system"]

TABLE = ("liblinear", "fm", "dfm", "nfm", "nfm-ids", "sefm", "bfm1", "bfm4")
"""The columns of Table 2, in the paper's order."""
OTHERS = ("modern-fm", "myfm")
EAGER: dict[str, type[System]] = {
    each.name: each for each in (Liblinear, Fm, Dfm, Sefm, Bfm1, Bfm4, Quantile, Unscaled, ModernFm, MyFm)
}
LABELS = {**{name: each.label for name, each in EAGER.items()}, "nfm": "NFM", "nfm-ids": "NFM, ids"}


def system(name: str) -> System:
    if name in EAGER:
        return EAGER[name]()
    from paper.systems.nfm import Nfm, NfmIds

    return {each.name: each for each in (Nfm, NfmIds)}[name]()
