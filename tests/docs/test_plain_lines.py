"""The lines of the package read as its peers' lines do: one assignment a line, names that say what a value is."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]

MAX_PACKED_PER_1000_LINES = 1.0
MAX_FORMATTER_COMMENTS = 0
MAX_FORMATTER_COMMENTS_IN_TESTS = 10
MAX_PET_WORD_SHARE = 0.02
MAX_NESTED_CONDITIONALS = 0
MAX_LONG_CALLS = 5
MAX_LONG_LINE_SHARE = 0.01
MAX_PHRASES = 50
MAX_FUNCTIONS_OF_A_NAME = 8

LONG_CALL = 7
LONG_LINE = 110
PET_WORDS = frozenset(
    "each found said its those beside made held kept whole left own told shown given wanted place read answer part "
    "there here what behind".split()
)
PET_FUNCTIONS = ("read", "said", "priced", "shown", "place")
PHRASES = re.compile(
    r"\bwhere (it|its|there|a|an|the)\b|\bbehind\b|\bof which\b|\bso that where\b", re.IGNORECASE
)
FORMATTER_COMMENT = re.compile(r"#\s*fmt:")

Function = ast.FunctionDef | ast.AsyncFunctionDef
File = tuple[Path, str, ast.Module]


def files(folder: str, checkout: Path = CHECKOUT) -> list[File]:
    """Path from the checkout, text and syntax tree of each module in a folder."""
    paths = sorted((checkout / folder).rglob("*.py"))
    texts = [path.read_text("utf-8") for path in paths]
    return [
        (path.relative_to(checkout), text, ast.parse(text))
        for path, text in zip(paths, texts, strict=True)
    ]


def packed_assignments(tree: ast.Module) -> Iterator[int]:
    """Lines that assign a tuple to a tuple, other than to swap."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple):
            for target in node.targets:
                if isinstance(target, ast.Tuple) and not is_swap(target, node.value):
                    yield node.lineno


def is_swap(target: ast.Tuple, value: ast.Tuple) -> bool:
    return Counter(map(ast.unparse, target.elts)) == Counter(map(ast.unparse, value.elts))


def formatter_comments(text: str) -> Iterator[int]:
    """Lines with a comment that switches the formatter off."""
    if FORMATTER_COMMENT.search(text):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and FORMATTER_COMMENT.search(token.string):
                yield token.start[0]


def local_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and name of each parameter and each variable bound in a function, once a function."""
    for function in ast.walk(tree):
        if isinstance(function, Function | ast.Lambda):
            lines: dict[str, list[int]] = defaultdict(list)
            for node in nodes_of(function):
                if isinstance(node, ast.arg):
                    lines[node.arg].append(node.lineno)
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    lines[node.id].append(node.lineno)
                elif (
                    isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name
                ):
                    lines[node.name].append(node.lineno)
            for name in ("self", "cls"):
                lines.pop(name, None)
            yield from ((min(where), name) for name, where in lines.items())


def nodes_of(function: Function | ast.Lambda) -> Iterator[ast.AST]:
    """The nodes of a function that are not in a function inside it."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, Function | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)


def nested_conditionals(tree: ast.Module) -> Iterator[int]:
    """Lines of conditional expressions inside another one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.IfExp):
            inner = (child for part in ast.iter_child_nodes(node) for child in ast.walk(part))
            if any(isinstance(child, ast.IfExp) for child in inner):
                yield node.lineno


def long_calls(tree: ast.Module) -> Iterator[int]:
    """Lines of calls with so many positional arguments that a reader has to count."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and len(node.args) >= LONG_CALL:
            yield node.lineno


def long_lines(text: str) -> Iterator[int]:
    yield from (number for number, line in enumerate(text.splitlines(), 1) if len(line) > LONG_LINE)


