"""A module's text with its syntax tree: where functions, statements and strings are in it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache, cached_property

#: The fields of a compound statement that its first line does not hold.
BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
#: What may be before the first quotes of a string, and these quotes.
_OPENING = re.compile(rb"(?:\s|\\\n|#[^\n]*)*[A-Za-z]*(\"\"\"|'''|\"|')")


class Module:
    """A module's text as bytes, its syntax tree,
    and where the nodes of the tree are in the text.
    """

    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self._tree = ast.parse(text)
        self._nodes: dict[str, list[ast.AST]] = {}
        self._line_starts = [0]
        for line in self.data.splitlines(keepends=True):
            self._line_starts.append(self._line_starts[-1] + len(line))

    def nodes(self, within: str) -> list[ast.AST]:
        """The nodes of all that defines a qualified name, or of the module if the name is empty."""
        if within not in self._nodes:
            scopes = self._definitions.get(within, []) if within else [self._tree]
            self._nodes[within] = [node for scope in scopes for node in _nodes(scope)]
        return self._nodes[within]

    @cached_property
    def _definitions(self) -> dict[str, list[ast.AST]]:
        """Functions, classes and constants by their qualified names."""
        definitions: dict[str, list[ast.AST]] = defaultdict(list)

        def visit(node: ast.AST, outside: str, in_function: bool) -> None:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    name = f"{outside}{child.name}"
                    definitions[name].append(child)
                    visit(child, f"{name}.", in_function or not isinstance(child, ast.ClassDef))
                    continue
                for name in [] if in_function else _assigned_names(child):
                    definitions[f"{outside}{name}"].append(child)
                visit(child, outside, in_function)

        visit(self._tree, "", False)
        return definitions

    def start(self, node: ast.AST) -> int:
        """Where a node begins, with its decorators or the word ``case``."""
        if isinstance(node, ast.match_case):
            return self.data.rindex(b"case", 0, self.start(node.pattern))
        if decorators := getattr(node, "decorator_list", None):
            return self.data.rindex(b"@", 0, self.start(decorators[0]))
        return self._line_starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.AST) -> int:
        """Where a node ends."""
        if isinstance(node, ast.match_case):
            node = node.body[-1]
        return self._line_starts[node.end_lineno - 1] + node.end_col_offset

    def header_end(self, statement: ast.AST) -> int:
        """Where the first line of a compound statement ends, after its colon."""
        end = self.start(statement)
        if hasattr(statement, "lineno"):
            end = self._line_starts[statement.lineno - 1] + statement.col_offset
        for name, field in ast.iter_fields(statement):
            if name not in BLOCKS and name != "decorator_list":
                parts = field if isinstance(field, list) else [field]
                nodes = (
                    node for part in parts if isinstance(part, ast.AST) for node in _nodes(part)
                )
                end = max([end, *(self.end(node) for node in nodes if hasattr(node, "end_lineno"))])
        return self.data.index(b":", end) + 1


@cache
def parsed(text: str) -> Module:
    """A module of this text, parsed once."""
    return Module(text)


def _assigned_names(node: ast.AST) -> list[str]:
    match node:
        case ast.Assign(targets=targets):
            names = [name for target in targets for name in ast.walk(target)]
        case ast.AnnAssign(target=target):
            names = [target]
        case _:
            return []
    return [name.id for name in names if isinstance(name, ast.Name)]


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all in it but those in f-strings, whose places Python 3.11 does not know."""
    yield node
    if not isinstance(node, ast.JoinedStr):
        for child in ast.iter_child_nodes(node):
            yield from _nodes(child)


def are_alike(one: object, other: object, apart_from: tuple[str, ...] = ()) -> bool:
    """Whether two syntax trees are equal, wherever they are."""
    if type(one) is not type(other):
        return False
    if isinstance(one, ast.AST):
        fields = (name for name in one._fields if name not in apart_from)
        return all(
            are_alike(getattr(one, name, None), getattr(other, name, None)) for name in fields
        )
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(are_alike, one, other))
    return one == other


def string_content(data: bytes, start: int, end: int) -> list[int]:
    """Where the bytes between the quotes of a string are; strings side by side are one."""
    offsets: list[int] = []
    while opening := _OPENING.match(data, start, end):
        start = opening.end()
        while not data.startswith(opening[1], start):
            size = 2 if data.startswith(b"\\", start) else 1
            offsets += range(start, start + size)
            start += size
        start += len(opening[1])
    return offsets
