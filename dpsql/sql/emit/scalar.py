"""Scalar expressions as engine SQL that gives a value or NULL on every row,
and how large that SQL may become.

Proved in ``docs/proofs/expression.md``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import date, datetime
from decimal import Decimal
from typing import Final, TypeAlias, assert_never

from sqlglot import exp

from dpsql.sql.emit import node
from dpsql.sql.emit.dialect import Dialect
from dpsql.sql.emit.node import number
from dpsql.sql.emit.node_count import limited, require
from dpsql.sql.emit.table import first_characters, without_sign
from dpsql.sql.emit.whole_numbers import Whole, compared_as_decimals, narrow, whole_number
from dpsql.sql.functions import FUNCTIONS
from dpsql.sql.functions.call import is_double
from dpsql.sql.functions.not_a_number import CARRIERS, may_be_nan
from dpsql.sql.functions.whole_numbers import is_large, is_whole, whole_comparison
from dpsql.sql.ir.expression import (
    DATE,
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

#: From so many characters on a column is cut as it is read (`dpsql.sql.analysis.work`),
#: and made #: flat afterwards.
LONG: Final = 1_000
#: The relations outside of the subquery that is emitted, whose columns it reads. An engine may ask
#: it once for all rows with equal values, and takes those of any one of them.
OUTER: Final[ContextVar[frozenset[str]]] = ContextVar("outer", default=frozenset())
#: Every whole number of 64 bits fits into a decimal that has more digits than these before its
#: point.
_INTEGER_DIGITS: Final = 18
#: Where a column is found when it is not under its relation's own alias.
Places: TypeAlias = Mapping[ColumnRef, tuple[str, str]]

_CONDITIONS = frozenset(
    {"=", "<>", "<", "<=", ">", ">=", "in", "is not distinct from", "is distinct from"}
)
#: Characters of ASCII that follow each other, or one beyond it.
_RUNS = re.compile(r"([\x00-\x7f]+)|(.)", re.DOTALL)
_CHOICES = frozenset({"coalesce", "nullif", "greatest", "least"})


def literal_node(dialect: Dialect, literal: Literal) -> exp.Expr:
    """A constant, written again from its typed value in printable ASCII."""
    value = literal.value
    match value:
        case None:
            return dialect.cast(exp.null(), literal.type)
        case bool():
            return exp.Boolean(this=value)
        case int():
            return node.integer(value)
        case float() | Decimal():
            amount = number(abs(float(value)))
            return exp.Neg(this=amount) if value < 0 else amount
        case str():
            return _text(dialect, value)
        case datetime():
            return dialect.cast(exp.Literal.string(value.isoformat(sep=" ")), TIMESTAMP)
        case date():
            return dialect.cast(exp.Literal.string(value.isoformat()), DATE)
        case _:
            assert_never(value)


def _text(dialect: Dialect, value: str) -> exp.Expr:
    """A string literal; characters beyond ASCII are called by their number."""
    require(len(value))
    if value.isascii():
        return exp.Literal.string(value)
    pieces: list[exp.Expr] = []
    for plain, other in _RUNS.findall(value):
        pieces.append(exp.Literal.string(plain) if plain else dialect.character(ord(other)))
    return node.paren(node.balanced(pieces, exp.DPipe))


def native(dialect: Dialect, expression: Expression, places: Places | None = None) -> exp.Expr:
    """The expression in the engine's own type, NULL if it is NaN; StatementError (E_LIMITS) where
    it is more than an engine plans."""
    tree = _native(dialect, expression, places)
    return limited(dialect.unless_nan(tree) if may_be_nan(expression) else tree)


def _native(dialect: Dialect, expression: Expression, places: Places | None) -> exp.Expr:
    match expression:
        case ColumnRef(relation=relation, name=name, type=sql_type):
            column = node.column(*(places or {}).get(expression, (relation, name)))
            return (
                without_sign(column)
                if sql_type.kind == "double" and relation in OUTER.get()
                else column
            )
        case Literal():
            return literal_node(dialect, expression)
        case Call() | Case() if is_whole(expression):
            return _whole(dialect, expression, places).tree
        case Call(function=function) if function in _CONDITIONS:
            return _condition(dialect, expression, places)
        case Call(function=function, arguments=arguments) if function in _CHOICES:
            if function == "nullif":
                return _nullif(dialect, expression, places)
            parts = _alike(dialect, arguments, places)
            if function != "coalesce" and dialect.reads_flat(function):
                parts = [
                    dialect.flat(emitted_argument, argument)
                    for emitted_argument, argument in zip(parts, arguments, strict=True)
                ]
            return dialect.total_form(function, *parts)
        case Call():
            return _call(dialect, expression, places)
        case Case(branches=branches, default=default):
            conditions = [native(dialect, condition, places) for condition, _ in branches]
            results = [value for _, value in branches] + ([] if default is None else [default])
            values = _alike(dialect, tuple(results), places)
            return node.case(
                *zip(conditions, values, strict=False),
                default=None if default is None else values[-1],
            )
        case Cast():
            return _cast(dialect, expression, places)
        case Subquery():
            # Relations hold expressions, and these hold relations.
            from dpsql.sql.emit.relation import (
                subquery,
            )

            return subquery(dialect, expression)
        case _:
            assert_never(expression)


def _call(dialect: Dialect, call: Call, places: Places | None) -> exp.Expr:
    """A function applied to arguments of the engine types that its total form wants."""
    match call:
        case Call(function="left", arguments=(ColumnRef() as column, Literal(value=int(most)))) if (
            most >= LONG
        ):
            return first_characters(dialect, native(dialect, column, places), most)
        case _:
            entry = FUNCTIONS[call.function]
    emitted = [
        _carried(dialect, argument, places)
        if call.function in CARRIERS and may_be_nan(argument)
        else _argument(dialect, argument, kind, entry.jumps, places=places)
        for argument, kind in zip(call.arguments, entry.kinds(len(call.arguments)), strict=True)
    ]
    if dialect.reads_flat(call.function):
        emitted = [
            dialect.flat(emitted_argument, argument)
            for emitted_argument, argument in zip(emitted, call.arguments, strict=True)
        ]
    value = dialect.total_form(call.function, *emitted)
    keeps_date = call.type.kind == "date" and call.function.startswith(("date_", "time_bucket "))
    return dialect.try_cast(value, DATE) if keeps_date else value


def _whole(dialect: Dialect, expression: Expression, places: Places | None) -> Whole:
    return whole_number(dialect, expression, lambda argument: native(dialect, argument, places))


def _bigint(dialect: Dialect, expression: Expression, places: Places | None) -> exp.Expr:
    """A whole number in 64 bits, NULL if it has more."""
    if is_whole(expression):
        return narrow(dialect, _whole(dialect, expression, places)).tree
    emitted = native(dialect, expression, places)
    return (
        dialect.try_cast(emitted, INTEGER)
        if is_double(expression)
        else dialect.cast(emitted, INTEGER)
    )


def _nullif(dialect: Dialect, call: Call, places: Places | None) -> exp.Expr:
    """The first argument in its own type, NULL if it equals the second."""
    first, second = call.arguments
    if first.type.is_numeric:
        return dialect.total_form(
            "nullif", nearest(dialect, first, places), nearest(dialect, second, places)
        )
    values = _alike(dialect, call.arguments, places)
    parts = [
        dialect.flat(value, argument)
        for value, argument in zip(values, call.arguments, strict=True)
    ]
    result = dialect.total_form("nullif", *parts)
    return (
        dialect.try_cast(result, DATE) if first.type.kind == "date" != second.type.kind else result
    )


def _carried(dialect: Dialect, argument: Expression, places: Places | None) -> exp.Expr:
    """A DOUBLE that may be NaN, which arithmetic makes of it again."""
    return limited(_native(dialect, argument, places))


def _argument(
    dialect: Dialect, argument: Expression, kind: str, jumps: bool, places: Places | None
) -> exp.Expr:
    match kind:
        case "number":
            return (
                nearest(dialect, argument, places) if jumps else double(dialect, argument, places)
            )
        case "integer":
            return _bigint(dialect, argument, places)
        case _:
            return native(dialect, argument, places)


def _cast(dialect: Dialect, cast: Cast, places: Places | None) -> exp.Expr:
    """TRY_CAST of the value as the engine has it in its declared type.

    A decimal that was computed as a double is brought to its own scale first, and so rounds a half
    away from zero. A timestamp is written as a text within the years 1 to 9999 only: some that a
    file may hold have no text at all. A whole number that has too many digits for a decimal is not
    tried: an engine takes microseconds to say so.
    """
    argument = cast.argument
    target = cast.type
    computed = is_double(argument) and argument.type.kind != "double"
    if not (argument.type.is_numeric and target.is_numeric):
        value = dialect.flat(native(dialect, argument, places), argument)
        if target.kind == "text" and argument.type.kind == "timestamp":
            value = dialect.ordinary(value)
        elif target.kind == "text" and computed:
            value = dialect.try_cast(value, argument.type)
        return dialect.try_cast(value, target)
    if argument.type.kind == "decimal" and target.kind in ("integer", "decimal"):
        scale = argument.type.scale or 0
        digits = target.scale or 0
        value = double(dialect, argument, places)
        if digits < scale:
            rounded = dialect.total_form(
                "round decimal", value, node.integer(scale), node.integer(digits)
            )
        else:
            rounded = nearest(dialect, argument, places)
        return dialect.try_cast(rounded if computed else native(dialect, argument, places), target)
    if is_whole(argument) and target.kind == "integer":
        return _bigint(dialect, argument, places)
    value = (double if argument.type.kind == "decimal" else native)(dialect, argument, places)
    whole_digits = (target.precision or 0) - (target.scale or 0)
    if (
        argument.type.kind != "integer"
        or is_double(argument)
        or target.kind != "decimal"
        or (whole_digits > _INTEGER_DIGITS and not is_whole(argument))
    ):
        return dialect.try_cast(value, target)
    ends = ((exp.GT, -(10**whole_digits)), (exp.LT, 10**whole_digits))
    fits = node.balanced(
        [node.compare(kind, value.copy(), node.integer(end)) for kind, end in ends], exp.And
    )
    return node.case((fits, dialect.try_cast(value, target)))


def nearest(dialect: Dialect, expression: Expression, places: Places | None = None) -> exp.Expr:
    """A number as DOUBLE, a computed decimal as the double nearest to it,
    so that what jumps does so at decimals.
    """
    emitted = double(dialect, expression, places)
    if expression.type.kind != "decimal" or not isinstance(expression, Call | Case):
        return emitted
    return dialect.total_form("round", emitted, node.integer(expression.type.scale or 0))


def double(dialect: Dialect, expression: Expression, places: Places | None = None) -> exp.Expr:
    """A number as DOUBLE, on which arithmetic never fails."""
    if (
        isinstance(expression, Literal)
        and isinstance(expression.value, int)
        and not isinstance(expression.value, bool)
    ):
        amount = number(float(abs(expression.value)))
        return exp.Neg(this=amount) if expression.value < 0 else amount
    emitted = native(dialect, expression, places)
    return emitted if is_double(expression) else dialect.cast(emitted, DOUBLE)


def _condition(dialect: Dialect, call: Call, places: Places | None) -> exp.Expr:
    """A comparison of one family: whole numbers and columns of one type as they are, so that units
    compare exactly; large ones beside decimals as decimals, other numbers as DOUBLE, dates as
    timestamps."""
    call = whole_comparison(call)
    integers = all(argument.type.kind == "integer" for argument in call.arguments)
    as_integers = integers and not any(map(is_double, call.arguments))
    if integers and not as_integers and any(map(is_large, call.arguments)):
        return dialect.total_form(
            call.function, *(_whole(dialect, argument, places).tree for argument in call.arguments)
        )
    decimals = (
        None
        if as_integers
        else compared_as_decimals(dialect, call, lambda argument: native(dialect, argument, places))
    )
    if decimals is not None:
        return decimals
    exact = as_integers or all(
        isinstance(argument, ColumnRef) and argument.type == call.arguments[0].type
        for argument in call.arguments
    )
    if exact:
        parts = [native(dialect, argument, places) for argument in call.arguments]
    elif call.arguments[0].type.is_numeric:
        parts = [nearest(dialect, argument, places) for argument in call.arguments]
    else:
        parts = _alike(dialect, call.arguments, places)
    if not exact and (
        dialect.reads_flat(call.function)
        or any(argument.type.kind == "text" for argument in call.arguments)
    ):
        parts = [
            dialect.flat(emitted_argument, argument)
            for emitted_argument, argument in zip(parts, call.arguments, strict=True)
        ]
    return dialect.total_form(call.function, *parts)


def _alike(
    dialect: Dialect, expressions: tuple[Expression, ...], places: Places | None
) -> list[exp.Expr]:
    if any(expression.type.is_numeric for expression in expressions):
        return [double(dialect, expression, places) for expression in expressions]
    if len({expression.type.kind for expression in expressions}) > 1:
        return [
            dialect.try_cast(native(dialect, expression, places), TIMESTAMP)
            for expression in expressions
        ]
    return [native(dialect, expression, places) for expression in expressions]


def key(dialect: Dialect, expression: Expression, places: Places | None = None) -> exp.Expr:
    """A group key in its declared type, equal keys in one spelling (−0.0 is written 0.0).

    Dates outside the years 1 to 9999, the infinite ones among them, are NULL:
    a client has no value for them.
    """
    emitted = native(dialect, expression, places)
    ends = expression.type.facts.ends
    if ends is not None:
        first, last = (literal_node(dialect, Literal(end, expression.type)) for end in ends)
        inside = exp.And(
            this=node.compare(exp.GTE, emitted, first),
            expression=node.compare(exp.LTE, emitted.copy(), last),
        )
        return node.case((inside, emitted.copy()), default=None)
    if expression.type.kind == "double":
        return node.plus(double(dialect, expression, places), number(0.0))
    if is_whole(expression):
        return _bigint(dialect, expression, places)
    if expression.type.is_numeric:
        return dialect.try_cast(emitted, expression.type)
    return emitted
