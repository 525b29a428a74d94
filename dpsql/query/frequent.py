"""HISTOGRAM: how often each of the public values of an expression occurs.

Proved in ``docs/proofs/frequencies.md``.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.query.enumeration import MAX_RANGE, column_values, values
from dpsql.query.expression import Case, Column, Expression, Literal, Scalar
from dpsql.query.refusal import called, only, refuse
from dpsql.query.relation import Aggregate
from dpsql.query.scalar import Reader


def frequent_aggregate(node: exp.Expr, reader: Reader) -> Aggregate | None:
    """The frequencies that an aggregate asks for, with its FILTER; None where it is another aggregate."""
    call = node.this if isinstance(node, exp.Filter) else node
    if not _is_histogram(call):
        return None
    condition = None
    if isinstance(node, exp.Filter):
        only(node, "this", "expression", code="E_AGG")
        condition = reader.condition(node.expression.this)
    if len(call.expressions) != 1 or isinstance(call.expressions[0], exp.Distinct | exp.Star | exp.Order):
        refuse("E_AGG", "HISTOGRAM takes one value here; for bins, GROUP BY FLOOR(x / 10) * 10", call)
    argument = reader.read(call.expressions[0])
    return Aggregate("histogram", argument, condition, values=_listed(argument, call))


def frequent_value(node: exp.Expr) -> exp.Expr | None:
    """What the aggregate is called with, where it is one of these and has one argument."""
    call = node.this if isinstance(node, exp.Filter) else node
    if not _is_histogram(call) or len(call.expressions) != 1:
        return None
    value: exp.Expr = call.expressions[0]
    if isinstance(value, exp.Distinct):
        value = value.expressions[0]
    return value


def _is_histogram(call: exp.Expr) -> bool:
    return isinstance(call, exp.Anonymous) and call.name.lower() == "histogram"


def _listed(argument: Expression, call: exp.Expr) -> tuple[Scalar, ...]:
    """The argument's public values; refused where they cannot be listed."""
    found = public_values(argument)
    if not found:
        refuse("E_KEY", f"{called(call)} needs a value that can be listed from the schema; declare `values` for the "
               "column, or GROUP BY it and COUNT(*)", call)  # fmt: skip
    if len(found) > MAX_RANGE:
        refuse("E_KEY", f"{called(call)} of more than {MAX_RANGE:,} values is not answered; GROUP BY it and COUNT(*)",
               call)  # fmt: skip
    return found


def public_values(argument: Expression) -> tuple[Scalar, ...] | None:
    """Every value but NULL that the expression may show, from the schema and the statement; None if not known."""
    match argument:
        case Column():
            known = column_values(argument)
        case Literal(value=value):
            known = (value,)
        case Case(branches=branches, default=default):
            known = _of_branches([value for _, value in branches] + ([] if default is None else [default]))
        case _:
            known = values(argument)
    return None if known is None else tuple(value for value in dict.fromkeys(known) if value is not None)


def _of_branches(results: list[Expression]) -> tuple[Scalar, ...] | None:
    known = [value.value for value in results if isinstance(value, Literal)]
    return tuple(known) if len(known) == len(results) else None
