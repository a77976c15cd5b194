"""Progress bars."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class _Bar:
    """A tqdm bar; nothing if it is not wanted or tqdm is not installed."""

    def __init__(self, wanted: bool, **settings: Any) -> None:
        self._bar: Any = None
        if wanted:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self._bar = tqdm(desc="binfm", **settings)

    @property
    def is_shown(self) -> bool:
        """Whether there is a bar."""
        return self._bar is not None

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()


class Progress(_Bar):
    """A bar over epochs or the rows of a file, with the time left."""

    def __init__(self, wanted: bool, total: int | Callable[[], int] | None, unit: str) -> None:
        """Count to a total, if it is known; a function of it is only called if there is a bar."""
        known = total() if callable(total) and wanted else total
        super().__init__(wanted, total=known, unit=f" {unit}s", unit_scale=unit == "row")

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None and error[0] is None:
            self._bar.total = self._bar.n  # training may stop early
            self._bar.refresh()
        super().__exit__(*error)

    def advance(self, count: int) -> None:
        """Count some more as done."""
        if self._bar is not None:
            self._bar.update(count)

    def show(self, record: dict[str, float]) -> None:
        """Count an epoch as done, and show its record."""
        if self._bar is not None:
            self._bar.set_postfix({k: f"{v:.4f}" for k, v in record.items() if k != "epoch"}, refresh=False)
            self._bar.update()


class Preparing(_Bar):
    """A line that says that something is prepared, which takes an unknown time."""

    def __init__(self, wanted: bool, what: str) -> None:
        super().__init__(wanted, bar_format=f"{{desc}}: {what}", leave=False)

    def __enter__(self) -> Preparing:
        return self


class SearchProgress(_Bar):
    """A bar over the fits of a search.

    Late fits take many times longer than early ones. So the bar and the time left follow what fits cost, not how many
    there are; numbers of fits are shown beside it.
    """

    def __init__(self, wanted: bool) -> None:
        super().__init__(wanted, bar_format=_format("preparing"), smoothing=0)  # the rate is a mean over all fits
        self.fits = [0, 0]
        """Number of fits that are done, and of all."""
        self.cost = [0, 0]
        """What the fits cost that are done, and all."""

    def __enter__(self) -> SearchProgress:
        return self

    def expect(self, fits: int, cost: int) -> None:
        """Say how many fits are left, and what they cost."""
        if self._bar is not None and not self.fits[1]:
            self._bar.reset()  # time spent on preparations says nothing about the time left
        self.fits[1], self.cost[1] = self.fits[0] + fits, self.cost[0] + cost
        self._show()

    def advance(self, cost: int) -> None:
        """Count a fit as done."""
        self.fits[0] += 1
        self.cost[0] += cost
        self._show()

    def _show(self) -> None:
        if self._bar is None:
            return
        done, total = self.fits
        self._bar.bar_format = _format(f"{done}/{total} fits")
        self._bar.total = self.cost[1]
        self._bar.update(self.cost[0] - self._bar.n)


def _format(state: str) -> str:
    return f"{{desc}}: {{percentage:3.0f}}%|{{bar}}| {state} [{{elapsed}}<{{remaining}}]"
