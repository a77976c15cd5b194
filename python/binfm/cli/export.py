"""`binfm export`: write a model as C source for a device."""

from __future__ import annotations

import argparse
from typing import Any

from binfm.cli._messages import tell
from binfm.cli._models import load_model
from binfm.cli._output import check_folder
from binfm.export.c import device_file


def add(commands: Any) -> None:
    """Add the command and its arguments."""
    parser = commands.add_parser("export", help="write a model as a C header", description=__doc__)
    parser.add_argument("model", metavar="MODEL", help="a saved model; - is standard input")
    parser.add_argument("--c", required=True, metavar="HEADER", help="the C header to write")
    parser.add_argument("--name", default="model", help="prefix of its constants and arrays (default: model)")
    parser.add_argument("--runtime", action="store_true", help="include the runtime binfm.h in the file")
    parser.add_argument("--json", action="store_true", help="report as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Write the header."""
    check_folder(args.c)
    model = load_model(args.model)
    model.export_c(args.c, name=args.name, runtime=args.runtime)
    tell({"header": args.c, "name": args.name, "bytes of the model": len(device_file(model))}, args.json)
