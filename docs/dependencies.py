"""Write ``dependencies.md``: every crate of Cargo.lock and every Python package; `make -C benches dependencies`."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent

PYTHON = {
    "numpy": ("always", "BSD-3-Clause", "arrays in and out"),
    "scikit-learn": ("`binfm[sklearn]`, `binfm[cli]`", "BSD-3-Clause", "estimators; metrics of the command line"),
    "matplotlib": ("`binfm[plot]`", "PSF-based", "pictures"),
    "narwhals": ("`binfm[tables]`, `binfm[cli]`", "MIT", "pandas, polars and Arrow tables through one interface"),
    "polars": ("`binfm[cli]`", "MIT", "reads CSV, Parquet and NDJSON in batches"),
    "tqdm": ("`binfm[cli]`, used if installed", "MPL-2.0 AND MIT", "a progress bar"),
}
"""Packages besides the standard library: installed with, licence, purpose. pyproject.toml has the versions."""

HEAD = """\
# Dependencies

Written by `make -C benches dependencies`; a test compares it with `Cargo.lock` and `pyproject.toml`. All builds use the
lock file as it is (`--locked`), which has a checksum of every crate. All crates come from Rust's public registry, none
from a fork.

To check for known vulnerabilities, run `cargo audit`, which compares `Cargo.lock` with the current advisory database.

## Python packages

`import binfm` needs only numpy. A library does not pin packages it shares with others: `pyproject.toml` has ranges.

| package | installed with | licence | for |
|---|---|---|---|
"""


def metadata(*arguments: str) -> dict[str, Any]:
    """Return what cargo knows of the packages."""
    command = ["cargo", "metadata", "--locked", "--all-features", "--format-version", "1", *arguments]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)


def reasons() -> dict[str, str]:
    """Return what Cargo.toml says about each direct dependency."""
    text = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    found = re.findall(r'^([\w-]+) = [{"].*[}"]\s*(?:#\s*(.*))?$', text, re.MULTILINE)
    return {name: reason for name, reason in found if reason}


def reached(nodes: dict[str, Any], root: str, kinds: set[str | None]) -> set[str]:
    """Return the packages that a build needs, going on from the root by some kinds of dependencies."""
    seen, todo = set(), [(root, kinds)]
    while todo:
        package, kinds = todo.pop()
        for dependency in nodes[package]["deps"]:
            wanted = kinds & {kind["kind"] for kind in dependency["dep_kinds"]}
            if wanted and dependency["pkg"] not in seen:
                seen.add(dependency["pkg"])
                todo.append((dependency["pkg"], kinds - {"dev"}))
    return seen


def is_macro(package: dict[str, Any]) -> bool:
    """Return whether the compiler runs it, rather than the program."""
    return any("proc-macro" in target["kind"] for target in package["targets"])


def linked(packages: dict[str, Any], nodes: dict[str, Any], root: str) -> set[str]:
    """Return the packages that end up in the extension: through no macro and no build script."""
    seen, todo = set(), [root]
    while todo:
        for dependency in nodes[todo.pop()]["deps"]:
            normal = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if normal and dependency["pkg"] not in seen and not is_macro(packages[dependency["pkg"]]):
                seen.add(dependency["pkg"])
                todo.append(dependency["pkg"])
    return seen


def crates() -> Iterator[tuple[str, str, str, str, str]]:
    """Yield name, version, licence, place and reason of every crate, the direct ones first."""
    everywhere = metadata()
    packages = {package["id"]: package for package in everywhere["packages"]}
    here = metadata("--filter-platform", "x86_64-unknown-linux-gnu")["resolve"]
    nodes, root = {node["id"]: node for node in here["nodes"]}, here["root"]
    places = {
        "other systems": set(packages) - {root},
        "tests": reached(nodes, root, {None, "build", "dev"}),
        "building": reached(nodes, root, {None, "build"}),
        "the extension": linked(packages, nodes, root),
    }
    why = reasons()
    users: dict[str, set[str]] = {}
    for node in everywhere["resolve"]["nodes"]:
        for dependency in node["deps"]:
            users.setdefault(dependency["pkg"], set()).add(packages[node["id"]]["name"])
    others = (package for package in packages.values() if package["id"] != root)
    for package in sorted(others, key=lambda package: (package["name"], package["version"])):
        name = package["name"]
        place = [place for place, members in places.items() if package["id"] in members][-1]
        by = "through " + ", ".join(sorted(users[package["id"]]))
        direct = packages[root]["name"] in users[package["id"]]
        yield name, package["version"], package["license"].replace("/", " OR "), place, why[name] if direct else by


def page() -> str:
    """Return the page."""
    lines = [f"| {name} | {when} | {licence} | {why} |" for name, (when, licence, why) in PYTHON.items()]
    found = list(crates())
    for title, places in [
        ("Crates in the extension", ("the extension",)),
        ("Crates that only build or test it", ("building", "tests", "other systems")),
    ]:
        rows = [crate for crate in found if crate[3] in places]
        lines += [
            "",
            f"## {title}: {len(rows)}",
            "",
            "| crate | version | licence | where | for |",
            "|---|---|---|---|---|",
        ]
        lines += [f"| {' | '.join(crate)} |" for crate in rows]
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    (HERE / "dependencies.md").write_text(page(), encoding="utf-8")
