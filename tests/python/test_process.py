"""A good citizen of its process: forks, signals, threads, imports."""

import multiprocessing
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import binfm
import numpy as np
import pytest

WORKLOAD = """
import numpy as np, binfm
rng = np.random.default_rng(0)
X = rng.normal(size=(200_000, 6)).astype(np.float32)
work = lambda jobs: binfm.train(X[:3000], np.arange(3000) % 4, epochs=2, n_jobs=jobs)
score = lambda jobs: model.decision_function(X, n_jobs=jobs).tobytes()
model = work(3)
expected = score(3)
def child():
    for jobs in (3, 1, None):
        assert work(jobs) == model
        assert score(jobs) == expected
child()
"""


def test_a_forked_child_scores_and_trains(run_python):
    code = WORKLOAD + (
        "import os, signal\n"
        "for _ in range(3):\n"
        "    pid = os.fork()\n"
        "    if pid == 0:\n"
        "        signal.alarm(20)\n"
        "        child()\n"
        "        os._exit(7)\n"
        "    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7\n"
        "    child()\n"
        "print('done')"
    )
    script = code if sys.version_info < (3, 12) else "import warnings; warnings.simplefilter('ignore')\n" + code
    assert run_python(script, timeout=90) == b"done\n"


def test_a_fork_in_the_middle_of_scoring_does_not_hang(run_python):
    code = WORKLOAD + (
        "import os, signal, threading\n"
        "stop = threading.Event()\n"
        "def busy():\n"
        "    while not stop.is_set(): model.decision_function(X, n_jobs=3)\n"
        "threads = [threading.Thread(target=busy, daemon=True) for _ in range(2)]\n"
        "[t.start() for t in threads]\n"
        "for _ in range(4):\n"
        "    pid = os.fork()\n"
        "    if pid == 0:\n"
        "        signal.alarm(20)\n"
        "        child()\n"
        "        os._exit(7)\n"
        "    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7\n"
        "stop.set()\n"
        "[t.join() for t in threads]\n"
        "print('done')"
    )
    script = code if sys.version_info < (3, 12) else "import warnings; warnings.simplefilter('ignore')\n" + code
    assert run_python(script, timeout=120) == b"done\n"


def score(argument):
    model, X = argument
    again = binfm.train(X, np.arange(len(X)) % 3, epochs=1, m=4)
    return model.decision_function(X, n_jobs=2).tobytes(), again.to_bytes()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("how", ["fork", "spawn", "forkserver"])
def test_multiprocessing(numbers, binary, how):
    X = numbers[0]
    expected = score((binary, X))
    with multiprocessing.get_context(how).Pool(2) as pool:
        assert pool.map_async(score, [(binary, X)] * 4).get(timeout=60) == [expected] * 4


INTERRUPTED = """
import sys, time, numpy as np, binfm
from scipy import sparse
rng = np.random.default_rng(0)
kind = sys.argv[1]
X = rng.normal(size=(100_000, 20)).astype(np.float32)
y = rng.integers(0, 6 if kind == "classes" else 2, 100_000)
if kind == "sparse":
    columns = rng.integers(0, 10_000, 2_000_000)
    X = sparse.csr_array((rng.random(2_000_000), columns, np.arange(100_001) * 20), (100_000, 10_000))
    X.sum_duplicates()
more = {"callback": lambda epoch, record: None} if kind == "callback" else {}
print("ready", flush=True)
try:
    binfm.train(X, y, m=200, epochs=10_000, early_stopping=False, **more)
except KeyboardInterrupt:
    print(repr(time.time()), flush=True)
    # and the library still works
    binfm.train(np.asarray(rng.normal(size=(50, 2))), np.arange(50) % 3, epochs=1)
    print("alive", flush=True)
"""


@pytest.mark.parametrize("kind", ["binary", "classes", "sparse", "callback"])
@pytest.mark.parametrize("wait", [0.2, 0.7])
def test_ctrl_c_stops_training_within_half_a_second(interrupt, kind, wait):
    """While it reads the table, while it prepares the parameters, and while it trains."""
    assert interrupt(INTERRUPTED, kind, wait) < 0.5


def test_import_starts_no_thread_and_needs_only_numpy(run_python):
    code = (
        "import os, sys, numpy\n"
        "threads = len(os.listdir('/proc/self/task'))\n"
        "before = set(sys.modules)\n"
        "import binfm\n"
        "assert len(os.listdir('/proc/self/task')) == threads\n"
        "new = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "print(*sorted(new - set(sys.stdlib_module_names)))"
    )
    assert set(run_python(code).split()) <= {b"binfm", b"numpy"}


def test_training_and_scoring_import_nothing(run_python):
    code = (
        "import sys, numpy as np, binfm\n"
        "X = np.random.default_rng(0).normal(size=(90, 3))\n"
        "m = binfm.train(X, np.arange(90) % 3, epochs=2)\n"
        "m.predict(X), m.predict_proba(X), repr(m), m.features, m.size_report()\n"
        "print(*{'scipy', 'sklearn', 'pandas', 'matplotlib', 'tqdm', 'polars', 'pyarrow'} & set(sys.modules))"
    )
    assert run_python(code) == b"\n"


def test_nothing_is_printed(capfd, tmp_path, numbers):
    X, y = numbers
    model = binfm.train(X, y, epochs=2, early_stopping=True)
    model.save(tmp_path / "m")
    binfm.load(tmp_path / "m").predict_proba(X)
    with pytest.raises(binfm.ModelFormatError):
        binfm.Model.from_bytes(b"\xb1FM\n")
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2])
    assert capfd.readouterr() == ("", "")


def test_threads_share_a_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 6))
    model = binfm.train(X[:1000], np.arange(1000) % 3, epochs=2)
    expected = model.decision_function(X, n_jobs=1).tobytes()

    def work(i):
        return [model.decision_function(X, n_jobs=1 + (i + k) % 3).tobytes() == expected for k in range(6)]

    with ThreadPoolExecutor(8) as pool:
        assert all(all(same) for same in pool.map(work, range(8)))


def test_threads_train_at_the_same_time(numbers):
    X, y = numbers
    expected = binfm.train(X, y, epochs=2)
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda i: binfm.train(X, y, epochs=2, n_jobs=i % 3 + 1), range(8))) == {expected}


def test_the_gil_is_released_while_training():
    """A Python thread keeps counting while another trains."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 20))
    ticks = 0
    with ThreadPoolExecutor(1) as pool:
        training = pool.submit(binfm.train, X, X[:, 0] > 0, epochs=3, m=1024, n_jobs=1)
        while not training.done():
            time.sleep(0.001)
            ticks += 1
    training.result()
    assert ticks > 20


def test_a_process_with_threads_exits(run_python):
    """Interpreter shutdown with a live thread pool neither hangs nor crashes."""
    assert run_python(WORKLOAD + "print('done')") == b"done\n"