def phrases(tree: ast.Module) -> Iterator[int]:
    """Lines of docstrings that say *where it* for *if it*, or *behind* for *after*."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | Function):
            docstring = ast.get_docstring(node, clean=False)
            if docstring and PHRASES.search(docstring):
                yield node.body[0].lineno


def functions_named(name: str, tree: ast.Module) -> Iterator[int]:
    yield from (
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, Function) and node.name.lstrip("_") == name
    )


def offenders(modules: list[File], of_tree: Callable[[ast.Module], Iterator[int]]) -> list[str]:
    return [f"{path}:{line}" for path, _, tree in modules for line in of_tree(tree)]


def offenders_in_text(modules: list[File], of_text: Callable[[str], Iterator[int]]) -> list[str]:
    return [f"{path}:{line}" for path, text, _ in modules for line in of_text(text)]


def lines_in(modules: list[File]) -> int:
    return sum(len(text.splitlines()) for _, text, _ in modules)


def pet_words(modules: list[File]) -> tuple[list[str], int]:
    """Where locals and parameters have names that say nothing, and how many locals and parameters there are."""
    named = [(path, line, name) for path, _, tree in modules for line, name in local_names(tree)]
    return [f"{path}:{line}: {name}" for path, line, name in named if name in PET_WORDS], len(named)


HOUSE = files("dpsql")


def test_a_statement_assigns_one_value() -> None:
    found = offenders(HOUSE, packed_assignments)
    assert len(found) <= MAX_PACKED_PER_1000_LINES * lines_in(HOUSE) / 1000, "\n".join(found)


def test_the_formatter_has_the_last_word() -> None:
    in_house = offenders_in_text(HOUSE, formatter_comments)
    assert len(in_house) <= MAX_FORMATTER_COMMENTS, "\n".join(in_house)
    in_tests = offenders_in_text(files("tests"), formatter_comments)
    assert len(in_tests) <= MAX_FORMATTER_COMMENTS_IN_TESTS, "\n".join(in_tests)


def test_names_say_what_a_value_is() -> None:
    pets, names = pet_words(HOUSE)
    assert len(pets) <= MAX_PET_WORD_SHARE * names, "\n".join(pets)


def test_no_conditional_stands_in_a_conditional() -> None:
    found = offenders(HOUSE, nested_conditionals)
    assert len(found) <= MAX_NESTED_CONDITIONALS, "\n".join(found)


def test_long_calls_name_their_arguments() -> None:
    found = offenders(HOUSE, long_calls)
    assert len(found) <= MAX_LONG_CALLS, "\n".join(found)


def test_lines_fit_a_page() -> None:
    found = offenders_in_text(HOUSE, long_lines)
    assert len(found) <= MAX_LONG_LINE_SHARE * lines_in(HOUSE), "\n".join(found)


def test_docstrings_say_if_and_after() -> None:
    found = offenders(HOUSE, phrases)
    assert len(found) <= MAX_PHRASES, "\n".join(found)


def test_a_function_name_means_one_thing() -> None:
    for name in PET_FUNCTIONS:
        found = offenders(HOUSE, lambda tree, name=name: functions_named(name, tree))
        assert len(found) <= MAX_FUNCTIONS_OF_A_NAME, f"{name}:\n" + "\n".join(found)


def test_each_measure_finds_what_it_looks_for() -> None:
    text = '''
def f(each):
    """Nothing where it is told."""
    a, b = 1, 2
    a, b = b, a
    g = lambda found: 1 if a else 2 if b else 3
    return call(1, 2, 3, 4, 5, 6, 7)  # fmt: skip
'''
    tree = ast.parse(text)
    assert list(packed_assignments(tree)) == [4]
    assert list(formatter_comments(text)) == [7]
    assert sorted(local_names(tree)) == [(2, "each"), (4, "a"), (4, "b"), (6, "found"), (6, "g")]
    assert list(nested_conditionals(tree)) == [6]
    assert list(long_calls(tree)) == [7]
    assert list(long_lines("x" * 111)) == [1]
    assert list(phrases(tree)) == [3]
    assert list(functions_named("f", tree)) == [2]
