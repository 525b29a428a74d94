"""HISTOGRAM, MODE, APPROX_TOP_K and STRING_AGG: how often each public value occurs.

Proved in ``docs/proofs/frequencies.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from sqlglot import exp

from dpsql.sql.analysis.key_domain.enumeration import MAX_RANGE, column_values, values
from dpsql.sql.binder.expressions.expression_reader import Reader
from dpsql.sql.ir.aggregate import MODE, STRING_AGG, function_named
from dpsql.sql.ir.aggregate_properties import Arguments
from dpsql.sql.ir.core import Aggregate, JoinedText
from dpsql.sql.ir.expression import TEXT, Case, ColumnRef, Expression, Literal, Scalar
from dpsql.sql.ir.refusal import called, only, refuse

#: The values of a column of a public table; None of other columns, and where they are too many.
ListedValues: TypeAlias = Callable[[ColumnRef], "tuple[Scalar, ...] | None"]


def frequent_aggregate(node: exp.Expr, reader: Reader, listed: ListedValues) -> Aggregate | None:
    """The frequencies that an aggregate asks for, with its FILTER; None for another aggregate.

    ``listed`` tells the values of columns of public tables.
    """
    call = node.this if isinstance(node, exp.Filter) else node
    if not _is_frequent(call):
        return None
    condition = None
    if isinstance(node, exp.Filter):
        only(node, "this", "expression", code="E_AGG")
        condition = reader.condition(node.expression.this)
    if isinstance(call, exp.WithinGroup):
        return _ordered_mode(call, condition, reader, listed)
    if isinstance(call, exp.GroupConcat):
        return _joined_values(call, condition, reader, listed)
    value, most = _arguments(call, reader)
    argument = reader.expression(value)
    function = function_named(call)
    assert function is not None
    return Aggregate(
        function, argument, condition, values=_listed(argument, call, listed), most=most
    )


def _ordered_mode(
    call: exp.WithinGroup, condition: Expression | None, reader: Reader, listed: ListedValues
) -> Aggregate:
    """MODE() WITHIN GROUP (ORDER BY x)."""
    order = call.expression
    if (
        call.this.this is not None
        or not isinstance(order, exp.Order)
        or len(order.expressions) != 1
    ):
        refuse("E_AGG", "write MODE() WITHIN GROUP (ORDER BY one value)", call)
    (ordered,) = order.expressions
    only(ordered, "this", "desc", "nulls_first", code="E_AGG", subject="this order")
    argument = reader.expression(ordered.this)
    return Aggregate(MODE, argument, condition, values=_listed(argument, call.this, listed))


def _joined_values(
    call: exp.GroupConcat, condition: Expression | None, reader: Reader, listed: ListedValues
) -> Aggregate:
    """STRING_AGG(DISTINCT x, ', ' ORDER BY x)."""
    only(call, "this", "separator", code="E_AGG", subject=f"this form of {called(call)}")
    inner = call.this
    order = None
    if isinstance(inner, exp.Order):
        order = inner
        inner = inner.this
    if not isinstance(inner, exp.Distinct) or len(inner.expressions) != 1:
        refuse(
            "E_AGG",
            f"{called(call)} joins different values here; write {called(call)}(DISTINCT x, ', ')",
            call,
        )
    (value,) = inner.expressions
    argument = reader.expression(value)
    separator = call.args.get("separator")
    between = Literal(",", TEXT) if separator is None else reader.expression(separator)
    if not isinstance(between, Literal) or not isinstance(between.value, str):
        refuse("E_AGG", f"{called(call)} takes a constant text between the values", call)
    ordered = [] if order is None else order.expressions
    if len(ordered) > 1 or any(reader.expression(key.this) != argument for key in ordered):
        refuse("E_AGG", f"{called(call)} with DISTINCT is ordered by its own value", call)
    for key in ordered:
        only(key, "this", "desc", "nulls_first", code="E_AGG", subject="this order")
    joined = JoinedText(between.value, any(key.args.get("desc") for key in ordered))
    return Aggregate(
        STRING_AGG, argument, condition, values=_listed(argument, call, listed), joined=joined
    )


def _arguments(call: exp.Expr, reader: Reader) -> tuple[exp.Expr, int | None]:
    """The value, and how many are asked for."""
    only(
        call,
        "this",
        "expression",
        "expressions",
        code="E_AGG",
        subject=f"this form of {called(call)}",
    )
    first = call.expressions[:1] if isinstance(call, exp.Anonymous) else [call.this]
    more: list[exp.Expr | None] = (
        call.expressions[1:] if isinstance(call, exp.Anonymous) else [call.args.get("expression")]
    )
    others = [argument for argument in more if argument is not None]
    argument_count = int(isinstance(call, exp.ApproxTopK))
    if (
        len(others) != argument_count
        or not first
        or isinstance(first[0], exp.Distinct | exp.Star | exp.Order | None)
    ):
        expected = "a value and a constant" if argument_count else "one value"
        refuse(
            "E_AGG",
            f"{called(call)} takes {expected} here; for bins, GROUP BY FLOOR(x / 10) * 10",
            call,
        )
    if not argument_count:
        return first[0], None
    most = reader.expression(others[0])
    if (
        not isinstance(most, Literal)
        or type(most.value) is not int
        or not 1 <= most.value <= MAX_RANGE
    ):
        refuse("E_AGG", f"{called(call)} takes a constant from 1 to {MAX_RANGE:,}", call)
    return first[0], most.value


def frequent_value(node: exp.Expr) -> exp.Expr | None:
    """The argument of the aggregate, if it is one of these and has one argument."""
    call = node.this if isinstance(node, exp.Filter) else node
    if not _is_frequent(call):
        return None
    if isinstance(call, exp.WithinGroup):
        order = call.expression
        return order.expressions[0].this if isinstance(order, exp.Order) else None
    value: exp.Expr | None = (
        next(iter(call.expressions), None) if isinstance(call, exp.Anonymous) else call.this
    )
    value = value.this if isinstance(value, exp.Order) else value
    return next(iter(value.expressions), None) if isinstance(value, exp.Distinct) else value


def _is_frequent(call: exp.Expr) -> bool:
    if isinstance(call, exp.WithinGroup):
        return isinstance(call.this, exp.Mode)
    function = function_named(call)
    return function is not None and function.arguments is Arguments.LISTED


def _listed(argument: Expression, call: exp.Expr, listed: ListedValues) -> tuple[Scalar, ...]:
    """The argument's public values; refused where they cannot be listed."""
    result = public_values(argument, listed)
    if not result:
        refuse(
            "E_KEY",
            f"{called(call)} needs a value that can be listed from the schema; declare `values` for the "
            "column, or GROUP BY it and COUNT(*)",
            call,
        )
    if len(result) > MAX_RANGE:
        refuse(
            "E_KEY",
            f"{called(call)} of more than {MAX_RANGE:,} values is not answered; GROUP BY it and COUNT(*)",
            call,
        )
    return result


def public_values(argument: Expression, listed: ListedValues) -> tuple[Scalar, ...] | None:
    """Every value but NULL that the expression may show; None if not known.

    The values come from the schema, the statement and public tables.
    """
    match argument:
        case ColumnRef():
            known = argument.domain or listed(argument) or column_values(argument)
        case Literal(value=value):
            known = (value,)
        case Case(branches=branches, default=default):
            known = _of_branches(
                [value for _, value in branches] + ([] if default is None else [default])
            )
        case _:
            known = values(argument)
    return (
        None
        if known is None
        else tuple(value for value in dict.fromkeys(known) if value is not None)
    )


def _of_branches(results: list[Expression]) -> tuple[Scalar, ...] | None:
    known = [value.value for value in results if isinstance(value, Literal)]
    return tuple(known) if len(known) == len(results) else None
