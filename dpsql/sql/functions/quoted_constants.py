"""Constants in quotes: each takes the type of what it stands beside, as PostgreSQL's literals of unknown type do.

Proved in ``docs/proofs/expression.md``.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import NoReturn

from dpsql.schema import Scalar, SqlType
from dpsql.sql.functions.signature import common_type
from dpsql.sql.ir import literal
from dpsql.sql.ir.expression import BOOLEAN, DOUBLE, INTEGER, TIMESTAMP, Expression, Literal
from dpsql.sql.ir.refusal import refuse

#: What a quoted constant is where a function takes an argument of that kind, and no other argument tells its type.
_ALONE = {"number": DOUBLE, "integer": INTEGER, "temporal": TIMESTAMP, "boolean": BOOLEAN}
_DIGITS = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
_CALENDAR = re.compile(r"\s*\d+-\d+-\d+", re.ASCII)
_ZONED = re.compile(r":\d\d(?:\.\d+)?\s*[+-]\d\d(?::?\d\d)?\s*", re.ASCII)


def is_quoted(expression: Expression) -> bool:
    """Whether the expression is a constant in quotes without the name of a type."""
    return isinstance(expression, Literal) and expression.quoted_at is not None


def resolved(expression: Expression, target: SqlType) -> Expression:
    """A quoted constant as a value of the type, refused at its place where it writes none; any other as it is."""
    if not isinstance(expression, Literal) or expression.quoted_at is None or target.kind == "text":
        return expression
    written = str(expression.value)
    try:
        if target.is_temporal:
            value: Scalar = target.facts.constant(target, written)
        else:
            value = target.facts.parameter(target.facts.read(written.strip()))
    except (KeyError, ValueError, InvalidOperation):
        _refuse_text(expression, target)
    if value is None:
        _refuse_range(expression, target)
    return literal.typed_number(value, None) if isinstance(value, Decimal) else Literal(value, target)


def beside(arguments: list[Expression]) -> list[Expression]:
    """The arguments, a quoted constant among them as a value of the type that the others share."""
    types = [each.type for each in arguments if not is_quoted(each) and each != literal.NULL]
    if not types or len({each.facts.family for each in types}) > 1:
        return arguments
    target = common_type(*types)
    return [resolved(each, target) for each in arguments]


def as_kinds(kinds: tuple[str, ...], arguments: list[Expression]) -> list[Expression]:
    """The arguments of a function, a quoted constant among them as the function takes it: as a number, say."""
    found: list[Expression] = []
    for kind, argument in zip(kinds, arguments, strict=True):
        alone = _ALONE.get(kind)
        if alone is not None and is_quoted(argument):
            family = alone.facts.family
            types = [each.type for each in arguments if not is_quoted(each) and each.type.facts.family == family]
            argument = resolved(argument, common_type(*types) if types and kind != "integer" else alone)
        found.append(argument)
    return found


def _refuse_text(constant: Literal, target: SqlType) -> NoReturn:
    written = str(constant.value)
    if target.kind == "integer" and _DIGITS.fullmatch(written):
        _refuse_range(constant, target)
    if target.kind == "timestamp" and _ZONED.search(written):
        refuse("E_TYPE", "this timestamp has another zone than UTC, in which timestamps stand here", constant.quoted_at)
    if target.is_temporal and _CALENDAR.match(written):
        refuse("E_TYPE", f'date/time field value out of range: "{written}"', constant.quoted_at, sqlstate="22008")
    refuse(
        "E_TYPE", f'invalid input syntax for type {target.facts.postgresql}: "{written}"', constant.quoted_at,
        sqlstate="22007" if target.is_temporal else "22P02",
    )  # fmt: skip


def _refuse_range(constant: Literal, target: SqlType) -> NoReturn:
    refuse(
        "E_TYPE", f'value "{constant.value}" is out of range for type {target.facts.postgresql}', constant.quoted_at,
        sqlstate="22003",
    )  # fmt: skip
