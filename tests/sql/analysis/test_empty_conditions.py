"""Conditions that are true of no row, and those that depend on the row."""

from __future__ import annotations

import pytest

from dpsql.schema import SqlType
from dpsql.sql.analysis.empty_relations import is_never_true
from dpsql.sql.ir.expression import BOOLEAN, INTEGER, Call, ColumnRef, Expression, Literal

TEXT = SqlType("text")
NUMBER = ColumnRef("t", "n", INTEGER, True)
ONE, TWO, NULL = Literal(1, INTEGER), Literal(2, INTEGER), Literal(None, INTEGER)
TRUE, FALSE = Literal(True, BOOLEAN), Literal(False, BOOLEAN)
UNKNOWN = Literal(None, BOOLEAN)


def call(function: str, *arguments: Expression) -> Call:
    return Call(function, arguments, BOOLEAN)


NEVER = (
    FALSE,
    UNKNOWN,
    call("not", TRUE),
    call("not", UNKNOWN),
    call("=", ONE, TWO),
    call("=", NUMBER, NULL),
    call("<", TWO, ONE),
    call("<", NUMBER, NUMBER),
    call("<>", ONE, ONE),
    call("not", call("=", ONE, ONE)),
    call("not", call("=", ONE, NULL)),
    call("not", call("<", ONE, TWO)),
    call("not", call("or", TRUE, call("=", NUMBER, ONE))),
    call("not", call("and", TRUE, call("=", TWO, TWO))),
    call("and", call("=", NUMBER, ONE), FALSE),
    call("or", FALSE, call("=", ONE, TWO)),
    call("in", ONE, TWO, NULL),
)
PERHAPS = (
    TRUE,
    call("not", FALSE),
    call("=", ONE, ONE),
    call("=", NUMBER, ONE),
    call("=", NUMBER, NUMBER),
    call("<=", NUMBER, NUMBER),
    call("not", call("=", ONE, TWO)),
    call("not", call("=", NUMBER, NUMBER)),
    call("not", call("and", TRUE, call("=", NUMBER, ONE))),
    call("not", call("or", FALSE, call("=", NUMBER, ONE))),
    call("and", call("=", NUMBER, ONE), TRUE),
    call("or", FALSE, call("=", NUMBER, ONE)),
    call("in", ONE, TWO, ONE),
    call("in", NUMBER, TWO, NULL),
    call("<", Literal("b", TEXT), Literal("a", TEXT)),
    call("not", call("<", Literal("a", TEXT), Literal("b", TEXT))),
    call("=", ONE, Literal("2", TEXT)),
)


@pytest.mark.parametrize("condition", NEVER)
def test_a_condition_is_false_or_unknown_of_every_row(condition: Expression) -> None:
    assert is_never_true(condition)


@pytest.mark.parametrize("condition", PERHAPS)
def test_a_condition_may_be_true_of_some_row(condition: Expression) -> None:
    """An order of texts is the engine's own, and so is a comparison of two types."""
    assert not is_never_true(condition)
