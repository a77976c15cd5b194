"""Golden files of every version keep their scores on a device; files found by fuzzing are rejected."""

import math
from pathlib import Path

import numpy as np
import pytest
from machines import Job
from test_runtime import BAD_FORMAT, GCC, MORE, OK, TOO_LARGE, device, host

TESTS = Path(__file__).parents[1]
MACHINES = host({"32": GCC["32"], "sanitized": GCC["sanitized"]}) + device({"big-endian": MORE["big-endian"]})


def golden():
    """Yield each file with binary weights: its bytes, samples and scores."""
    for path in sorted(TESTS.glob("golden/*/*.binfm")):
        lines = [line.split("\t\t") for line in path.with_suffix(".tsv").read_text().splitlines()]
        samples, scores = ([side.split("\t") for side in sides] for sides in zip(*lines, strict=True))
        if path.read_bytes()[19] >> 4 == 0:
            yield path.read_bytes(), np.array(samples, np.float32), np.array(scores, np.float64)


@pytest.mark.parametrize("machine", MACHINES)
def test_golden_files_keep_their_scores(folder, machine):
    files = list(golden())
    assert len(files) > 10
    results = machine.run(folder, [Job(blob, samples) for blob, samples, _ in files])
    for (_, _, expected), result in zip(files, results, strict=True):
        assert result.status == OK
        scores = [[math.ldexp(float(score), -result.exponent) for score in row] for row in result.scores]
        assert np.array(scores).tobytes() == expected.tobytes()


@pytest.mark.parametrize("machine", MACHINES)
def test_files_found_by_fuzzing_are_rejected(folder, machine):
    blobs = [path.read_bytes() for path in sorted(TESTS.glob("fuzz/found/*.binfm"))]
    results = machine.run(folder, [Job(blob, np.zeros((1, 1), np.float32)) for blob in blobs])
    assert {result.status for result in results} <= {BAD_FORMAT, TOO_LARGE}
    assert len(results) > 0
