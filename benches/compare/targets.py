"""Performance targets of binfm, as ratios within one run, and the measurements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from compare.peers import Binfm, BinfmTiled, LightGbm, LinearSvc, Sum
from compare.tables import ALL_STORED, ARRAY, DENSE

ELEMENT_BYTES = 2
PARAMETER_BYTES = 8
FIXED_BYTES = 64e6
"""Memory that training may use besides the input: per element of X, per parameter, and fixed."""


@dataclass(frozen=True)
class Target:
    """A measured ratio and its limit; None if one side was not measured."""

    what: str
    limit: float
    unit: str
    measured: float | None
    at_least: bool = False
    same_bits: bool = True

    @property
    def wanted(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:g} {self.unit}"

    @property
    def met(self) -> str:
        if self.measured is None:
            return "not measured"
        reached = self.measured >= self.limit if self.at_least else self.measured <= self.limit
        if not self.same_bits:
            return "no: results differ"
        return "yes" if reached else "no"


def targets(results: Any) -> list[Target]:
    """Return the targets of the parts that were measured."""
    groups = (
        (_scoring, "scoring"),
        (_one_row, "scoring"),
        (_frames, "frames"),
        (_sparse_scoring, "sparse_scoring"),
        (_training, "fitting"),
        (_two_cores, "two_cores"),
        (_memory, "wide"),
    )
    return [target for group, part in groups if part in results for target in group(results)]


def _scoring(results: Any) -> Iterator[Target]:
    tables = results["scoring"]["1"]["tables"]
    ns = {found["system"]: found["ns"] for found in tables}
    rows = max(found["rows"] for found in tables)
    for peer, svc, trees in ((Binfm, 0.5, 100), (BinfmTiled, 1, 50)):
        what = f"score {rows:,} × 22, {peer.name}"
        yield Target(what, svc, "× LinearSVC", _ratio(ns, peer.name, LinearSvc.name))
        if peer is Binfm:
            yield Target(what, 4, "× X.sum()", _ratio(ns, peer.name, Sum.name))
        yield Target(what, trees, "× faster than LightGBM", _ratio(ns, LightGbm.name, peer.name), at_least=True)


def _one_row(results: Any) -> Iterator[Target]:
    found = results["scoring"]["1"]["one_row"]
    us = {(one["system"], one["call"]): one["us"] for one in found}
    trees = next((one for one in us if one[0] == LightGbm.name), None)
    for name, call in us:
        if name in (Binfm.name, BinfmTiled.name):
            yield Target(f"single sample, {name}, `{call}`", 0.01, "× LightGBM", _ratio(us, (name, call), trees))


def _frames(results: Any) -> Iterator[Target]:
    found = results["frames"]
    for dtype, us in found["us"].items():
        for name in us:
            if name != ARRAY:
                what = f"score {found['rows']:,} × 22, {name}, {dtype}"
                yield Target(what, 0.5, "× rows per second of an array", _ratio(us, ARRAY, name), at_least=True)
    pandas = (f"{Binfm.name}, pandas", f"{LightGbm.name}, pandas")
    yield Target("score one row of pandas", 1, "× LightGBM", _ratio(found["one_row"], *pandas))


def _sparse_scoring(results: Any) -> Iterator[Target]:
    for name in (Binfm.name, BinfmTiled.name):
        ns = {one["table"]: one["ns"] for one in results["sparse_scoring"] if one["system"] == name}
        yield Target(f"score CSR of 22 stored values, {name}", 3, "× dense", _ratio(ns, ALL_STORED, DENSE))


def _training(results: Any) -> Iterator[Target]:
    fitting = results["fitting"]["1"]
    seconds = {found["system"]: found["seconds"] for found in fitting["fits"]}
    what = f"train {fitting['data']}, {Binfm.name}"
    yield Target(what, 0.5, "× LightGBM", _ratio(seconds, Binfm.name, LightGbm.name))
    steps = results["sizes"]["epochs"] * fitting["rows"] * fitting["features"] * results["factors"]
    yield Target(what, 0.8, "ns per sample × active row × factor", 1e9 * seconds[Binfm.name] / steps)


def _two_cores(results: Any) -> Iterator[Target]:
    found = results["two_cores"]
    seconds, classes = found["seconds"], results["classes"]
    score, train = _ratio(seconds, "score 1", "score 2"), _ratio(seconds, "train 1", "train 2")
    unit = "× one core, identical bits"
    yield Target("score on two cores", 1.8, unit, score, at_least=True, same_bits=found["same_scores"])
    yield Target(f"train {classes} classes on two cores", 1.8, unit, train, True, found["same_model"])


def _memory(results: Any) -> Iterator[Target]:
    rows, features = results["sizes"]["wide"], results["wide_features"]
    for name in (Binfm.name, BinfmTiled.name):
        fit = results["wide"][name]["fit"]
        allowed = ELEMENT_BYTES * rows * features + PARAMETER_BYTES * fit.get("parameters", 0) + FIXED_BYTES
        measured = fit["extra"] / allowed if "extra" in fit else None
        what = f"memory for training {rows:,} × {features}, {name}, above the input"
        unit = f"× {allowed / 1e6:.0f} MB (2 bytes per element of X, 8 per parameter, 64 MB)"
        yield Target(what, 1, unit, measured)


def _ratio(values: dict[Any, float], over: Any, under: Any) -> float | None:
    return values[over] / values[under] if over in values and under in values else None
