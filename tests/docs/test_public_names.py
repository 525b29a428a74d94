"""Every public name of the package says in one sentence what it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2]
FILES = sorted((HOUSE / "dpsql").rglob("*.py"))
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def public(tree: ast.Module) -> Iterator[tuple[str, Documented]]:
    """The module, its public functions and classes,
    and the public methods of these classes that are not obvious.
    """
    yield "the module", tree
    for node in tree.body:
        if isinstance(
            node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        ) and not node.name.startswith("_"):
            yield node.name, node
            if isinstance(node, ast.ClassDef) and not _is_protocol(node):
                yield from (
                    (f"{node.name}.{part.name}", part)
                    for part in node.body
                    if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)
                    and not _is_obvious(part)
                )


def _is_protocol(node: ast.ClassDef) -> bool:
    return any("Protocol" in ast.unparse(base) for base in node.bases)


def _is_obvious(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Private and special methods, setters, and those of one line:
    their name and type say all that they do.
    """
    setter = any(ast.unparse(decorator).endswith(".setter") for decorator in node.decorator_list)
    return node.name.startswith("_") or setter or len(node.body) == 1


def sentence(docstring: str) -> str:
    return docstring.strip().split("\n\n")[0]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(HOUSE).as_posix())
def test_a_public_name_has_a_docstring(file: Path) -> None:
    text = file.read_text("utf-8")
    if not text.strip():
        return
    silent = [name for name, node in public(ast.parse(text)) if not ast.get_docstring(node)]
    assert silent == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(HOUSE).as_posix())
def test_a_docstring_starts_with_a_sentence(file: Path) -> None:
    text = file.read_text("utf-8")
    broken = [
        (name, said)
        for name, node in public(ast.parse(text))
        if (said := sentence(ast.get_docstring(node) or ""))
        and said[-1] not in ".:?!"
        and not said.endswith("::")
    ]
    assert broken == []


def test_the_checks_can_fail() -> None:
    tree = ast.parse(
        '"""A module."""\ndef spoken():\n    """Words"""\n    x = 1\n    return x\nclass Silent:\n    x = 1\n'
    )
    found = dict(public(tree))
    assert [name for name, node in found.items() if not ast.get_docstring(node)] == ["Silent"]
    assert sentence(ast.get_docstring(found["spoken"]) or "")[-1] not in ".:?!"
