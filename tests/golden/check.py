"""Train the golden models with this interpreter and compare them with hashes.json; needs only numpy and scipy."""

import hashlib
import json
import platform
import sys
from pathlib import Path

import binfm._core
import numpy as np
from cases import CASES, WITHOUT_POLARS


def main():
    expected = json.loads((Path(__file__).parent / "hashes.json").read_text())
    hashes = {name: hashlib.sha256(CASES[name]().to_bytes()).hexdigest() for name in WITHOUT_POLARS}
    changed = [name for name in WITHOUT_POLARS if hashes[name] != expected[name]]
    runtime = f"{platform.python_implementation()} {platform.python_version()}, numpy {np.__version__}"
    same = len(hashes) - len(changed)
    print(f"{runtime}, {binfm._core.instruction_set()}: {same} of {len(hashes)} models are the same")
    if changed:
        sys.exit(f"these differ: {', '.join(changed)}")


if __name__ == "__main__":
    main()
