"""`binfm demo`: what a few hundred bytes can learn, as a table and a figure."""

from __future__ import annotations

import argparse
from typing import Any


def add(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser("demo", help="train on four small data sets, draw demo.png", description=__doc__)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Run the demonstration."""
    from binfm.demo import main

    main()
