"""What the runtime takes on a target: flash by `size`, stack by the compiler's call graph or the emulator."""

import re

from machines import FIRMWARE, run


def flash(target, folder, *options, source=FIRMWARE / "flash.c"):
    """Return the bytes that a program links to predict, and with -DCHECK to check a model too; libgcc included."""
    link = ["-nostdlib", "-nostartfiles", "-ffunction-sections", "-Wl,--gc-sections", "-Wl,--entry=program"]
    if target.name == "avr":
        link.append("-Wl,--defsym=__TEXT_REGION_LENGTH__=1M")  # to say by how much it does not fit
    flags = [flag for flag in target.flags if flag not in ("-T", "-nostartfiles") and not flag.endswith(".ld")]
    elf = folder / "flash.elf"
    run([target.compiler, *flags, target.optimize, target.include, *options, *link, source, "-lgcc", "-o", elf])
    return int(run([f"{target.prefix}size", elf]).split(b"\n")[1].split()[0])


HELPER_STACK = 24
"""More than a helper of libgcc takes (64-bit shifts and products): up to six registers."""


def stack(target, folder, function, source=FIRMWARE / "all.c", options=()):
    """Return the most stack below a function, by the sizes of frames and the calls that gcc lists."""
    flags = ["-fcallgraph-info=su", *options, "-c", source, "-o", folder / "stack.o"]
    run([target.compiler, *target.flags, target.optimize, target.include, *flags], cwd=folder)
    frames, calls = {}, {}
    for line in (folder / "stack.ci").read_text().splitlines():
        words = re.findall(r'"([^"]*)"', line)
        if line.startswith("node:"):
            bytes_ = re.search(r"(\d+) bytes \((static|dynamic,bounded)\)", words[1])
            frames[words[0]] = int(bytes_[1]) if bytes_ else HELPER_STACK
        elif line.startswith("edge:"):
            calls.setdefault(words[0], set()).add(words[1])

    def below(name):
        return frames[name] + max((below(called) for called in calls.get(name, ())), default=0)

    return below(next(name for name in frames if name.split(":")[-1] == function))
