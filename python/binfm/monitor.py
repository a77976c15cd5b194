"""What happens after each epoch of a training: it is measured and shown, and the user's function is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from binfm._checks import parameters_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm._progress import Progress
    from binfm.cache.cache import Stored
    from binfm.data.dataset import Dataset
    from binfm.metrics import Scored
    from binfm.params import Params

Callback = Callable[..., object]
"""A function of epoch and record; if it has parameters `y` and `scores`, it also gets those of held-out samples."""


class Monitor:
    """Called by the core after each epoch, with the scores of held-out samples if it wants them."""

    def __init__(self, params: Params, source: Dataset | Stored, bar: Progress) -> None:
        self._source = source
        """Where held-out samples come from."""
        self._loss = params.loss
        self._measures = params.measures()
        self._callback = params.callback
        self._asked = {"y", "scores"} & parameters_of(params.callback).keys() if params.callback else set()
        self._bar = bar
        self._measured: list[dict[str, float]] = []

    @property
    def wants_scores(self) -> bool:
        """Whether it needs the scores of held-out samples."""
        return bool(self._measures or self._asked)

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to do after an epoch."""
        return self.wants_scores or self._callback is not None or self._bar.is_shown

    def __call__(
        self, record: dict[str, float], samples: NDArray[np.uint32] | None, scores: NDArray[np.float64] | None
    ) -> tuple[bool, float | None]:
        """Return whether to stop, and what decides instead of the loss which epoch is best; lower is better."""
        held_out = None if samples is None or scores is None else self._scored(samples, scores)
        values = {} if held_out is None else {measure: measure.of(held_out) for measure in self._measures}
        named = {f"val_{measure.name}": value for measure, value in values.items()}
        self._measured.append(named)
        record.update(named)
        self._bar.show(record)
        deciding = next((measure.cost(value) for measure, value in values.items()), None)
        return self._call(record, held_out), deciding

    def complete(self, history: list[dict[str, float]]) -> list[dict[str, float]]:
        """Return the records of all epochs with what was measured."""
        measured = self._measured or [{}] * len(history)
        return [{**record, **values} for record, values in zip(history, measured, strict=True)]

    def _call(self, record: dict[str, float], held_out: Scored | None) -> bool:
        """Call the user's function; return whether it returned True."""
        if self._callback is None:
            return False
        more = {name: None if held_out is None else getattr(held_out, name) for name in self._asked}
        answer = self._callback(int(record["epoch"]), record, **more)
        return isinstance(answer, bool | np.bool_) and bool(answer)

    def _scored(self, samples: NDArray[np.uint32], scores: NDArray[np.float64]) -> Scored:
        from binfm.metrics import Scored

        source = self._source
        samples = samples.astype(np.intp)  # numpy crashes if it has no memory to convert an index
        order = np.argsort(samples)  # as they came, not in the order of training
        samples, scores = samples[order], scores.reshape(len(samples), -1)[order]
        return Scored(
            target=source.target[samples],
            scores=scores[:, 0] if source.outputs == 1 else scores,
            weight=None if source.weight is None else source.weight[samples],
            labels=source.labels,
            loss=self._loss,
            quantile=source.quantile,
        )
