"""The estimates of `model.size_report(target=…)` match what compilers and emulators measure."""

import binfm
import measure
import numpy as np
import pytest
from binfm.export import devices
from machines import TARGETS, Job
from test_runtime import assert_matches_python

FLASH_TOLERANCE = 0.05
"""Compiler versions differ by this much."""


@pytest.mark.parametrize("target", devices.TARGETS)
def test_report_adds_up(trained, target):
    for model, _ in trained.values():
        report = model.size_report(target)
        assert report["flash"] == report["runtime"] + report["model"]
        assert report["runtime"] == report["predict"] + report["check"]
        assert report["model"] == len(model.to_bytes(names=False, labels=False)) <= model.nbytes
        assert report["row"] == 4 * model.n_features
        assert report[devices.TARGETS[target].unit] > 100


def test_unknown_target_is_rejected(trained):
    model, _ = trained["binary"]
    with pytest.raises(ValueError, match=r"^target must be 'avr', .*, got 'z80'$"):
        model.size_report("z80")
    assert sum(model.size_report().values()) == model.nbytes, "without a target, the report lists the parts of the file"


def test_larger_models_take_longer():
    X = np.random.default_rng(0).normal(size=(300, 8))
    y = np.arange(300) % 3
    settings = {"b": 12, "epochs": 1, "regularization": 0}
    models = [binfm.train(X, y, m=m, tilings=T, **settings) for T in (1, 4) for m in (4, 16)]
    times = [model.size_report("avr")["cycles"] for model in models]
    assert times[0] < times[1] < times[3]
    assert times[0] < times[2] < times[3]


@pytest.mark.device
@pytest.mark.parametrize("name", TARGETS)
def test_flash_matches_report(folder, name):
    target, want = TARGETS[name], devices.TARGETS[name]
    target.require()
    predict = measure.flash(target, folder)
    both = measure.flash(target, folder, "-DCHECK")
    assert predict == pytest.approx(want.predict, rel=FLASH_TOLERANCE)
    assert both - predict == pytest.approx(want.check, rel=FLASH_TOLERANCE)


@pytest.mark.device
@pytest.mark.parametrize("name", ["cortex-m0", "cortex-m3", "riscv32"])
def test_stack_matches_report(folder, name):
    target = TARGETS[name]
    target.require()
    stack = max(measure.stack(target, folder, function) for function in ("check", "predict", "predict_i16", "selftest"))
    assert stack == pytest.approx(devices.TARGETS[name].stack, rel=FLASH_TOLERANCE)


@pytest.fixture(scope="module")
def typical():
    """Models of many shapes with some of their training samples."""
    rng = np.random.default_rng(7)
    jobs = []
    for i in range(12):
        d, T, K = int(rng.integers(4, 26)), int(rng.choice([1, 2, 4])), int(rng.choice([2, 2, 5]))
        X = rng.normal(size=(300, d)).astype(np.float32)
        X[:, 0] = rng.choice([3, -500, 70], 300)
        X[:, 1] = rng.integers(0, 7, 300)
        y = rng.integers(0, K, 300)
        b, m, w_bits = int(rng.integers(T + 2, 24)), int(rng.integers(2, 25)), 1 if i % 3 else 4
        model = binfm.train(X, y, m=m, w_bits=w_bits, b=b, tilings=T, epochs=1, categorical=[0, 1])
        jobs.append(Job(model.to_bytes(), X[:3], check=False))
    return jobs


@pytest.mark.device
@pytest.mark.parametrize("name", TARGETS)
def test_time_matches_estimate(folder, name, typical):
    results, counts = TARGETS[name].run(folder, typical, count=True)
    assert_matches_python(typical, results)
    for job, job_counts in zip(typical, counts, strict=True):
        assert len(job_counts) == len(job.X)
        estimate = devices.steps(binfm.Model.from_bytes(job.blob), devices.TARGETS[name])
        assert np.mean([count.steps for count in job_counts]) == pytest.approx(estimate, rel=devices.TOLERANCE)


@pytest.mark.device
def test_avr_stack_matches_report(folder, small_jobs):
    """The simulator tracks the stack pointer; the report is the maximum over models of every shape."""
    _, counts = TARGETS["avr"].run(folder, small_jobs, count=True)
    stack = max(count.stack for job_counts in counts for count in job_counts)
    assert stack == pytest.approx(devices.TARGETS["avr"].stack, rel=FLASH_TOLERANCE)


@pytest.mark.device
def test_ten_classes_and_the_runtime_are_small_on_a_cortex_m0(folder):
    """16 features, m=4, b=16, four tilings: a model of two kilobytes, and 4 KB of code to check it and predict."""
    X = np.random.default_rng(0).normal(size=(2000, 16)).astype(np.float32)
    model = binfm.train(X, np.arange(2000) % 10, m=4, w_bits=1, b=16, tilings=4, epochs=1)
    job = Job(model.to_bytes(), X[:3], check=False)
    (result,), (counts,) = TARGETS["cortex-m0"].run(folder, [job], count=True)
    assert_matches_python([job], [result])
    assert max(count.steps for count in counts) < 17_000
    assert measure.flash(TARGETS["cortex-m0"], folder, "-DCHECK") <= 4096


@pytest.mark.device
def test_prediction_takes_a_millisecond_on_an_arduino(folder):
    """22 features, m=16, b=20, one tiling, at 16 MHz: as promised in docs/devices.md."""
    X = np.random.default_rng(0).normal(size=(2000, 22)).astype(np.float32)
    model = binfm.train(X, X[:, 0] * X[:, 1] + X[:, 2] > 0, m=16, b=20, tilings=1, epochs=2)
    job = Job(model.to_bytes(), X[:50], check=False)
    (result,), (counts,) = TARGETS["avr"].run(folder, [job], count=True)
    assert_matches_python([job], [result])
    assert max(count.steps for count in counts) < 16_000
