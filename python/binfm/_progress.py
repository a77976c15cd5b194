"""Progress bars, and the user's callback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Callback = Callable[[int, dict[str, float]], object]


class Progress:
    """A tqdm bar over epochs or fits; nothing if it is not wanted or tqdm is not installed."""

    def __init__(self, wanted: bool, total: int | None, unit: str) -> None:
        self._bar: Any = None
        if wanted:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self._bar = tqdm(total=total, desc="binfm", unit=unit)

    def advance(self) -> None:
        """Count one more as done."""
        if self._bar is not None:
            self._bar.update()

    def wrap(self, callback: Callback | None) -> Callback | None:
        """Return a callback that also shows each epoch."""
        if self._bar is None:
            return callback

        def advance(epoch: int, record: dict[str, float]) -> object:
            self._bar.set_postfix({k: f"{v:.4f}" for k, v in record.items() if k != "epoch"}, refresh=False)
            self._bar.update()
            return None if callback is None else callback(epoch, record)

        return advance

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()
