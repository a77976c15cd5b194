"""Train the golden models with this interpreter and compare them with hashes.json; numpy and scipy will do."""

import hashlib
import json
import platform
import sys
from pathlib import Path

import binfm._core
import numpy as np
from cases import CASES, NO_TABLES


def main():
    expected = json.loads((Path(__file__).parent / "hashes.json").read_text())
    hashes = {name: hashlib.sha256(CASES[name]().to_bytes()).hexdigest() for name in NO_TABLES}
    other = [name for name in NO_TABLES if hashes[name] != expected[name]]
    where = f"{platform.python_implementation()} {platform.python_version()}, numpy {np.__version__}"
    print(f"{where}, {binfm._core.instruction_set()}: {len(hashes) - len(other)} of {len(hashes)} models are the same")
    if other:
        sys.exit(f"not the same: {', '.join(other)}")


if __name__ == "__main__":
    main()
