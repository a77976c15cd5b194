"""Every machine gives Python's scores: real cross compilers, and emulators that run what they make."""

import pytest
from machines import TARGETS, Job
from test_runtime import assert_same

pytestmark = pytest.mark.device


@pytest.fixture(params=TARGETS)
def target(request):
    return TARGETS[request.param]


def test_scores_are_those_of_python(target, folder, small_jobs):
    results, _ = target.run(folder, small_jobs)
    assert_same(small_jobs, results)


def test_damaged_models_are_refused(target, folder, small_jobs):
    """The verdict of each machine is that of the host: the check is the same code, but not the same compiler."""
    whole = small_jobs[0].blob
    jobs = [Job(bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :]), small_jobs[0].X[:0]) for at in range(30)]
    results, _ = target.run(folder, jobs)
    assert all(result.status for result in results)
