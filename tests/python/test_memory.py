"""Running out of memory raises MemoryError, and the process survives."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import binfm
import numpy as np
import pytest

MEMORY = Path(__file__).parents[1] / "memory"

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="relies on Linux memory limits")

CHILD = """
import resource, sys
import binfm, numpy as np
from scipy import sparse

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 40)).astype(np.float32)
y = np.arange(400) % 2
path = sys.argv[1]
with open(path, "rb") as file:
    blob = file.read()
small = binfm.train(X, y, epochs=1, regularization=0)
want = small.decision_function(X).tobytes()
row = X[0].tolist()

def limit(room):
    with open("/proc/self/statm") as sizes:
        used = int(sizes.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + room, resource.RLIM_INFINITY))

def rows(count):
    return np.broadcast_to(X[:1], (count, 40))

MIB = 1 << 20
limit(int(sys.argv[2]) * MIB)
try:
    {work}
except MemoryError:
    print("MemoryError", flush=True)
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert small.decision_function(X).tobytes() == want
assert small.score_row(row) == small.decision_function(np.array([row]))[0]
assert binfm.train(X, y, epochs=1, regularization=0) == small
print("alive")
"""

# glibc caches freed memory and reserves addresses for threads: neither may serve a request that has to fail.
PLAIN = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536"}

WORK = {
    "weights": ("binfm.train(X, y, b=256, m=65_535, epochs=1, regularization=0, n_jobs=1)", 400),
    "weights of the optimizer": ("binfm.train(X, y, b=256, m=4000, epochs=1, regularization=0, n_jobs=1)", 250),
    "scores": ("small.decision_function(rows(10**9), n_jobs=1)", 400),
    "more scores than there are addresses": ("small.decision_function(rows(2**55))", 400),
    "probabilities": ("small.predict_proba(rows(10**9))", 400),
    "classes": ("small.predict(rows(10**9))", 400),
    "a file": ("binfm.load(path)", 3),
    "bytes": ("binfm.Model.from_bytes(blob)", 3),
    "encoded rows": ("binfm.train(rows(3_000_000), np.arange(3_000_000) % 2, epochs=1)", 60),
    "a search": ("binfm.train(rows(3_000_000), np.arange(3_000_000) % 2, max_bytes=999, n_jobs=1)", 150),
    "many columns": (
        "binfm.train(sparse.csr_array(([1.0, 2.0], [0, 1], [0, 1, 2]), (2, 2**31 - 1)), [0, 1], epochs=1)",
        4000,
    ),
}


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A model file of five megabytes."""
    X = np.random.default_rng(0).normal(size=(400, 40))
    path = tmp_path_factory.mktemp("wide") / "wide.binfm"
    binfm.train(X, np.arange(400) % 2, b=256, m=4000, epochs=1, regularization=0).save(path)
    return path


@pytest.mark.parametrize("name", WORK)
def test_too_little_memory_raises_memory_error(run_python, wide, name):
    work, room = WORK[name]
    code = CHILD.replace("{work}", work)
    assert run_python(code, wide, room, env=PLAIN, timeout=120) == b"MemoryError\nalive\n"


SWEEP = """
import resource, sys
import binfm, numpy as np

method, strength, jobs = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
X = np.random.default_rng(0).normal(size=(300, 20)).astype(np.float32)
y = np.arange(300) % 3
work = lambda: binfm.train(X, y, method=method, b=64, m=500, epochs=2, regularization=strength, n_jobs=jobs)
want = binfm.train(X, y, epochs=1, regularization=0)
with open("/proc/self/statm") as sizes:
    used = int(sizes.read().split()[0]) * resource.getpagesize()
found = []
for room in range(8, 160, 8):
    resource.setrlimit(resource.RLIMIT_AS, (used + (room << 20), resource.RLIM_INFINITY))
    try:
        work()
        found.append("model")
    except MemoryError:
        found.append("memory")
    except RuntimeError as error:
        assert "threads could not be started" in str(error), error
        found.append("threads")
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert binfm.train(X, y, epochs=1, regularization=0) == want
assert found[-1] == "model" and "memory" in found, found
print("alive")
"""


@pytest.mark.parametrize(("method", "regularization"), [("bfm", 30), ("sefm", 0)])
def test_the_process_survives_wherever_memory_runs_out(run_python, method, regularization):
    """Eight megabytes more on each attempt, until there is enough."""
    assert run_python(SWEEP, method, regularization, 1, env=PLAIN, timeout=120) == b"alive\n"


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    """An allocator that fails on request, as a library to preload."""
    library = tmp_path_factory.mktemp("failing") / "failing.so"
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    source = MEMORY / "failing.c"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, source], check=True, timeout=60)
    return library


def test_a_failed_allocation_is_an_error(failing):
    """Some of the allocations of some jobs; `make -C benches starve` fails all of them."""
    command = [sys.executable, "-W", "ignore", MEMORY / "sweep.py", "--quick", "--every", "9"]
    environment = {**os.environ, "LD_PRELOAD": str(failing)}
    swept = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert swept.returncode == 0, swept.stdout + swept.stderr
    assert "'MemoryError'" in swept.stdout
