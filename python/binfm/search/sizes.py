"""The size of a candidate's file, known before it is trained."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from binfm import _core

if TYPE_CHECKING:
    from binfm.data.dataset import Dataset
    from binfm.params import Params


class Bins(NamedTuple):
    """How numeric features are cut."""

    b: int
    tilings: int
    binning: str

    @classmethod
    def of(cls, params: Params) -> Bins:
        """Return the bins of some parameters."""
        return cls(params.b, params.tilings, params.binning)


class Sizes:
    """Sizes of models of one dataset. A trained model can be smaller: cells with the same weights become one."""

    def __init__(self, dataset: Dataset, base: Params) -> None:
        self._dataset = dataset
        self._base = base
        self._encoders: dict[Bins, _core.Encoder] = {}

    def learn(self, bins: Bins) -> None:
        """Encode the dataset, so that the sizes of models with these bins are known."""
        params = self._base.replace(**bins._asdict())
        self._encoders[bins] = _core.Encoder(self._dataset, params.core(), (), 1)

    def nbytes(self, params: Params) -> int:
        """Return the size of the file of a model with these parameters."""
        return self._encoders[Bins.of(params)].size(params.m, params.leave_out, params.target)

    def largest_m(self, params: Params, max_bytes: int) -> int:
        """Return the most factors such a model can have within a size; -1 if it does not fit without any."""
        encoder = self._encoders[Bins.of(params)]
        most = encoder.largest_m(max(0, max_bytes), params.leave_out, params.target)
        return -1 if most is None else most
