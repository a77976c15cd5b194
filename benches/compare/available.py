"""Which systems work here. Each one fits a few samples first, so that nothing is loaded during a measurement."""

from __future__ import annotations

from collections.abc import Iterable

from compare import cases, peers
from compare.peers import Peer

WARM_UP = 500
"""Samples of a first fit, after which everything a system loads lazily is in memory."""


def ready(kinds: Iterable[type[Peer]], threads: int, epochs: int) -> list[Peer]:
    """Return the systems that work, each after a first fit."""
    tried = (_try(kind, threads, epochs) for kind in kinds)
    return [peer for peer in tried if isinstance(peer, Peer)]


def missing() -> dict[str, str]:
    """Return the systems that do not work, and the reasons."""
    tried = {kind.name: _try(kind, threads=1, epochs=1) for kind in peers.ALL}
    return {name: reason for name, reason in tried.items() if isinstance(reason, str)}


def _try(kind: type[Peer], threads: int, epochs: int) -> Peer | str:
    """Return the system, or the reason why it does not work."""
    try:
        peer = kind(threads, epochs)
        peer.fit(*cases.synthetic(WARM_UP))
    except (ImportError, OSError):  # OSError: installed, but without the C library it needs
        return "not installed"
    except Exception as error:  # a failing peer must not end the run
        return f"failed: {type(error).__name__}: {error}"
    return peer
