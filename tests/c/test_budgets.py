"""What `model.size_report(target=…)` says before compiling is what compilers and emulators say after."""

import binfm
import measure
import numpy as np
import pytest
from binfm import devices
from machines import TARGETS, Job
from test_runtime import assert_same

FLASH_TOLERANCE = 0.05
"""Compilers of other versions."""


@pytest.mark.parametrize("target", devices.TARGETS)
def test_a_report_adds_up(trained, target):
    for model, _ in trained.values():
        report = model.size_report(target)
        assert report["flash"] == report["runtime"] + report["model"]
        assert report["model"] == len(model.to_bytes(names=False, labels=False)) <= model.nbytes
        assert report["row"] == 4 * model.n_features
        assert report[devices.TARGETS[target].unit] > 100


def test_an_unknown_target_is_refused(trained):
    model, _ = trained["binary"]
    with pytest.raises(ValueError, match=r"^target: got 'z80'; accepted are 'avr', .*$"):
        model.size_report("z80")
    assert sum(model.size_report().values()) == model.nbytes, "without a target: the parts of the file"


def test_a_larger_model_takes_longer():
    X = np.random.default_rng(0).normal(size=(300, 8))
    y = np.arange(300) % 3
    times = [
        binfm.train(X, y, m=m, b=12, tilings=T, epochs=1).size_report("avr")["cycles"] for T in (1, 4) for m in (4, 16)
    ]
    assert times[0] < times[1] < times[3]
    assert times[0] < times[2] < times[3]


@pytest.mark.device
@pytest.mark.parametrize("name", TARGETS)
def test_flash_is_as_reported(folder, name):
    target, want = TARGETS[name], devices.TARGETS[name]
    target.need()
    predict = measure.flash(target, folder)
    both = measure.flash(target, folder, "-DCHECK")
    assert predict == pytest.approx(want.predict, rel=FLASH_TOLERANCE)
    assert both - predict == pytest.approx(want.check, rel=FLASH_TOLERANCE)


@pytest.mark.device
@pytest.mark.parametrize("name", ["cortex-m0", "cortex-m3", "riscv32"])
def test_stack_is_as_reported(folder, name):
    target = TARGETS[name]
    target.need()
    most = max(measure.stack(target, folder, function) for function in ("check", "predict", "predict_i16", "selftest"))
    assert most == pytest.approx(devices.TARGETS[name].stack, rel=FLASH_TOLERANCE)


@pytest.fixture(scope="module")
def typical():
    """Models of many shapes, with rows of their training."""
    rng = np.random.default_rng(7)
    jobs = []
    for _ in range(12):
        d, T, K = int(rng.integers(4, 26)), int(rng.choice([1, 2, 4])), int(rng.choice([2, 2, 5]))
        X = rng.normal(size=(300, d)).astype(np.float32)
        X[:, 0] = rng.choice([3, -500, 70], 300)
        X[:, 1] = rng.integers(0, 7, 300)
        y = rng.integers(0, K, 300)
        b = int(rng.integers(T + 2, 24))
        model = binfm.train(X, y, m=int(rng.integers(2, 25)), b=b, tilings=T, epochs=1, categorical=[0, 1])
        jobs.append(Job(model.to_bytes(), X[:3], check=False))
    return jobs


@pytest.mark.device
@pytest.mark.parametrize("name", TARGETS)
def test_time_is_as_estimated(folder, name, typical):
    results, counts = TARGETS[name].run(folder, typical, count=True)
    assert_same(typical, results)
    for job, rows in zip(typical, counts, strict=True):
        assert len(rows) == len(job.X)
        estimate = devices.steps(job.blob, devices.TARGETS[name])
        assert np.mean([row.steps for row in rows]) == pytest.approx(estimate, rel=devices.TOLERANCE)


@pytest.mark.device
def test_stack_on_avr_is_as_reported(folder, small_jobs):
    """The simulator sees the stack pointer: the most over models of every shape."""
    _, counts = TARGETS["avr"].run(folder, small_jobs, count=True)
    most = max(count.stack for counted in counts for count in counted)
    assert most == pytest.approx(devices.TARGETS["avr"].stack, rel=FLASH_TOLERANCE)


@pytest.mark.device
def test_one_millisecond_on_an_arduino(folder):
    """22 features, m=16, b=20, one grid, at 16 MHz: the promise of docs/devices.md."""
    X = np.random.default_rng(0).normal(size=(2000, 22)).astype(np.float32)
    model = binfm.train(X, X[:, 0] * X[:, 1] + X[:, 2] > 0, m=16, b=20, tilings=1, epochs=2)
    job = Job(model.to_bytes(), X[:50], check=False)
    (result,), (counts,) = TARGETS["avr"].run(folder, [job], count=True)
    assert_same([job], [result])
    assert max(row.steps for row in counts) < 16_000
