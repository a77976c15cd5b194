"""Lines per file and per function, separately for sources and tests: `make -C benches lines`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = ("src", "python", "benches")
TESTS = ("tests",)
LARGEST = 5

Counted = tuple[int, str]
"""A number of lines and the name of what has them."""

RUST_TEXT = re.compile(
    r"""//[^\n]*                                  # comment to the end of the line
      | /\*.*?\*/                                 # block comment
      | b?r(?P<hashes>\#*)".*?"(?P=hashes)        # raw string
      | b?"(?:\\.|[^"\\])*"                       # string
      | b?'(?:\\(?:u\{[^}]*\}|x..|.)|[^'\\])'     # character, but not a lifetime
    """,
    re.DOTALL | re.VERBOSE,
)
RUST_FUNCTION = re.compile(r"^[^\S\n]*(?:[a-z(): \t]+ )?fn (?P<name>\w+)", re.MULTILINE)
RUST_TESTS = re.compile(r"^[^\S\n]*#\[cfg\(test\)\]\s*mod \w+ ", re.MULTILINE)


def main() -> None:
    sources, source_functions, inner_tests = _count(SOURCES)
    tests, test_functions, _ = _count(TESTS)
    _print("source files", sources)
    _print("source functions", source_functions)
    _print("test files", tests)
    _print("test functions", test_functions + inner_tests)


def _count(folders: tuple[str, ...]) -> tuple[list[Counted], list[Counted], list[Counted]]:
    """Count the lines of files, of their functions, and of functions in Rust test modules."""
    files: list[Counted] = []
    functions: list[Counted] = []
    inner_tests: list[Counted] = []
    for path in _paths(folders):
        name, text = str(path.relative_to(ROOT)), path.read_text()
        code, tests = (text, "") if path.suffix == ".py" else _without_tests(_without_text(text))
        found = _python_functions(code) if path.suffix == ".py" else _rust_functions(code)
        files.append((text.count("\n"), name))
        functions += [(lines, f"{name} {function}") for lines, function in found]
        inner_tests += [(lines, f"{name} {function}") for lines, function in _rust_functions(tests)]
    return files, functions, inner_tests


def _paths(folders: tuple[str, ...]) -> Iterator[Path]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".rs"):
                yield path


def _python_functions(text: str) -> Iterator[Counted]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1, node.name


def _rust_functions(code: str) -> Iterator[Counted]:
    for found in RUST_FUNCTION.finditer(code):
        end = _end_of_item(code, found.end())
        if code[end - 1] == "}":
            yield code.count("\n", found.start(), end) + 1, found["name"]


def _without_text(rust: str) -> str:
    """Blank out comments and strings, so that braces in them do not count."""
    return RUST_TEXT.sub(lambda text: re.sub(r"[^\n]", " ", text[0]), rust)


def _without_tests(code: str) -> tuple[str, str]:
    """Split code into everything outside its test modules, and the test modules."""
    kept, tests, start = "", "", 0
    for found in RUST_TESTS.finditer(code):
        end = _end_of_item(code, found.start())
        kept, tests, start = kept + code[start : found.start()], tests + code[found.start() : end], end
    return kept + code[start:], tests


def _end_of_item(code: str, start: int) -> int:
    """Return the index after an item's closing brace, or after its semicolon if it has no body."""
    depth = 0
    for at in range(start, len(code)):
        depth += (code[at] in "{([") - (code[at] in "})]")
        if depth == 0 and code[at] in "};":
            return at + 1
    return len(code)


def _print(title: str, counted: list[Counted]) -> None:
    if not counted:
        return
    lines = sorted(count for count, _ in counted)
    median, p90 = lines[len(lines) // 2], lines[len(lines) * 9 // 10]
    print(f"{title}: {len(lines)}, {sum(lines):,} lines; median {median}, 90th percentile {p90}; largest:")
    for count, name in sorted(counted, reverse=True)[:LARGEST]:
        print(f"  {count:5}  {name}")


if __name__ == "__main__":
    main()
