"""A function of the allow-list applied to typed arguments: which types fit,
and which constants are converted.

A constant in quotes takes the type of what it stands beside, as PostgreSQL's literals of unknown
type do. Readers of single nodes are given a function that reads the nodes inside theirs. Proved in
``docs/proofs/expression.md``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from typing import NoReturn, TypeAlias, assert_never

from sqlglot import exp

from dpsql.schema import Scalar, SqlType
from dpsql.sql.functions import FUNCTIONS
from dpsql.sql.functions.like_patterns import liked
from dpsql.sql.functions.signature import common_type
from dpsql.sql.functions.whole_numbers import is_whole
from dpsql.sql.ir import literal
from dpsql.sql.ir.expression import (
    BOOLEAN,
    DOUBLE,
    INTEGER,
    TIMESTAMP,
    Call,
    Case,
    Cast,
    ColumnRef,
    Expression,
    Literal,
    Subquery,
)
from dpsql.sql.ir.refusal import refuse

#: What a quoted constant is where a function takes an argument of that kind,
#: and no other argument #: tells its type.
_ALONE = {"number": DOUBLE, "integer": INTEGER, "temporal": TIMESTAMP, "boolean": BOOLEAN}
_DIGITS = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
_CALENDAR = re.compile(r"\s*\d+-\d+-\d+", re.ASCII)
_ZONED = re.compile(r":\d\d(?:\.\d+)?\s*[+-]\d\d(?::?\d\d)?\s*", re.ASCII)


def is_quoted(expression: Expression) -> bool:
    """Whether the expression is a constant in quotes without the name of a type."""
    return isinstance(expression, Literal) and expression.quoted_at is not None


def resolved(expression: Expression, target: SqlType) -> Expression:
    """A quoted constant as a value of the type, refused at its place if it writes none;
    any other as it is.
    """
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
    return (
        literal.typed_number(value, None) if isinstance(value, Decimal) else Literal(value, target)
    )


def beside(arguments: list[Expression]) -> list[Expression]:
    """The arguments, a quoted constant among them as a value of the type that the others share."""
    types = [
        argument.type
        for argument in arguments
        if not is_quoted(argument) and argument != literal.NULL
    ]
    if not types or len({sql_type.facts.family for sql_type in types}) > 1:
        return arguments
    target = common_type(*types)
    return [resolved(argument, target) for argument in arguments]


def _as_kinds(kinds: tuple[str, ...], arguments: list[Expression]) -> list[Expression]:
    """The arguments of a function, a quoted constant among them as the function takes it:
    as a number, say.
    """
    result: list[Expression] = []
    for kind, argument in zip(kinds, arguments, strict=True):
        alone = _ALONE.get(kind)
        if alone is not None and is_quoted(argument):
            family = alone.facts.family
            types = [
                typed_argument.type
                for typed_argument in arguments
                if not is_quoted(typed_argument) and typed_argument.type.facts.family == family
            ]
            argument = resolved(
                argument, common_type(*types) if types and kind != "integer" else alone
            )
        result.append(argument)
    return result


def _refuse_text(constant: Literal, target: SqlType) -> NoReturn:
    written = str(constant.value)
    if target.kind == "integer" and _DIGITS.fullmatch(written):
        _refuse_range(constant, target)
    if target.kind == "timestamp" and _ZONED.search(written):
        refuse(
            "E_TYPE",
            "this timestamp has another zone than UTC, in which timestamps stand here",
            constant.quoted_at,
        )
    if target.is_temporal and _CALENDAR.match(written):
        refuse(
            "E_TYPE",
            f'date/time field value out of range: "{written}"',
            constant.quoted_at,
            sqlstate="22008",
        )
    refuse(
        "E_TYPE",
        f'invalid input syntax for type {target.facts.postgresql}: "{written}"',
        constant.quoted_at,
        sqlstate="22007" if target.is_temporal else "22P02",
    )


def _refuse_range(constant: Literal, target: SqlType) -> NoReturn:
    refuse(
        "E_TYPE",
        f'value "{constant.value}" is out of range for type {target.facts.postgresql}',
        constant.quoted_at,
        sqlstate="22003",
    )


#: The longest text that a text may be padded to.
LONGEST = 1_000


def call(
    function: str, arguments: list[Expression], node: exp.Expr, result: SqlType | None = None
) -> Expression:
    """The function applied to typed arguments; refused if a type does not fit.

    ``result`` is the type if it follows from more than those of the arguments.
    """
    entry = FUNCTIONS[function]
    most = len(entry.parameters) if not entry.parameters[-1].endswith("*") else len(arguments)
    least = len(entry.parameters) - entry.optional
    if not least <= len(arguments) <= most:
        counts = f"{least} or {most}" if least < most else f"{least}"
        refuse(
            "E_FUNC",
            f"{_in_capitals(function)} takes {counts} argument{'s' * (counts != '1')}",
            node,
        )
    kinds = entry.kinds(len(arguments))
    if set(kinds) == {"any"} and len(arguments) > 1:
        arguments = alike(arguments, node)
    arguments = _as_kinds(kinds, arguments)
    for kind, argument in zip(kinds, arguments, strict=True):
        _check_kind(function, kind, argument, node)
    if function in ("replace", "translate"):
        _require_no_growth(function, arguments[1], arguments[2], node)
    if function in ("like", "ilike"):
        return liked(function, *arguments)
    result = result or entry.result(*(argument.type for argument in arguments))
    return literal.folded(Call(function, tuple(arguments), result))


def _in_capitals(function: str) -> str:
    return function.upper()


#: What each kind of argument is, as a refusal says it.
_KINDS = {
    "number": "a number",
    "integer": "a whole number",
    "text": "a text",
    "temporal": "a date or timestamp",
    "boolean": "a condition",
    "any": "a value",
    "constant": "a constant whole number",
    "amount": "a constant whole number",
    "words": "a constant text",
    "size": f"a constant from 0 to {LONGEST}",
    "filling": "a constant text of one character or more",
}


def _check_kind(function: str, kind: str, argument: Expression, node: exp.Expr) -> None:
    if argument == literal.NULL and kind in (
        "number",
        "integer",
        "text",
        "temporal",
        "boolean",
        "any",
    ):
        return
    constant = isinstance(argument, Literal)
    value = argument.value if isinstance(argument, Literal) else None
    match kind:
        case "any":
            fits = True
        case "number":
            fits = argument.type.is_numeric
        case "integer" | "text":
            fits = argument.type.kind == kind
        case "temporal":
            fits = argument.type.is_temporal
        case "boolean":
            fits = argument.type == BOOLEAN
        case "constant":
            fits = type(value) is int and abs(value) <= 1_000_000
        case "amount":
            fits = type(value) is int and abs(value) < 2**63
        case "words":
            fits = isinstance(value, str)
        case "size":
            fits = type(value) is int and 0 <= value <= LONGEST
        case "filling":
            fits = isinstance(value, str) and bool(value)
        case _:
            raise LookupError(kind)
    if not fits:
        actual = (
            f"{argument.type}"
            if not constant or argument.type.kind not in ("integer", "text")
            else f"{value!r}"
        )
        refuse(
            "E_TYPE", f"{_in_capitals(function)} needs {_KINDS[kind]}, and this is {actual}", node
        )


def _require_no_growth(
    function: str, pattern: Expression, replacement: Expression, node: exp.Expr
) -> None:
    """Refuse what makes texts longer: nested ones would fill the memory, or not,
    by what a row holds.
    """
    texts = [argument.value for argument in (pattern, replacement) if isinstance(argument, Literal)]
    sizes = [len(text.encode()) for text in texts if isinstance(text, str)]
    if len(sizes) < 2 or sizes[1] > sizes[0]:
        name = function.upper()
        refuse(
            "E_FUNC",
            f"{name} takes two constants here, of which the second is no longer than the first",
            node,
        )


def _family(sql_type: SqlType) -> str:
    return sql_type.facts.family


def alike(arguments: list[Expression], node: exp.Expr) -> list[Expression]:
    """The arguments in one family of types: quoted constants become values like the others,
    NULL becomes anything.

    Beside dates, texts that are constants and dates are converted, too. Nothing else is: an
    implicit conversion of a column fails or not by what the column holds.
    """
    arguments = beside(arguments)
    typed = [argument for argument in arguments if argument != literal.NULL]
    leaders = [
        argument
        for argument in typed
        if not (isinstance(argument, Literal) and argument.type.kind == "text")
    ]
    lead = (leaders or typed or arguments)[0].type
    result: list[Expression] = []
    for argument in arguments:
        if argument == literal.NULL:
            argument = Literal(None, lead)
        elif (
            isinstance(argument, Literal)
            and lead.facts.reads_texts
            and argument.type.kind in ("text", "date")
        ):
            argument = literal.as_type(argument, lead, node) if argument.type != lead else argument
        if _family(argument.type) != _family(lead):
            refuse("E_TYPE", f"{lead} and {argument.type} do not compare; CAST one of them", node)
        result.append(argument)
    return result


def castable(source: SqlType, target: SqlType) -> bool:
    """Whether values of the one type have a form as the other, or at least some of them."""
    if target.kind == "text" or source.kind == target.kind or source.kind == "text":
        return True
    families = {source.facts.family, target.facts.family}
    return len(families) == 1 or families == {"boolean", "number"}


def is_double(expression: Expression) -> bool:
    """Whether the expression, as it is emitted, is a DOUBLE."""
    match expression:
        case Literal(value=value):
            return isinstance(value, float | Decimal)
        case Call(function=function, type=sql_type):
            entry = FUNCTIONS[function]
            return sql_type.is_numeric and not entry.whole and not is_whole(expression)
        case Case(type=sql_type):
            return sql_type.is_numeric and not is_whole(expression)
        case Cast(type=sql_type):
            return sql_type.kind == "double"
        case ColumnRef() | Subquery():
            return False  # the engine may hold a narrower type
        case _:
            assert_never(expression)


#: Gives the typed expression that a node means, or refuses it.
ReadNode: TypeAlias = Callable[[exp.Expr], Expression]


def read_condition(read_node: ReadNode, node: exp.Expr) -> Expression:
    """The node as a condition; refused if it is not true or false."""
    expression = resolved(read_node(node), BOOLEAN)
    if expression.type != BOOLEAN and expression != literal.NULL:
        refuse("E_TYPE", f"a condition must be true or false, and this is {expression.type}", node)
    return expression


def read_call(
    read_node: ReadNode, function: str, arguments: Sequence[exp.Expr], node: exp.Expr
) -> Expression:
    """The function of the allow-list applied to arguments that are still to be read."""
    return call(function, [read_node(argument) for argument in arguments], node)
