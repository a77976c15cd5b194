"""Compilers and emulators: build tests/c/firmware for a machine, run it on models and samples, parse its output."""

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
TIMEOUT = 120
"""Seconds that any command may take."""


def require(*tools):
    """Skip the test if a tool is missing; in CI, fail it."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        skip_or_fail(", ".join(missing))


def skip_or_fail(missing):
    """Report what is missing and skip the test; in CI, fail it."""
    message = f"not installed: {missing} (make device-deps)"
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


def run(command, **kwargs):
    done = subprocess.run([str(c) for c in command], capture_output=True, timeout=TIMEOUT, **kwargs)
    if done.returncode != 0:
        errors = (done.stderr + done.stdout[:2000] * (len(done.stderr) == 0)).decode(errors="replace")
        raise AssertionError(f"{command[0]} exited with status {done.returncode}\n{errors}")
    return done.stdout


@dataclass(frozen=True)
class Job:
    """A model and samples for it, float32 or int16; no samples for a model that Python rejects."""

    blob: bytes
    X: np.ndarray
    check: bool = True
    """Whether the machine validates the model before scoring."""

    def packed(self):
        is_int16 = self.X.dtype == np.int16
        flags = is_int16 | (0 if self.check else 2)
        head = struct.pack("<I", len(self.blob)) + self.blob + struct.pack("<HIB", *self.X.shape, flags)
        return head + self.X.astype("<i2" if is_int16 else "<f4").tobytes()


@dataclass(frozen=True)
class Result:
    """Output of driver.c for a job."""

    status: int
    features: int = 0
    outputs: int = 0
    classes: int = 0
    exponent: int = 0
    labels: tuple = ()
    scores: tuple = ()


def packed(jobs):
    return b"".join(job.packed() for job in jobs) + b"\xff" * 4


def parse_results(output, jobs):
    """Parse the output of driver.c."""
    at, parsed = 0, []
    for job in jobs:
        status = output[at]
        at += 1
        if status:
            parsed.append(Result(status))
            continue
        head = struct.unpack_from("<IHHh", output, at)
        at += 10
        labels, scores = [], []
        for _ in range(len(job.X)):
            label, *sample_scores = struct.unpack_from(f"<H{head[1]}q", output, at)
            at += 2 + 8 * head[1]
            labels.append(label)
            scores.append(sample_scores)
        parsed.append(Result(0, *head, tuple(labels), tuple(map(tuple, scores))))
    assert at == len(output), "trailing bytes"
    return parsed


def can_build(compiler, folder, *options, text="int main(void) { return 0; }"):
    """Return whether a minimal program builds."""
    (folder / "try.c").write_text(text)
    command = [compiler, *options, folder / "try.c", "-o", folder / "try"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@dataclass(frozen=True)
class Host:
    """A hosted program, native or under a user-mode emulator."""

    compiler: str = "gcc"
    options: tuple = ("-std=c99", "-O2")
    emulator: str = ""

    def build(self, folder):
        require(self.compiler, *filter(None, [self.emulator]))
        name = folder / re.sub(r"\W+", "_", f"{self.compiler}_{'_'.join(self.options)}")[:150]
        if not name.exists():
            if "-fsanitize" in "".join(self.options) and not can_build(self.compiler, folder, *self.options):
                skip_or_fail(f"sanitizers for {self.compiler}")
            sources = [FIRMWARE / "driver.c", FIRMWARE / "host.c"]
            run([self.compiler, *self.options, *STRICT, f"-I{INCLUDE}", *sources, "-o", name])
        return name

    def run(self, folder, jobs):
        program = [*filter(None, [self.emulator]), self.build(folder)]
        return parse_results(run(program, input=packed(jobs)), jobs)


@dataclass(frozen=True)
class Target:
    """A bare-metal machine under an emulator."""

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

    def require(self):
        require(self.compiler, self.emulator[0] if self.emulator else "gcc")

    def compile(self, folder, sources, output, *options):
        self.require()
        sources = [source if Path(source).is_absolute() else FIRMWARE / source for source in sources]
        flags = [*self.flags, self.optimize, self.include, *options]
        run([self.compiler, *flags, *sources, "-lgcc", "-o", folder / output])
        return folder / output

    def build(self, folder):
        elf = folder / f"{self.name}{self.optimize}.elf"
        return elf if elf.exists() else self.compile(folder, self.sources, elf.name)

    def run(self, folder, jobs, count=False):
        """Return the results and, with `count`, the counts of each job: its check, if any, then its samples."""
        elf = self.build(folder)
        (folder / "input").write_bytes(packed(jobs))
        (folder / "output").write_bytes(b"")
        counts = iter(self.emulate(folder, elf, count))
        results = parse_results((folder / "output").read_bytes(), jobs)
        sizes = [job.check + len(result.labels) for job, result in zip(jobs, results, strict=True)]
        return results, [list(itertools.islice(counts, size)) for size in sizes] if count else None

    def emulate(self, folder, elf, count):
        log = folder / "log"
        step = [*single_step_options(self.emulator[0]), "-d", "exec,nochain", "-D", log] if count else []
        run([*self.emulator, *step, "-kernel", elf], cwd=folder)
        return count_instructions(log, self.symbols(elf)) if count else []

    def symbols(self, elf):
        lines = run([f"{self.prefix}nm", elf]).decode().splitlines()
        return {line.split()[-1]: int(line.split()[0], 16) for line in lines if len(line.split()) == 3}


@dataclass(frozen=True)
class Count:
    """Cost of a check or prediction: cycles and bytes of stack on AVR, instructions elsewhere."""

    steps: int
    stack: int = 0


class Avr(Target):
    """An AVR under simavr, which measures cycles and stack."""

    def emulate(self, folder, elf, count):
        run([build_simulator(folder), elf, "input", "output", "counts"], cwd=folder)
        lines = (folder / "counts").read_text().splitlines()
        return [Count(*map(int, line.split())) for line in lines]


def build_simulator(folder):
    """Build firmware/simulator.c with libsimavr."""
    require("gcc")
    if not (folder / "simulator").exists():
        if not can_build("gcc", folder, "-c", text="#include <simavr/sim_avr.h>"):
            skip_or_fail("libsimavr-dev")
        run(["gcc", "-O2", FIRMWARE / "simulator.c", "-o", folder / "simulator", "-lsimavr", "-lelf"])
    return folder / "simulator"


def single_step_options(emulator):
    """Return the qemu options that put every instruction into a block of its own, so that each is logged."""
    version = re.search(r"version (\d+)\.(\d+)", run([emulator, "--version"]).decode())
    new = (int(version[1]), int(version[2])) >= (8, 1)
    return ["-accel", "tcg,one-insn-per-tb=on"] if new else ["-singlestep"]


def count_instructions(log, symbols):
    """Count the instructions between each pair of markers."""
    begin, end = symbols["mark_begin"] & ~1, symbols["mark_end"] & ~1
    counts, executed = [], None
    for line in log.read_text().splitlines():
        found = re.search(r"\[[0-9a-f]+/([0-9a-f]+)/", line)
        if found is None:
            continue
        at = int(found[1], 16)
        if at == begin:
            executed = 0
        elif at == end:
            counts.append(Count(executed - RETURN))
        elif executed is not None:
            executed += 1
    return counts


RETURN = 1
"""The return from mark_begin is one instruction."""

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
