"""Footprint of the runtime on a target: flash from `size`, stack from the compiler's call graph."""

import re

from machines import FIRMWARE, run


def flash(target, folder, *options, source=FIRMWARE / "flash.c"):
    """Return the bytes linked by a program that predicts and, with -DCHECK, validates its model; includes libgcc."""
    link = ["-nostdlib", "-nostartfiles", "-ffunction-sections", "-Wl,--gc-sections", "-Wl,--entry=program"]
    if target.name == "avr":
        link.append("-Wl,--defsym=__TEXT_REGION_LENGTH__=1M")  # link even if it does not fit, to learn its size
    flags = [flag for flag in target.flags if flag not in ("-T", "-nostartfiles") and not flag.endswith(".ld")]
    elf = folder / "flash.elf"
    run([target.compiler, *flags, target.optimize, target.include, *options, *link, source, "-lgcc", "-o", elf])
    return int(run([f"{target.prefix}size", elf]).split(b"\n")[1].split()[0])


HELPER_STACK = 24
"""Upper bound for a libgcc helper (64-bit shifts and products), which saves up to six registers."""


def stack(target, folder, function, source=FIRMWARE / "all.c", options=()):
    """Return the worst-case stack of a function, from the frame sizes and call graph that gcc reports."""
    flags = ["-fcallgraph-info=su", *options, "-c", source, "-o", folder / "stack.o"]
    run([target.compiler, *target.flags, target.optimize, target.include, *flags], cwd=folder)
    frames, calls = {}, {}
    for line in (folder / "stack.ci").read_text().splitlines():
        words = re.findall(r'"([^"]*)"', line)
        if line.startswith("node:"):
            size = re.search(r"(\d+) bytes \((static|dynamic,bounded)\)", words[1])
            frames[words[0]] = int(size[1]) if size else HELPER_STACK
        elif line.startswith("edge:"):
            calls.setdefault(words[0], set()).add(words[1])

    def depth(name):
        return frames[name] + max((depth(called) for called in calls.get(name, ())), default=0)

    return depth(next(name for name in frames if name.split(":")[-1] == function))
