"""The results page; `python -m compare.report` regenerates speed.md from speed.json."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pages import NONE, number, ratio, table

from compare import tables, training_report
from compare.peers import BY_NAME
from compare.targets import targets
from compare.training_report import by_system

RESULTS = Path(__file__).parent.parent / "results"


def page(results: Any) -> str:
    """Return the page in Markdown, with the sections whose parts were measured."""
    sections = [section for section, parts in SECTIONS.items() if all(part in results for part in parts)]
    return "\n".join(line for section in sections for line in (*section(results), ""))


def _head(results: Any) -> Iterator[str]:
    made = results["made"]
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    yield "# Speed and memory compared with other systems"
    yield ""
    if results["quick"]:
        yield "**A smoke test: these figures mean nothing.**"
        yield ""
    yield f"Best of up to {results['sizes']['rounds']} rounds, alternating between systems in one process, one thread"
    yield "each. MB is the peak memory above the input, measured in a separate process."
    yield f"Written by `make -C benches bench-peers` on {made['date']}: {made['cpu']}, {made['cores']} cores, load"
    yield f"{made['load']} at the start; {versions}."


def _systems(results: Any) -> Iterator[str]:
    sizes, fitting = results["sizes"], results["fitting"]["1"]
    ns, us = by_system(results["scoring"]["1"]["tables"], "ns"), by_system(results["scoring"]["1"]["one_row"], "us")
    seconds = by_system(fitting["fits"], "seconds")
    head = ("system", "settings", "samples/s", "µs per single sample", "fit, s", "MB, fitting", "MB, scoring")
    yield from table(head, (_system(results, name, ns, us, seconds) for name in results["systems"]), left=2)
    yield ""
    yield f"Scoring: {sizes['scored']:,} × 22 float32 values ({sizes['scored_slowly']:,} samples where marked †);"
    yield f"memory: {sizes['memory']:,} samples. Fitting: {fitting['data']}; memory: synthetic data of that shape."


def _system(results: Any, name: str, ns: Any, us: Any, seconds: Any) -> tuple[str, ...]:
    memory = results["memory"].get(name, {})
    if name in results["missing"]:
        return name, results["missing"][name], *[NONE] * 5
    return (
        name + " †" * (BY_NAME[name].slow and BY_NAME[name].scores),
        results["systems"][name],
        f"{1e9 / ns[name]:,.0f}" if name in ns else NONE,
        number(us.get(name)),
        number(seconds.get(name)),
        _megabytes(memory.get("fit")),
        _megabytes(memory.get("score")),
    )


def _single_sample(results: Any) -> Iterator[str]:
    yield "## A single sample from Python"
    yield ""
    found = results["scoring"]["1"]["one_row"]
    rows = [(one["system"], f"`{one['call']}`", number(one["us"])) for one in found]
    yield from table(("system", "call", "µs"), rows, left=2)


def _threads(results: Any) -> Iterator[str]:
    yield "## One thread and two"
    yield ""
    ns = [by_system(results["scoring"][threads]["tables"], "ns") for threads in "12"]
    fits = [by_system(results["fitting"][threads]["fits"], "seconds") for threads in "12"]
    rows = (
        (name, *_speed_up(*(each.get(name) for each in ns)), *_speed_up(*(each.get(name) for each in fits)))
        for name in results["systems"]
        if name in ns[0] or name in fits[0]
    )
    head = ("system", "ns per sample: 1 thread", "2", "speedup", "fit, s: 1 thread", "2", "speedup")
    yield from table(head, rows)


def _speed_up(one: float | None, two: float | None) -> tuple[str, str, str]:
    return number(one), number(two), ratio(one, two)


def _targets(results: Any) -> Iterator[str]:
    rows = [(each.what, each.wanted, number(each.measured), each.met) for each in targets(results)]
    if not rows:
        return
    yield "## Targets"
    yield ""
    yield from table(("measurement", "target", "measured", "met"), rows, left=2)


def _growth(results: Any) -> Iterator[str]:
    base, *grown = results["growth"]
    sizes = ", ".join(f"{name}={base[name]:,}" for name in "ndmbKT")
    yield "## Growth"
    yield ""
    yield f"binfm with {sizes}: training takes {1e3 * base['fit']:.3g} ms, scoring the same data"
    yield f"{1e3 * base['score']:.3g} ms. Times relative to these, with one parameter at a time doubled and quadrupled:"
    yield ""
    rows = []
    for name in "ndmbKT":
        variants = [one for one in grown if one[name] != base[name]]
        multiples = [f"{one[what] / base[what]:.2f}" for what in ("fit", "score") for one in variants]
        rows.append((f"{name} = {base[name]:,}", *multiples))
    yield from table(("from", "training ×2", "×4", "scoring ×2", "×4"), rows)


def _inputs(results: Any) -> Iterator[str]:
    yield "## Kinds of input"
    yield ""
    yield f"binfm, tilings=1, {results['inputs'][0]['rows']:,} samples of 22 features. A copy of X would show up in the"
    yield "last column."
    yield ""
    rows = (
        (one["kind"], number(one["ns"]), *(f"{one[size] / 1e6:.1f}" for size in ("input", "scores", "extra")))
        for one in results["inputs"]
    )
    yield from table(("X", "ns per sample", "X, MB", "scores, MB", "peak above X, MB"), rows)


def _wide(results: Any) -> Iterator[str]:
    sizes = results["sizes"]
    yield "## The shape of the paper's webspam"
    yield ""
    yield f"Synthetic data, {sizes['wide']:,} × {results['wide_features']} float32 values; one fit, best of 3 scorings."
    yield ""
    rows = []
    for name, found in results["wide"].items():
        fit, score = found["fit"], found["score"]
        seconds, rate = fit.get("seconds"), 1e9 / score["ns"] if "ns" in score else None
        rates = (number(seconds), NONE if rate is None else f"{rate:,.0f}")
        rows.append((name, found["settings"], *rates, _megabytes(fit), _megabytes(score)))
    head = ("system", "settings", "fit, s", "samples/s", "MB, fitting", "MB, scoring")
    yield from table(head, rows, left=2)


def _megabytes(found: Any) -> str:
    if not found:
        return NONE
    return f"{found['extra'] / 1e6:.1f}" if "extra" in found else found["missing"]


SECTIONS: dict[Callable[[Any], Iterator[str]], tuple[str, ...]] = {
    _head: (),
    _systems: ("scoring", "fitting", "memory"),
    _single_sample: ("scoring",),
    _threads: ("scoring", "fitting"),
    training_report.fits: ("fitting",),
    training_report.many_classes: ("many_classes",),
    training_report.large: ("large",),
    training_report.sparse: ("sparse",),
    training_report.search: ("search",),
    _targets: (),
    _growth: ("growth",),
    _inputs: ("inputs",),
    tables.frames_section: ("frames",),
    tables.sparse_section: ("sparse_scoring",),
    _wide: ("wide",),
}
"""The sections in order, and the parts that each one shows."""


def write(results: Any) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "speed.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    (RESULTS / "speed.md").write_text(page(results))


if __name__ == "__main__":
    (RESULTS / "speed.md").write_text(page(json.loads((RESULTS / "speed.json").read_text())))
