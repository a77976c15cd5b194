"""cppcheck's MISRA add-on finds nothing but the deviations that runtime/MISRA.md explains."""

import re
from pathlib import Path

import pytest
from machines import FIRMWARE, INCLUDE, need, run

PAGE = Path(__file__).parents[2] / "runtime" / "MISRA.md"
WORDS = ("8u", "32u")


@pytest.mark.device
def test_deviations_are_listed(tmp_path):
    need("cppcheck")
    rows = re.findall(r"^\| ([\d., ]+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    listed = set(re.findall(r"\d+\.\d+", " ".join(rows)))
    options = ["--addon=misra", "--std=c99", "--enable=warning,style,performance,portability", "--template={id} {line}"]
    found = []
    for words in WORDS:
        output = tmp_path / words
        flags = [f"-I{INCLUDE}", f"-DBINFM_WORD_BITS={words}", f"--output-file={output}"]
        run(["cppcheck", "--quiet", *options, *flags, FIRMWARE / "all.c"], cwd=tmp_path)
        found += output.read_text().splitlines()
    rules = {line.split()[0].removeprefix("misra-c2012-") for line in found}
    assert rules == listed, "no other, and none that is gone"
