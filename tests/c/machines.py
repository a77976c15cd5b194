"""Compilers and emulators: build tests/c/firmware for a machine, run it on models and rows, read what it says."""

import itertools
import os
import re
import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

import binfm
import numpy as np
import pytest

HERE = Path(__file__).parent
FIRMWARE = HERE / "firmware"
INCLUDE = Path(binfm.get_include())
STRICT = ["-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"]
SECONDS = 120
"""No run takes longer."""


def need(*tools):
    """Skip the test where a tool is missing; fail in CI."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        stop(", ".join(missing))


def stop(missing):
    """Skip this test, or fail it in CI, and say what is missing."""
    message = f"not installed: {missing} (make device-deps)"
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


def run(command, **kwargs):
    done = subprocess.run([str(c) for c in command], capture_output=True, timeout=SECONDS, **kwargs)
    if done.returncode != 0:
        errors = (done.stderr + done.stdout[:2000] * (len(done.stderr) == 0)).decode(errors="replace")
        raise AssertionError(f"{command[0]} ended with {done.returncode}\n{errors}")
    return done.stdout


@dataclass(frozen=True)
class Job:
    """A model and rows for it, float32 or int16; none for a model that Python refuses."""

    blob: bytes
    X: np.ndarray
    check: bool = True
    """Whether the machine checks the model before it scores."""

    def packed(self):
        whole = self.X.dtype == np.int16
        flags = whole | (0 if self.check else 2)
        head = struct.pack("<I", len(self.blob)) + self.blob + struct.pack("<HIB", *self.X.shape, flags)
        return head + self.X.astype("<i2" if whole else "<f4").tobytes()


@dataclass(frozen=True)
class Result:
    """What driver.c says about a job."""

    status: int
    features: int = 0
    functions: int = 0
    classes: int = 0
    exponent: int = 0
    labels: tuple = ()
    scores: tuple = ()


def packed(jobs):
    return b"".join(job.packed() for job in jobs) + b"\xff" * 4


def results(output, jobs):
    """Read the output of driver.c."""
    at, read = 0, []
    for job in jobs:
        status = output[at]
        at += 1
        if status:
            read.append(Result(status))
            continue
        head = struct.unpack_from("<IHHh", output, at)
        at += 10
        labels, scores = [], []
        for _ in range(len(job.X)):
            label, *row = struct.unpack_from(f"<H{head[1]}q", output, at)
            at += 2 + 8 * head[1]
            labels.append(label)
            scores.append(row)
        read.append(Result(0, *head, tuple(labels), tuple(map(tuple, scores))))
    assert at == len(output), "nothing is left"
    return read


def links(compiler, folder, *options, text="int main(void) { return 0; }"):
    """Return whether a small program can be built."""
    (folder / "try.c").write_text(text)
    command = [compiler, *options, folder / "try.c", "-o", folder / "try"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@dataclass(frozen=True)
class Host:
    """A program under an operating system: this one's, or with an emulator another's."""

    compiler: str = "gcc"
    options: tuple = ("-std=c99", "-O2")
    emulator: str = ""

    def build(self, folder):
        need(self.compiler, *filter(None, [self.emulator]))
        name = folder / re.sub(r"\W+", "_", f"{self.compiler}_{'_'.join(self.options)}")[:150]
        if not name.exists():
            if "-fsanitize" in "".join(self.options) and not links(self.compiler, folder, *self.options):
                stop(f"the sanitizers of {self.compiler}")
            sources = [FIRMWARE / "driver.c", FIRMWARE / "host.c"]
            run([self.compiler, *self.options, *STRICT, f"-I{INCLUDE}", *sources, "-o", name])
        return name

    def run(self, folder, jobs):
        program = [*filter(None, [self.emulator]), self.build(folder)]
        return results(run(program, input=packed(jobs)), jobs)


@dataclass(frozen=True)
class Target:
    """A bare machine under an emulator."""

    name: str
    compiler: str
    flags: tuple
    sources: tuple
    emulator: tuple
    optimize: str = "-Os"

    @property
    def prefix(self):
        return self.compiler.removesuffix("gcc")

    @property
    def include(self):
        return f"-I{INCLUDE}"

    def need(self):
        need(self.compiler, self.emulator[0] if self.emulator else "gcc")

    def compile(self, folder, sources, output, *options):
        self.need()
        sources = [source if Path(source).is_absolute() else FIRMWARE / source for source in sources]
        flags = [*self.flags, self.optimize, self.include, *options]
        run([self.compiler, *flags, *sources, "-lgcc", "-o", folder / output])
        return folder / output

    def build(self, folder):
        elf = folder / f"{self.name}{self.optimize}.elf"
        return elf if elf.exists() else self.compile(folder, self.sources, elf.name)

    def run(self, folder, jobs, count=False):
        """Return the results and, if asked to count, the counts of each model: of its check, if any, and its rows."""
        elf = self.build(folder)
        (folder / "input").write_bytes(packed(jobs))
        (folder / "output").write_bytes(b"")
        counts = iter(self.emulate(folder, elf, count))
        said = results((folder / "output").read_bytes(), jobs)
        sizes = [job.check + len(result.labels) for job, result in zip(jobs, said, strict=True)]
        return said, [list(itertools.islice(counts, size)) for size in sizes] if count else None

    def emulate(self, folder, elf, count):
        log = folder / "log"
        step = [*single_step(self.emulator[0]), "-d", "exec,nochain", "-D", log] if count else []
        run([*self.emulator, *step, "-kernel", elf], cwd=folder)
        return instructions(log, self.symbols(elf)) if count else []

    def symbols(self, elf):
        lines = run([f"{self.prefix}nm", elf]).decode().splitlines()
        return {line.split()[-1]: int(line.split()[0], 16) for line in lines if len(line.split()) == 3}


@dataclass(frozen=True)
class Count:
    """What a check or a prediction took: instructions, or cycles where the emulator knows them, and bytes of stack."""

    steps: int
    stack: int = 0


class Avr(Target):
    """simavr, which counts cycles and sees the stack."""

    def emulate(self, folder, elf, count):
        run([simulator(folder), elf, "input", "output", "counts"], cwd=folder)
        lines = (folder / "counts").read_text().splitlines()
        return [Count(*map(int, line.split())) for line in lines]


def simulator(folder):
    """Build the runner around libsimavr."""
    need("gcc")
    if not (folder / "simulator").exists():
        if not links("gcc", folder, "-c", text="#include <simavr/sim_avr.h>"):
            stop("libsimavr-dev")
        run(["gcc", "-O2", FIRMWARE / "simulator.c", "-o", folder / "simulator", "-lsimavr", "-lelf"])
    return folder / "simulator"


def single_step(emulator):
    """Return the option that makes qemu log every instruction."""
    version = re.search(r"version (\d+)\.(\d+)", run([emulator, "--version"]).decode())
    new = (int(version[1]), int(version[2])) >= (8, 1)
    return ["-accel", "tcg,one-insn-per-tb=on"] if new else ["-singlestep"]


def instructions(log, symbols):
    """Return how many instructions ran between each pair of marks."""
    begin, end = symbols["mark_begin"] & ~1, symbols["mark_end"] & ~1
    counts, ran = [], None
    for line in log.read_text().splitlines():
        found = re.search(r"\[[0-9a-f]+/([0-9a-f]+)/", line)
        if found is None:
            continue
        at = int(found[1], 16)
        if at == begin:
            ran = 0
        elif at == end:
            counts.append(Count(ran - RETURN))
        elif ran is not None:
            ran += 1
    return counts


RETURN = 1
"""The instruction that returns from mark_begin."""

_BARE = ("-std=gnu99", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-nostdlib", "-nostartfiles")
_SEMIHOSTING = ("-nographic", "-monitor", "none", "-serial", "null", "-semihosting-config", "enable=on,target=native")
_ARM = (*_BARE, "-mthumb", "-T", str(FIRMWARE / "arm.ld"))
_RISCV = (*_BARE, "-march=rv32imac", "-mabi=ilp32", "-mcmodel=medany", "-T", str(FIRMWARE / "riscv.ld"))

TARGETS = {
    "cortex-m0": Target(
        "cortex-m0",
        "arm-none-eabi-gcc",
        ("-mcpu=cortex-m0", *_ARM),
        ("driver.c", "semihosting.c"),
        ("qemu-system-arm", "-M", "microbit", *_SEMIHOSTING),
    ),
    "cortex-m3": Target(
        "cortex-m3",
        "arm-none-eabi-gcc",
        ("-mcpu=cortex-m3", *_ARM),
        ("driver.c", "semihosting.c"),
        ("qemu-system-arm", "-M", "mps2-an385", *_SEMIHOSTING),
    ),
    "riscv32": Target(
        "riscv32",
        "riscv64-unknown-elf-gcc",
        (*_RISCV, "-Wl,--no-warn-rwx-segments"),
        ("driver.c", "semihosting.c"),
        ("qemu-system-riscv32", "-M", "virt", "-bios", "none", *_SEMIHOSTING),
    ),
    "avr": Avr(
        "avr",
        "avr-gcc",
        ("-std=gnu99", "-Wall", "-Wextra", "-Werror", "-mmcu=atmega328p"),
        ("driver.c", "avr.c"),
        (),
    ),
}
