"""Finds what a planted fault replaces by the syntax tree, and replaces it in the text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

from parsed_module import BLOCKS, Module, are_alike, parsed, string_content
from planted.fault import Fault, InString

_T = TypeVar("_T")
#: Expressions that need parentheses where other expressions are.
_COMPOSED = (
    ast.BoolOp,
    ast.BinOp,
    ast.UnaryOp,
    ast.Compare,
    ast.IfExp,
    ast.Lambda,
    ast.NamedExpr,
    ast.Await,
    ast.Yield,
    ast.YieldFrom,
)


class AnchorError(ValueError):
    """What a fault replaces does not occur exactly once."""


@dataclass(frozen=True)
class Place:
    """The bytes of a module that match a piece of Python, and what they are.

    A ``generator`` is the only argument of a call and shares its parentheses.
    """

    start: int
    end: int
    kind: Literal["expression", "generator", "statements", "header", "item"]


def planted_source(fault: Fault, text: str) -> str:
    """The text of the fault's file with the fault in it.

    Raises:
        AnchorError: What the fault replaces does not occur exactly once.
        SyntaxError: It is no Python, or the file is none.
    """
    module = parsed(text)
    if isinstance(fault.old, InString):
        return _planted_in_string(module, fault, fault.old.text)
    place = _only(fault, _places(module, module.nodes(fault.within), _pattern(fault.old)))
    start, end = place.start, place.end
    if not fault.new:
        start, end = _with_comma(module.data, start, end)
    return (
        module.data[:start] + _written(module, place, fault.new).encode() + module.data[end:]
    ).decode()


def _only(fault: Fault, found: Iterator[_T]) -> _T:
    places = list(dict.fromkeys(found))
    if len(places) != 1:
        within = fault.within or "the module"
        raise AnchorError(
            f"{fault.file}: {fault.old!r} occurs {len(places)} times in {within}, not once"
        )
    return places[0]


def _pattern(old: str) -> list[ast.AST]:
    """The statements that a piece of Python is: an expression is one,
    and so are items of a dict.
    """
    if old.startswith("case "):
        (match,) = ast.parse("match _:\n " + _indented(old, 1)).body
        assert isinstance(match, ast.Match)
        return list(match.cases)
    if old.startswith("except"):
        (attempt,) = ast.parse(f"try: ...\n{old}").body
        assert isinstance(attempt, ast.Try)
        return list(attempt.handlers)
    try:
        return list(ast.parse(old).body)
    except SyntaxError:
        items = ast.parse(f"{{{old}}}", mode="eval").body
        if not isinstance(items, ast.Dict):
            raise
        return [items]


def _places(module: Module, nodes: list[ast.AST], pattern: list[ast.AST]) -> Iterator[Place]:
    match pattern:
        case [ast.Expr(value=expression)]:
            yield from _expressions(module, nodes, expression)
        case [ast.Dict() as items]:
            yield from _dict_items(module, nodes, items)
        case [ast.AnnAssign(value=None) as declaration]:  # as an item of a dict is written, too
            items = ast.parse(f"{{{ast.unparse(declaration)}}}", mode="eval").body
            yield from _dict_items(module, nodes, items)
            yield from _statements(module, nodes, pattern)
        case [statement] if _is_header(statement):
            for node in nodes:
                if type(node) is type(statement) and are_alike(node, statement, apart_from=BLOCKS):
                    yield Place(module.start(node), module.header_end(node), "header")
        case _:
            yield from _statements(module, nodes, pattern)
            yield from _keyword_arguments(module, nodes, pattern)


def _expressions(module: Module, nodes: list[ast.AST], pattern: ast.expr) -> Iterator[Place]:
    for node in nodes:
        if type(node) is not type(pattern):
            continue
        if are_alike(node, pattern):
            start, end = module.start(node), module.end(node)
            if any(isinstance(other, ast.Expr) and other.value is node for other in nodes):
                yield Place(start, end, "statements")
            elif isinstance(node, ast.GeneratorExp) and any(
                isinstance(other, ast.Call) and module.end(other) == end for other in nodes
            ):
                yield Place(start, end, "generator")
            else:
                yield Place(start, end, "expression")
        elif (
            isinstance(node, ast.BoolOp)
            and isinstance(pattern, ast.BoolOp)
            and are_alike(node.op, pattern.op)
        ):
            for values in _slices(node.values, pattern.values):
                yield Place(module.start(values[0]), module.end(values[-1]), "expression")


def _statements(module: Module, nodes: list[ast.AST], pattern: list[ast.AST]) -> Iterator[Place]:
    for node in nodes:
        for name in BLOCKS:
            if isinstance(block := getattr(node, name, None), list):
                for statements in _slices(block, pattern):
                    yield Place(
                        module.start(statements[0]), module.end(statements[-1]), "statements"
                    )


def _keyword_arguments(
    module: Module, nodes: list[ast.AST], pattern: list[ast.AST]
) -> Iterator[Place]:
    match pattern:
        case [ast.Assign(targets=[ast.Name(id=name)], value=value)]:
            for node in nodes:
                if (
                    isinstance(node, ast.keyword)
                    and node.arg == name
                    and are_alike(node.value, value)
                ):
                    yield Place(module.start(node), module.end(node), "item")


def _dict_items(module: Module, nodes: list[ast.AST], pattern: ast.Dict) -> Iterator[Place]:
    wanted = list(zip(pattern.keys, pattern.values, strict=True))
    for node in nodes:
        if isinstance(node, ast.Dict):
            for items in _slices(list(zip(node.keys, node.values, strict=True)), wanted):
                key, value = items[0]
                start = (
                    module.start(key) if key else module.data.rindex(b"**", 0, module.start(value))
                )
                yield Place(start, module.end(items[-1][1]), "item")
        elif isinstance(node, ast.keyword) and are_alike([(node.arg, node.value)], wanted):
            yield Place(module.start(node), module.end(node), "item")


def _slices(nodes: list[_T], pattern: list[_T]) -> Iterator[list[_T]]:
    for index in range(len(nodes) - len(pattern) + 1):
        if are_alike(found := nodes[index : index + len(pattern)], pattern):
            yield found


def _is_header(statement: ast.AST) -> bool:
    match getattr(statement, "body", None):
        case [ast.Expr(value=ast.Constant(value=value))]:
            return value is ...
    return False


def _written(module: Module, place: Place, new: str) -> str:
    """The text that replaces a place, indented or in parentheses as it needs."""
    match place.kind:
        case "statements" | "header":
            line_start = module.data.rfind(b"\n", 0, place.start) + 1
            header = new.removesuffix("...").rstrip() if place.kind == "header" else new
            is_elif = module.data.startswith(b"elif", place.start)
            return ("el" if is_elif else "") + _indented(header, place.start - line_start)
        case "generator":
            return f"({new})"
        case "expression" if _is_composed(new):
            return f"({new})"
    return new


def _is_composed(text: str) -> bool:
    try:
        return isinstance(ast.parse(text, mode="eval").body, _COMPOSED)
    except SyntaxError:
        return False


def _indented(text: str, columns: int) -> str:
    """The lines after the first moved to the right, unless they are empty."""
    return re.sub(r"\n(?=[^\n])", "\n" + " " * columns, text)


def _with_comma(data: bytes, start: int, end: int) -> tuple[int, int]:
    """The bytes of an argument or item with the comma after it, or else with the one before it."""
    if after := re.compile(rb"\s*,[ \t]*").match(data, end):
        return start, after.end()
    before = re.search(rb",\s*$", data[:start])
    return (before.start() if before else start), end


def _planted_in_string(module: Module, fault: Fault, old: str) -> str:
    first, *others = _only(fault, _in_strings(module, module.nodes(fault.within), old.encode()))
    pieces = [module.data[:first], fault.new.encode()]
    start = first + 1
    for offset in others:
        pieces.append(module.data[start:offset])
        start = offset + 1
    return b"".join([*pieces, module.data[start:]]).decode()


def _in_strings(module: Module, nodes: list[ast.AST], old: bytes) -> Iterator[tuple[int, ...]]:
    """Where the bytes of a text are in the strings of these nodes; a docstring is none."""
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        is_string = isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str)
        )
        if is_string and id(node) not in docstrings:
            offsets = string_content(module.data, module.start(node), module.end(node))
            content = bytes(module.data[offset] for offset in offsets)
            for found in re.finditer(re.escape(old), content):
                yield tuple(offsets[found.start() : found.end()])
