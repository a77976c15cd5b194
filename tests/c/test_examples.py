"""The examples in runtime/examples compile without a warning and do what they say."""

import subprocess
import sys
from pathlib import Path

import binfm
import numpy as np
import pytest
from machines import FIRMWARE, INCLUDE, STRICT, TARGETS, need, run, simulator

EXAMPLES = Path(__file__).parents[2] / "runtime" / "examples"
sys.path.insert(0, str(EXAMPLES))
import make_model  # noqa: E402


@pytest.fixture(scope="module")
def gesture(tmp_path_factory):
    """A folder with the model of the examples, and the model."""
    folder = tmp_path_factory.mktemp("gesture")
    run([sys.executable, EXAMPLES / "make_model.py", folder])
    return folder, binfm.load(folder / "gesture.binfm")


def test_the_model_of_the_examples_is_good(gesture):
    _, model = gesture
    X, y = make_model.gestures(2000, seed=1)
    assert np.mean(model.predict(X) == y) > 0.95
    assert list(model.classes) == ["shaken", "still", "tilted"], "as in the sketch"


def test_the_host_program_prints_scores_of_python(gesture):
    need("gcc")
    folder, model = gesture
    source = EXAMPLES / "host" / "predict.c"
    run(["gcc", "-std=c99", "-O2", *STRICT, f"-I{INCLUDE}", source, "-lm", "-o", folder / "predict"])
    X = make_model.gestures(50, seed=2)[0].astype(np.float32)
    X[3, 2] = np.nan
    lines = "\n".join(" ".join(map(str, row)) for row in X)
    output = run([folder / "predict", folder / "gesture.binfm"], input=lines.encode()).decode().split("\n")
    printed = np.array([line.split() for line in output if line], float)
    np.testing.assert_array_equal(model.classes[printed[:, 0].astype(int)], model.predict(X))
    np.testing.assert_allclose(printed[:, 1:], model.decision_function(X), rtol=1e-8)


def test_the_host_program_refuses_what_is_no_model(gesture):
    need("gcc")
    folder, _ = gesture
    done = subprocess.run([folder / "predict", folder / "gesture.h"], capture_output=True, check=False)
    assert done.returncode == 1
    assert b"no model" in done.stderr


@pytest.mark.device
def test_the_arduino_sketch_names_gestures(gesture):
    """Compiled as Arduino's builder does it; firmware/Arduino.h stands for the board, whose sensor plays a row."""
    need("avr-g++")
    folder, _ = gesture
    sketch = EXAMPLES / "arduino" / "gesture" / "gesture.ino"
    flags = ["-std=gnu++11", "-mmcu=atmega328p", "-Os", "-Wall", "-Wextra", "-Werror", "-fno-exceptions", "-x", "c++"]
    include = ["-include", FIRMWARE / "Arduino.h", f"-I{folder}"]
    run(["avr-g++", *flags, *include, sketch, "-o", folder / "sketch.elf"])
    (folder / "in").write_bytes(b"")
    run([simulator(folder), folder / "sketch.elf", "in", "out", "counts"], cwd=folder)
    lines = (folder / "out").read_text().split()
    assert lines == ["still", "tilted", "shaken"], "what Arduino.h plays"


@pytest.mark.device
def test_the_cortex_m_example_shows_gestures(gesture):
    target = TARGETS["cortex-m0"]
    target.need()
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
    done = subprocess.run(emulator, capture_output=True, timeout=60, check=True, stdin=subprocess.DEVNULL)
    shown = [int(word) for word in (done.stdout + done.stderr).decode().split() if word.isdigit()]
    rows = [[12, -40, 998, 60, 22, 41], [640, 15, 770, 50, 90, 35], [-30, 10, 1001, 1500, 900, 2100]]
    assert list(model.classes[shown]) == list(model.predict(rows)) == ["still", "tilted", "shaken"]
