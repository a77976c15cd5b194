"""The command `binfm`: train, predict, evaluate, inspect, export, demo."""

from binfm.cli._main import main

__all__ = ["main"]
