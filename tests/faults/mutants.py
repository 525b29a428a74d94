"""Changes one operator, constant or condition of dpsql at a time and sees whether the room's own
tests turn red in a minute of two cores: ``python tests/faults/mutants.py [--seed N] [--count N]
[--skip N] [--since COMMIT] [files]``.

With files, or parts of their paths, it changes these alone; with ``--since`` the lines alone that
were written after a commit, so that the tests of a change are asked. The seed decides which mutants
are made, so that two runs on one tree try the same ones. A mutant that no test finds is either a
line that its room's tests do not try, or a change that no one can see; the script prints each for
its reader.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from in_place import ROOT, Forks
from planted.fault import Fault
from run import QUIET, WORKERS, compiled, verdicts

#: How long the tests of a room may take to find a mutant, in seconds of processor time:
#: a minute of #: two cores.
LIMIT = 120
OPTIONS = ("--doctest-modules", "--ignore-glob=*/conftest.py", "-m", "not slow and not clients")
#: A test fails, or no test can be read because the module cannot be imported.
RED = (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)
SOURCE, TESTS = ROOT / "dpsql", ROOT / "tests"

_COMPARISONS = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
_ARITHMETIC = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "+",
    ast.Div: "*",
    ast.FloorDiv: "/",
    ast.Mod: "+",
    ast.Pow: "*",
}
_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Change:
    """Bytes of a file, from ``start`` to ``end``, and what stands there instead."""

    start: int
    end: int
    new: bytes


def changes(source: bytes) -> Iterator[Change]:
    """The changes that can be made to a module: of what is compared, added, chosen or counted;
    never of a text, an annotation or a decorator.
    """
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def begin(node: ast.expr) -> int:
        return starts[node.lineno - 1] + node.col_offset

    def end(node: ast.expr) -> int:
        return starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)

    def between(left: ast.expr, right: ast.expr, old: str, new: str) -> Iterator[Change]:
        gap = source[end(left) : begin(right)]
        if gap.count(old.encode()) == 1 and b"#" not in gap:
            place = end(left) + gap.index(old.encode())
            yield Change(place, place + len(old), new.encode())

    for node in _tried(ast.parse(source)):
        match node:
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                yield from between(left, right, _written(operator), _COMPARISONS[type(operator)])
            case ast.BoolOp(op=operator, values=[left, right, *_]):
                old, new = ("and", "or") if isinstance(operator, ast.And) else ("or", "and")
                yield from between(left, right, old, new)
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _ARITHMETIC:
                if not any(
                    isinstance(part, ast.Constant) and isinstance(part.value, str)
                    for part in (left, right)
                ):
                    yield from between(left, right, _written(operator), _ARITHMETIC[type(operator)])
            case ast.Constant(value=bool(value)):
                yield Change(begin(node), end(node), str(not value).encode())
            case ast.Constant(value=int(value)):
                yield Change(begin(node), end(node), str(value + 1).encode())
            case ast.Call(func=ast.Name(id=name) as function) if name in _CALLS:
                yield Change(begin(function), end(function), _CALLS[name].encode())
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                yield Change(
                    begin(test), end(test), b"not (" + source[begin(test) : end(test)] + b")"
                )


def _tried(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run when the module is used; a switch of the language itself,
    as ``frozen=True``, is none.
    """
    yield tree
    for name, field in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in field if isinstance(field, list) else [field]:
            switch = isinstance(child, ast.keyword) and child.arg in (
                "strict",
                "frozen",
                "slots",
                "repr",
                "kw_only",
            )
            if isinstance(child, ast.AST) and not switch:
                yield from _tried(child)


def _written(operator: ast.AST) -> str:
    left, right = ast.Name("a"), ast.Name("b")
    if isinstance(operator, ast.cmpop):
        return ast.unparse(ast.Compare(left, [operator], [right]))[2:-2]
    assert isinstance(operator, ast.operator)
    return ast.unparse(ast.BinOp(left, operator, right))[2:-2]


