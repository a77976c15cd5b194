"""All dependencies are known: every crate and package has a licence and a reason, and builds use no others."""

import importlib.util
import re
from importlib.metadata import distribution, requires
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ACCEPTED = {
    "MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "Unicode-3.0", "Zlib",
}  # fmt: skip


@pytest.fixture(scope="module")
def dependencies():
    """Return the script that writes the page."""
    spec = importlib.util.spec_from_file_location("dependencies", ROOT / "docs" / "dependencies.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def crates(dependencies):
    return list(dependencies.crates())


@pytest.fixture(scope="module")
def locked():
    """Return the packages of Cargo.lock as name, version, source and checksum."""
    text = (ROOT / "Cargo.lock").read_text()
    packages = [dict(re.findall(r'^(\w+) = "(.*)"$', part, re.MULTILINE)) for part in text.split("[[package]]")[1:]]
    return [package for package in packages if package["name"] != "binfm"]


def test_the_page_matches_the_lock_file(dependencies, crates, locked):
    assert (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8") == dependencies.page(), "make dependencies"
    known = {(package["name"], package["version"]) for package in locked}
    assert {(name, version) for name, version, *_ in crates} == known
    assert len(known) > 30


def test_every_crate_comes_from_the_registry_with_a_checksum(locked):
    for package in locked:
        assert package["source"].startswith("registry+"), package["name"]
        assert re.fullmatch("[0-9a-f]{64}", package["checksum"]), package["name"]


def alternatives(licence):
    """Yield the sets of licences, one of which must be met."""
    for choice in re.split(r"\s+OR\s+", re.sub(r"\(([^()]*)\) AND (\S+)", r"\1 AND \2", licence)):
        yield {term.strip() for term in re.split(r"\s+AND\s+", choice)}


def test_every_licence_is_permissive(crates):
    for name, _, licence, *_ in crates:
        assert any(choice <= ACCEPTED for choice in alternatives(licence)), f"{name}: {licence}"
    assert not any(choice <= ACCEPTED for choice in alternatives("GPL-3.0 OR MIT AND SSPL-1.0"))


def test_every_direct_dependency_has_a_reason(crates, dependencies):
    declared = dependencies.metadata("--no-deps")["packages"][0]["dependencies"]
    reasons = dependencies.reasons()
    assert {dependency["name"] for dependency in declared} <= set(reasons)
    assert not [crate for crate in crates if crate[4] in ("", "through ")]


def test_the_listed_python_packages_are_the_declared_ones(dependencies):
    declared = {re.match(r"[\w-]+", requirement).group() for requirement in requires("binfm")}
    assert declared == set(dependencies.PYTHON)
    for name, (_, licence, _) in dependencies.PYTHON.items():
        metadata = distribution(name).metadata
        licences = " ".join(
            [metadata["License-Expression"] or "", metadata["License"] or "", *(metadata.get_all("Classifier") or [])]
        )
        assert licence.split("-")[0] in licences or "BSD" in licences, name


def test_builds_use_the_lock_file_unchanged():
    lines = (ROOT / "Makefile").read_text().replace("\\\n", " ").splitlines()
    builds = [
        line for line in lines if re.search(r"cargo (test|clippy|bench|build|run)|maturin\S* (build|develop)", line)
    ]
    assert len(builds) > 5
    assert not [line for line in builds if "--locked" not in line]
    ci = (ROOT / ".ci" / "run").read_text()
    assert not re.search(r"cargo (test|build|clippy)|maturin", ci), "CI builds by make"
