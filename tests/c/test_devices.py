"""Every target, cross-compiled and emulated, computes the same scores as Python."""

import pytest
from machines import TARGETS, Job
from test_runtime import assert_matches_python

pytestmark = pytest.mark.device


@pytest.fixture(params=TARGETS)
def target(request):
    return TARGETS[request.param]


def test_scores_match_python(target, folder, small_jobs):
    results, _ = target.run(folder, small_jobs)
    assert_matches_python(small_jobs, results)


def test_damaged_models_are_rejected(target, folder, small_jobs):
    """Targets reject what the host rejects: the code is the same, but the compiler is not."""
    blob = small_jobs[0].blob
    jobs = [Job(bytes(blob[:at] + bytes([blob[at] ^ 4]) + blob[at + 1 :]), small_jobs[0].X[:0]) for at in range(30)]
    results, _ = target.run(folder, jobs)
    assert all(result.status for result in results)
