"""The programs in runtime/examples compile without warnings and work."""

import subprocess
import sys
from pathlib import Path

import binfm
import numpy as np
import pytest
from machines import FIRMWARE, INCLUDE, STRICT, TARGETS, build_simulator, require, run

EXAMPLES = Path(__file__).parents[2] / "runtime" / "examples"
sys.path.insert(0, str(EXAMPLES))
import make_model  # noqa: E402


@pytest.fixture(scope="module")
def gesture(tmp_path_factory):
    """Directory with the example model's files, and the model."""
    folder = tmp_path_factory.mktemp("gesture")
    run([sys.executable, EXAMPLES / "make_model.py", folder])
    return folder, binfm.load(folder / "gesture.binfm")


def test_example_model_is_accurate(gesture):
    _, model = gesture
    X, y = make_model.gestures(2000, seed=1)
    assert np.mean(model.predict(X) == y) > 0.95
    assert list(model.classes) == ["shaken", "still", "tilted"], "the order of the names in the sketch"


def test_host_program_prints_the_scores_of_python(gesture):
    require("gcc")
    folder, model = gesture
    source = EXAMPLES / "host" / "predict.c"
    run(["gcc", "-std=c99", "-O2", *STRICT, f"-I{INCLUDE}", source, "-lm", "-o", folder / "predict"])
    X = make_model.gestures(50, seed=2)[0].astype(np.float32)
    X[3, 2] = np.nan
    lines = "\n".join(" ".join(map(str, sample)) for sample in X)
    output = run([folder / "predict", folder / "gesture.binfm"], input=lines.encode()).decode().split("\n")
    printed = np.array([line.split() for line in output if line], float)
    np.testing.assert_array_equal(model.classes[printed[:, 0].astype(int)], model.predict(X))
    np.testing.assert_allclose(printed[:, 1:], model.decision_function(X), rtol=1e-8)


def test_host_program_rejects_other_files(gesture):
    require("gcc")
    folder, _ = gesture
    result = subprocess.run([folder / "predict", folder / "gesture.h"], capture_output=True, check=False)
    assert result.returncode == 1
    assert b"no model" in result.stderr


@pytest.mark.device
def test_arduino_sketch_recognizes_gestures(gesture):
    """Compiled the way the Arduino builder does; firmware/Arduino.h replaces the board and replays sensor data."""
    require("avr-g++")
    folder, _ = gesture
    sketch = EXAMPLES / "arduino" / "gesture" / "gesture.ino"
    flags = ["-std=gnu++11", "-mmcu=atmega328p", "-Os", "-Wall", "-Wextra", "-Werror", "-fno-exceptions", "-x", "c++"]
    include = ["-include", FIRMWARE / "Arduino.h", f"-I{folder}"]
    run(["avr-g++", *flags, *include, sketch, "-o", folder / "sketch.elf"])
    (folder / "in").write_bytes(b"")
    run([build_simulator(folder), folder / "sketch.elf", "in", "out", "counts"], cwd=folder)
    lines = (folder / "out").read_text().split()
    assert lines == ["still", "tilted", "shaken"], "the samples that Arduino.h replays"


@pytest.mark.device
def test_cortex_m_example_recognizes_gestures(gesture):
    target = TARGETS["cortex-m0"]
    target.require()
    folder, model = gesture
    here = EXAMPLES / "cortex-m"
    flags = [
        "-mcpu=cortex-m0",
        "-mthumb",
        "-Os",
        "-std=gnu99",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-ffreestanding",
        "-nostdlib",
    ]
    sources = [here / "main.c", here / "microbit.c"]
    elf = folder / "gesture.elf"
    run(["arm-none-eabi-gcc", *flags, f"-I{folder}", "-T", here / "microbit.ld", *sources, "-lgcc", "-o", elf])
    emulator = ["qemu-system-arm", "-M", "microbit", "-nographic", "-semihosting", "-kernel", elf]
    result = subprocess.run(emulator, capture_output=True, timeout=60, check=True, stdin=subprocess.DEVNULL)
    shown = [int(word) for word in (result.stdout + result.stderr).decode().split() if word.isdigit()]
    samples = [[12, -40, 998, 60, 22, 41], [640, 15, 770, 50, 90, 35], [-30, 10, 1001, 1500, 900, 2100]]
    assert list(model.classes[shown]) == list(model.predict(samples)) == ["still", "tilted", "shaken"]
