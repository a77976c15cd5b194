"""Whatever interrupts a save, the path holds the old model or the new one; devices, pipes and links survive."""

import errno
import multiprocessing
import os
import stat
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import binfm
import numpy as np
import pytest

KILLS = int(os.environ.get("BINFM_KILLS", "40"))

KILLED = """
import collections, os, random, signal, sys, time, binfm
path, kills = sys.argv[1], int(sys.argv[2])
models = [binfm.load(name) for name in sys.argv[3:]]
whole = {model.to_bytes(): i for i, model in enumerate(models)}
models[0].save(path)
wait, found, amid = random.Random(0), collections.Counter(), 0
for _ in range(kills):
    child = os.fork()
    if child == 0:
        while True:
            for model in models: model.save(path)
    time.sleep(wait.random() * 0.03)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with open(path, "rb") as file: found[whole[file.read()]] += 1
    binfm.load(path)
    others = set(os.listdir(os.path.dirname(path))) - {os.path.basename(path)}
    assert len(others) <= 1 and all(name.startswith(".binfm-") for name in others), others
    amid += len(others)
    for name in others: os.remove(os.path.join(os.path.dirname(path), name))
print(kills, amid, *(found[i] for i in range(len(models))))
"""


@pytest.fixture(scope="module")
def large(numbers):
    """A model of about 250 KB, which takes a while to write."""
    return binfm.train(*numbers, m=20_000, b=20, epochs=1, early_stopping=False, regularization=0)


@pytest.fixture
def folder(tmp_path):
    """An empty folder for the model."""
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder"


@pytest.fixture
def public():
    """A folder that any user can access, unlike pytest's."""
    with tempfile.TemporaryDirectory() as outer:
        Path(outer).chmod(0o755)
        inner = Path(outer, "folder")
        inner.mkdir()
        yield inner
        inner.chmod(0o755)


def test_a_killed_save_leaves_the_old_model_or_the_new_one(run_python, binary, large, tmp_path, folder):
    binary.save(tmp_path / "small")
    large.save(tmp_path / "large")
    done = run_python(KILLED, folder / "m", KILLS, tmp_path / "small", tmp_path / "large", timeout=30 + KILLS)
    kills, amid, *found = map(int, done.split())
    print(f"{kills} kills, {amid} in the middle of a save: {found[0]} times the one model, {found[1]} the other")
    assert kills == sum(found) == KILLS
    assert amid > KILLS / 20, "most of the time goes into saving"


def test_a_full_disk_leaves_the_old_model(binary, large, folder):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "binfm", folder], capture_output=True).returncode:
        pytest.skip("only root can mount a small disk")
    try:
        binary.save(folder / "m")
        with pytest.raises(OSError, match="folder/m") as caught:
            large.save(folder / "m")
        assert caught.value.errno == errno.ENOSPC
        assert [path.name for path in folder.iterdir()] == ["m"]
        assert binfm.load(folder / "m") == binary
    finally:
        subprocess.run(["umount", folder], check=True)


AS_NOBODY = """
import os, sys, binfm
model = binfm.Model.from_bytes(open(sys.argv[2], "rb").read())
if os.getuid() == 0: os.setuid(65534)  # root may do anything
for name in ("m", "new"):
    try: model.save(os.path.join(sys.argv[1], name))
    except OSError as error: print(error.errno)
    else: assert binfm.load(os.path.join(sys.argv[1], name)) == model
"""


def test_saving_to_a_read_only_folder_is_a_permission_error(run_python, binary, large, tmp_path, public):
    binary.save(public / "m")
    large.save(tmp_path / "given")
    public.chmod(0o555)
    assert run_python(AS_NOBODY, public, tmp_path / "given").split() == [b"%d" % errno.EACCES] * 2
    assert [path.name for path in public.iterdir()] == ["m"]
    assert binfm.load(public / "m") == binary


def test_a_model_can_be_saved_to_a_write_only_folder(run_python, binary, tmp_path, public):
    binary.save(tmp_path / "given")
    public.chmod(0o333)
    assert run_python(AS_NOBODY, public, tmp_path / "given") == b""
    public.chmod(0o755)
    assert sorted(path.name for path in public.iterdir()) == ["m", "new"]