def room_tests(module: Path) -> tuple[str, ...]:
    """The tests of a module's room, the nearest first: its examples, the test of its name, those
    that import it, the test of its folder's name, those of its folders.

    Of a folder the smallest files come first: large ones generate their cases, and take long.
    """
    folders = [TESTS / parent for parent in module.relative_to(SOURCE).parents if parent != Path()]
    files = [file for folder in folders for file in sorted(folder.rglob("test_*.py"), key=_size)]
    package = ".".join(module.parent.relative_to(ROOT).parts)
    imports = re.compile(rf"from {package}(\.{module.stem} import|.* import .*\b{module.stem}\b)")
    found = [module.relative_to(ROOT)] if b">>> " in module.read_bytes() else []
    found += [
        file.relative_to(ROOT) for file in files if file.stem.startswith(f"test_{module.stem}")
    ]
    found += [
        file.relative_to(ROOT) for file in files if imports.search(file.read_text(encoding="utf-8"))
    ]
    found += [
        file.relative_to(ROOT)
        for file in files
        if file.stem.startswith(f"test_{module.parent.name}")
    ]
    found += [file.relative_to(ROOT) for file in files]
    return tuple(dict.fromkeys(map(str, found)))


def _size(file: Path) -> int:
    return file.stat().st_size


def lines_since(commit: str) -> dict[Path, set[int]]:
    """The lines of each module that were written after a commit,
    those that are not committed yet among them.
    """
    diff = ["git", "diff", "--unified=0", "--no-color", commit, "--", "dpsql/*.py"]
    lines: dict[Path, set[int]] = {}
    for line in subprocess.run(
        diff, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines():
        if line.startswith("+++ b/"):
            written = lines.setdefault(ROOT / line.removeprefix("+++ b/"), set())
        elif found := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first = int(found[1])
            written.update(range(first, first + int(found[2] or 1)))
    return lines


def mutants(seed: int, count: int, files: list[str], since: str | None = None) -> list[Fault]:
    """As many mutants as asked for, each place of the code as likely as any other."""
    written = None if since is None else lines_since(since)
    places = [
        (module, change)
        for module in sorted(SOURCE.rglob("*.py"))
        if not files or any(part in str(module) for part in files)
        for change in sorted(
            set(changes(module.read_bytes())), key=lambda change: (change.start, change.end)
        )
        if written is None or _line(module.read_bytes(), change) in written.get(module, ())
    ]
    return [
        _mutant(module, change)
        for module, change in random.Random(seed).sample(places, min(count, len(places)))
    ]


def _line(source: bytes, change: Change) -> int:
    """The line in which a change begins; the first is 1."""
    return 1 + source[: change.start].count(b"\n")


def _mutant(module: Path, change: Change) -> Fault:
    source = module.read_bytes()
    mutated = source[: change.start] + change.new + source[change.end :]
    line = _line(source, change)
    was, now = (text.splitlines()[line - 1].strip().decode() for text in (source, mutated))
    name = f"{module.relative_to(ROOT)}:{line}: {was}  →  {now}"
    return Fault(
        name,
        str(module.relative_to(ROOT)),
        "",
        source.decode(),
        mutated.decode(),
        room_tests(module),
    )


def main() -> int:
    """Try the mutants; 0 if at least four of five are found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument(
        "--skip", type=int, default=0, help="leave out the first ones, which were tried before"
    )
    parser.add_argument(
        "--since", metavar="COMMIT", help="the lines alone that were written after it"
    )
    parser.add_argument("files", nargs="*", help="files, or parts of their paths")
    asked = parser.parse_args()
    chosen, found = mutants(asked.seed, asked.count, asked.files, asked.since)[asked.skip :], 0

    def report(mutant: Fault, said: str) -> None:
        nonlocal found
        found += 1
        print(f"{mutant.name}: {said}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        forks = Forks(chosen, WORKERS, Path(folder), report, {}, limit=LIMIT)
        named = [Path(test) for mutant in chosen for test in mutant.tests]
        rooms = dict.fromkeys(
            str(test if test.parts[0] == "dpsql" else Path(*test.parts[:2])) for test in named
        )
        pytest.main([*QUIET, "--capture=no", *OPTIONS, *rooms], plugins=[forks])
        compiled()
        for mutant, good, said in verdicts(
            forks.apart, Path(folder), limit=LIMIT, options=OPTIONS, red=RED
        ):
            if good:
                report(mutant, said)
                forks.left.remove(mutant)
    print(*(f"NOT FOUND: {mutant.name}" for mutant in forks.left), sep="\n")
    print(f"{found} of {len(chosen)} mutants found by their rooms' own tests within {LIMIT} s")
    return 0 if chosen and 5 * found >= 4 * len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
