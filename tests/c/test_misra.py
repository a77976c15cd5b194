"""cppcheck's MISRA add-on finds exactly the deviations listed in runtime/MISRA.md."""

import re
from pathlib import Path

import pytest
from machines import FIRMWARE, INCLUDE, require, run

PAGE = Path(__file__).parents[2] / "runtime" / "MISRA.md"
WORD_BITS = ("8u", "32u")


@pytest.mark.device
def test_deviations_match_the_list(tmp_path):
    require("cppcheck")
    rows = re.findall(r"^\| ([\d., ]+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    listed = set(re.findall(r"\d+\.\d+", " ".join(rows)))
    options = ["--addon=misra", "--std=c99", "--enable=warning,style,performance,portability", "--template={id} {line}"]
    found = []
    for bits in WORD_BITS:
        output = tmp_path / bits
        flags = [f"-I{INCLUDE}", f"-DBINFM_WORD_BITS={bits}", "-DBINFM_STRICT", f"--output-file={output}"]
        run(["cppcheck", "--quiet", *options, *flags, FIRMWARE / "all.c"], cwd=tmp_path)
        found += output.read_text().splitlines()
    rules = {line.split()[0].removeprefix("misra-c2012-") for line in found}
    assert rules == listed