def test_saving_to_a_read_only_disk_fails(binary, folder):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "binfm", folder], capture_output=True).returncode:
        pytest.skip("only root can mount a disk")
    try:
        with pytest.raises(OSError, match="folder/m") as caught:
            binary.save(folder / "m")
        assert caught.value.errno == errno.EROFS
    finally:
        subprocess.run(["umount", folder], check=True)


def save_repeatedly(argument):
    blob, path, times = argument
    model = binfm.Model.from_bytes(blob)
    for _ in range(times):
        model.save(path)
        binfm.load(path)


@pytest.fixture(params=["threads", "processes"])
def workers(request):
    if request.param == "threads":
        with ThreadPoolExecutor(6) as pool:
            yield lambda work: list(pool.map(save_repeatedly, work))
    else:
        with multiprocessing.get_context("spawn").Pool(3) as pool:
            yield lambda work: pool.map_async(save_repeatedly, work).get(timeout=90)


def test_concurrent_saves_do_not_mix(workers, binary, large, models, folder):
    """Six workers save three models to one path and load it, while another thread keeps reading it."""
    blobs = [model.to_bytes() for model in (binary, large, models["names"][0])]
    binary.save(folder / "m")
    seen, done = set(), threading.Event()

    def read_until_done():
        while not done.is_set():
            seen.add((folder / "m").read_bytes())

    reader = threading.Thread(target=read_until_done)
    reader.start()
    try:
        workers([(blob, folder / "m", 15) for blob in blobs * 2])
    finally:
        done.set()
        reader.join()
    assert seen <= set(blobs)
    assert len(seen) > 1
    assert [path.name for path in folder.iterdir()] == ["m"]


# Devices, pipes and links


def test_a_device_is_written_to_and_stays_a_device(binary):
    with pytest.raises(OSError, match="/dev/full") as caught:
        binary.save("/dev/full")
    assert caught.value.errno == errno.ENOSPC
    binary.save("/dev/null")
    for path in ("/dev/full", "/dev/null"):
        assert stat.S_ISCHR(os.stat(path).st_mode)


def test_a_pipe_carries_a_model(run_python, binary, models, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(binfm.load, tmp_path / "pipe")
        binary.save(tmp_path / "pipe")
        assert read.result(timeout=10) == binary
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    code = "import sys, binfm; binfm.load(sys.argv[1]).save('/dev/stdout')"
    binary.save(tmp_path / "m")
    assert run_python(code, tmp_path / "m") == binary.to_bytes()


def test_a_link_stays_a_link(binary, large, tmp_path, folder):
    binary.save(folder / "m")
    (tmp_path / "link").symlink_to(folder / "m")
    large.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert binfm.load(folder / "m") == large
    for name, to in [("whole", folder / "absent"), ("relative", "folder/new")]:
        (tmp_path / name).symlink_to(to)
        binary.save(tmp_path / name)
        assert (tmp_path / name).is_symlink()
        assert binfm.load(tmp_path / to) == binary


LIMITED = """
import sys, resource, binfm
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 50_000_000,) * 2)
for path in sys.argv[1:]:
    try: binfm.load(path)
    except binfm.ModelFormatError as error: print(error)
"""


def test_loading_reads_no_more_than_a_model(run_python, binary, tmp_path):
    """Endless files, and huge ones that begin like another format or like a model."""
    for name, prefix in [("other", b"PK\x03\x04"), ("model", binary.to_bytes())]:
        with (tmp_path / name).open("wb") as file:
            file.write(prefix)
            file.truncate(1 << 40)
    lines = run_python(LIMITED, "/dev/zero", tmp_path / "other", tmp_path / "model").decode().splitlines()
    assert [line.split(": ")[1].split(" at ")[0] for line in lines] == [
        "the first four bytes are not a model's",
        "the first four bytes are not a model's",
        f"the declared length is {binary.nbytes}, but the file is longer,",
    ]


def test_an_unused_column_costs_little(run_python, tmp_path):
    """One bit in the file; as a Python list, these once took a kilobyte of memory per byte."""
    X = np.zeros((4, 4_000_000), np.float32)
    X[:, 7] = range(4)
    binfm.train(X, [0, 0, 1, 1], m=1, epochs=1, early_stopping=False).save(tmp_path / "m")
    size = (tmp_path / "m").stat().st_size
    code = LIMITED.replace("50_000_000", str(size * 60 + 20_000_000)) + "print('loaded')"
    assert run_python(code, tmp_path / "m") == b"loaded\n"
    assert size < 510_000
