"""Draw the pictures of ``reading.md`` by running its examples, which save them. Run by `make -C benches pictures`."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

import matplotlib as mpl

HERE = Path(__file__).parent


def main() -> None:
    """Run all blocks of the page in one namespace and keep the pictures."""
    mpl.use("Agg")
    page = (HERE / "reading.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        names: dict[str, object] = {}
        for block in re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
            exec(compile(block, "reading.md", "exec"), names)
        for picture in Path(folder).glob("*.png"):
            shutil.copy(picture, HERE / "images" / picture.name)
        os.chdir(HERE)


if __name__ == "__main__":
    main()
