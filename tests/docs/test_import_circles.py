"""Modules import each other in circles of at most three files,
whatever their imports are for (`TYPE_CHECKING` too).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

HOUSE = Path(__file__).parents[2]
#: Three files that import each other can be read together;
#: more cannot be understood apart from one #: another.
MOST = 3


def name_of(file: Path) -> str:
    parts = file.relative_to(HOUSE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(tree: ast.AST, modules: Iterable[str]) -> set[str]:
    """The modules of the house that a file imports:
    of ``from a import b`` the module a.b where it is one, else a.
    """
    known, found = set(modules), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            inner = {alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            found |= {each if each in known else node.module for each in inner.values()}
    return found & known


def reached(start: str, imports: Mapping[str, set[str]]) -> set[str]:
    """Every module that the first imports, itself or through others."""
    found: set[str] = set()
    waiting = list(imports[start])
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += imports[module]
    return found


def circles(imports: Mapping[str, set[str]]) -> set[frozenset[str]]:
    """The sets of modules each of which imports every other, itself or through others."""
    below = {module: reached(module, imports) for module in imports}
    found = {
        frozenset(other for other in below[module] if module in below[other]) for module in below
    }
    return {circle for circle in found if len(circle) > 1}


def test_no_circle_of_imports_has_more_than_three_files() -> None:
    trees = {
        name_of(file): ast.parse(file.read_text("utf-8"))
        for file in (HOUSE / "dpsql").rglob("*.py")
    }
    imports = {module: imported(tree, trees) - {module} for module, tree in trees.items()}
    assert sum(map(len, imports.values())) > 1000
    assert {circle for circle in circles(imports) if len(circle) > MOST} == set()


def test_a_circle_of_four_files_is_found() -> None:
    imports = {"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": {"a", "e"}, "e": set[str]()}
    assert circles(imports) == {frozenset("abcd")}
