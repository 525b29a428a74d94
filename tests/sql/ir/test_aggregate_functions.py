"""Each aggregate function is one object that states all of its properties,
and nothing else decides by its name.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path

import pytest
import sqlglot

import dpsql
from dpsql.sql.binder.aggregates.aggregate import _WITHOUT_FORM
from dpsql.sql.ir import aggregate
from dpsql.sql.ir.aggregate import AGGREGATE_FUNCTIONS, function_named
from dpsql.sql.ir.aggregate_properties import AggregateFunction, MomentSums, Statistic
from dpsql.sql.suggest.aggregates import SAME_NUMBER

PACKAGE = Path(dpsql.__file__).parent
#: Where names of functions stand that are not private aggregates: of released rows,
#: of the #: catalogue, of an engine.
OTHER_FUNCTIONS = ("sql/postprocess/", "server/catalogue/", "engines/")
#: The sandbox is asked for both ends of numbers.
ENDS = {"min", "max"}
#: The aggregates themselves, and the closed types that they are made of.
THEIRS = ("sql/ir/aggregate.py", "sql/ir/moments.py", "sql/ir/aggregate_properties.py")


def test_each_function_is_listed_once() -> None:
    """All but what DP_CLIP around another one is made of, which no statement names."""
    made = {each for each in vars(aggregate).values() if isinstance(each, AggregateFunction)}
    assert len(AGGREGATE_FUNCTIONS) == len({*AGGREGATE_FUNCTIONS})
    assert made - {*AGGREGATE_FUNCTIONS} == {
        aggregate.NORM,
        aggregate.NORM_CLIPPED_SUM,
    } and made >= {*AGGREGATE_FUNCTIONS}
    names = Counter(each.name for each in AGGREGATE_FUNCTIONS)
    spellings = Counter(spelling for each in AGGREGATE_FUNCTIONS for spelling in each.spellings)
    assert {
        name
        for name, times in (names + spellings).items()
        if names[name] > 1 or spellings[name] > 1
    } == set()


def test_no_property_has_a_value_where_it_is_not_stated() -> None:
    silent = [
        each.name
        for each in fields(AggregateFunction)
        if each.default is not MISSING or each.default_factory is not MISSING
    ]
    assert silent == []
    with pytest.raises(TypeError, match="known_noise"):
        AggregateFunction(
            **{each.name: None for each in fields(AggregateFunction) if each.name != "known_noise"}
        )


def test_each_statistic_is_that_of_one_function() -> None:
    measures = [
        each.measure.statistic
        for each in AGGREGATE_FUNCTIONS
        if isinstance(each.measure, MomentSums)
    ]
    assert sorted(measures) == sorted(Statistic)


@pytest.mark.parametrize("function", AGGREGATE_FUNCTIONS, ids=repr)
def test_a_call_as_front_ends_list_it_names_its_function(function: AggregateFunction) -> None:
    for example in function.examples:
        call = sqlglot.parse_one(f"SELECT {example}", dialect="duckdb").expressions[0]
        named = call.this if isinstance(call, sqlglot.exp.WithinGroup) else call
        assert function_named(named) is function


def test_what_is_answered_is_not_listed_as_refused() -> None:
    answered = {spelling for each in AGGREGATE_FUNCTIONS for spelling in each.spellings}
    assert answered & _WITHOUT_FORM == set()
    assert answered & {*SAME_NUMBER} == set()


def test_no_set_of_names_decides_about_aggregates() -> None:
    """Two names of aggregates in one literal are a set of them: they belong into the objects."""
    found = [f"{file}:{line} {names}" for file, line, names in _sets()]
    assert found == []


def test_a_set_of_names_is_found() -> None:
    for text in (
        'x in ("every", "some")',
        'A = frozenset("count sum".split())',
        'A = {"avg": 1, "sum": 2}',
        'match f:\n    case "avg" | "sum":\n        pass',
    ):
        assert list(_in(ast.parse(text))), text


def _sets() -> Iterator[tuple[str, int, list[str]]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        file = path.relative_to(PACKAGE).as_posix()
        if file not in THEIRS and not file.startswith(OTHER_FUNCTIONS):
            yield from ((file, *each) for each in _in(ast.parse(path.read_text("utf-8"))))


def _in(tree: ast.AST) -> Iterator[tuple[int, list[str]]]:
    known = {name for each in AGGREGATE_FUNCTIONS for name in (each.name, *each.spellings)} - ENDS
    for node in ast.walk(tree):
        match node:
            case ast.Set(elts=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
                words = [part.value for part in parts if isinstance(part, ast.Constant)]
            case ast.Dict(keys=parts):
                words = [part.value for part in parts if isinstance(part, ast.Constant)]
            case ast.MatchOr(patterns=parts):
                constants = [part.value for part in parts if isinstance(part, ast.MatchValue)]
                words = [part.value for part in constants if isinstance(part, ast.Constant)]
            case ast.Call(
                func=ast.Attribute(attr="split", value=ast.Constant(value=str() as text))
            ):
                words = text.split()
            case _:
                continue
        names = [word for word in words if isinstance(word, str) and word.lower() in known]
        if len(names) > 1:
            yield node.lineno, names
