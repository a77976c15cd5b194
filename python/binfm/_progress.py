"""Progress: bars for people, records for programs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeAlias

Reporter: TypeAlias = Callable[[dict[str, Any]], object]
"""A function that gets records: what is done, in which unit, how much of it, and the seconds spent and left."""


class _Bar:
    """A tqdm bar, or calls of a function; nothing if neither is wanted, or tqdm is not installed."""

    def __init__(self, wanted: bool | Reporter, task: str, counted: str, **settings: Any) -> None:
        self._bar: Any = None
        self._report = wanted if callable(wanted) else None
        self._task, self._unit = task, counted
        self._began = time.monotonic()
        if wanted and self._report is None:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self._bar = tqdm(desc="binfm", **settings)

    @property
    def is_shown(self) -> bool:
        """Whether anybody is told."""
        return self._bar is not None or self._report is not None

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def _tell(self, done: int, total: int | None, share: float | None = None, **more: Any) -> None:
        """Report how much is done; `share` is that of the time, where it is not that of the units."""
        if self._report is None:
            return
        seconds = time.monotonic() - self._began
        if share is None:
            share = done / total if total else 0.0
        record = {"task": self._task, "unit": self._unit, "done": done, "total": total, "seconds": round(seconds, 3)}
        left = round(seconds * (1 / share - 1), 3) if share else None
        self._report({**record, "seconds_left": left, **more})


class Progress(_Bar):
    """Epochs or the rows of a file, with the time left."""

    def __init__(
        self, wanted: bool | Reporter, total: int | Callable[[], int] | None, unit: str, task: str = "training"
    ) -> None:
        """Count to a total, if it is known; a function of it is only called if anybody is told."""
        known = total() if callable(total) and wanted else total
        self._total = None if callable(known) else known
        self._done = 0
        super().__init__(wanted, task, unit, total=known, unit=f" {unit}s", unit_scale=unit == "row")

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        if error[0] is None and self._done != self._total:  # training may stop early
            self._tell(self._done, self._done)
        if self._bar is not None and error[0] is None:
            self._bar.total = self._bar.n
            self._bar.refresh()
        super().__exit__(*error)

    def advance(self, count: int) -> None:
        """Count some more as done."""
        self._done += count
        self._tell(self._done, self._total)
        if self._bar is not None:
            self._bar.update(count)

    def show(self, record: dict[str, float]) -> None:
        """Count an epoch as done, and show its record."""
        self._done += 1
        self._tell(self._done, self._total, **{name: value for name, value in record.items() if name != "epoch"})
        if self._bar is not None:
            self._bar.set_postfix({k: f"{v:.4f}" for k, v in record.items() if k != "epoch"}, refresh=False)
            self._bar.update()


class Preparing(_Bar):
    """Something that is prepared, which takes an unknown time."""

    def __init__(self, wanted: bool | Reporter, what: str) -> None:
        super().__init__(wanted, what, "step", bar_format=f"{{desc}}: {what}", leave=False)

    def __enter__(self) -> Preparing:
        self._tell(0, 1)
        return self

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            self._tell(1, 1)
        super().__exit__(*error)


class SearchProgress(_Bar):
    """The fits of a search.

    Late fits take many times longer than early ones. So the bar and the time left follow what fits cost, not how many
    there are; numbers of fits are shown beside it.
    """

    def __init__(self, wanted: bool | Reporter) -> None:
        settings = {"bar_format": _format("preparing"), "smoothing": 0}  # the rate is a mean over all fits
        super().__init__(wanted, "search", "fit", **settings)
        self.fits = [0, 0]
        """Number of fits that are done, and of all."""
        self.cost = [0, 0]
        """What the fits cost that are done, and all."""

    def __enter__(self) -> SearchProgress:
        return self

    def expect(self, fits: int, cost: int) -> None:
        """Say how many fits are left, and what they cost."""
        if not self.fits[1]:
            self._began = time.monotonic()  # time spent on preparations says nothing about the time left
            if self._bar is not None:
                self._bar.reset()
        self.fits[1], self.cost[1] = self.fits[0] + fits, self.cost[0] + cost
        self._show()

    def advance(self, cost: int) -> None:
        """Count a fit as done."""
        self.fits[0] += 1
        self.cost[0] += cost
        self._show()

    def _show(self) -> None:
        done, total = self.fits
        self._tell(done, total, self.cost[0] / self.cost[1] if self.cost[1] else None)
        if self._bar is None:
            return
        self._bar.bar_format = _format(f"{done}/{total} fits")
        self._bar.total = self.cost[1]
        self._bar.update(self.cost[0] - self._bar.n)


def _format(state: str) -> str:
    return f"{{desc}}: {{percentage:3.0f}}%|{{bar}}| {state} [{{elapsed}}<{{remaining}}]"
