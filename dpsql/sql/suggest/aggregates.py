"""The aggregate that gives the same number as one that is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from dpsql.errors import Position
from dpsql.sql.binder.aggregates.aggregate import is_aggregate
from dpsql.sql.ir.aggregate import function_named
from dpsql.sql.ir.aggregate_properties import unit_ignores_repeated_rows
from dpsql.sql.ir.refusal import position_of

#: What an aggregate stands in if it is part of a condition.
_CONDITIONS: Final = (exp.Where, exp.Having, exp.Qualify, exp.Join)


def aggregate_at(tree: exp.Expr, position: Position | None) -> exp.Expr | None:
    """The outermost aggregate in a SELECT list at the position; None if there is none.

    One in a condition is left alone, as the condition would be another.
    """
    for call in tree.walk(bfs=True):
        if not is_aggregate(call) or isinstance(call, exp.Filter):
            continue
        if (
            isinstance(call.parent, exp.Window | exp.WithinGroup)
            or call.find_ancestor(*_CONDITIONS) is not None
        ):
            continue
        if any(_own_position(node) == position for node in call.walk()):
            return call
    return None


def _own_position(node: exp.Expr) -> Position | None:
    """The position that the node itself remembers."""
    if "line" not in node.meta:
        return None
    alone = exp.Identifier(this="alone")
    alone.meta.update(node.meta)
    return position_of(alone)


def same_aggregate(call: exp.Expr) -> exp.Expr | None:
    """An aggregate that is answered and gives the same number; None if there is none.

    >>> from sqlglot import parse_one
    >>> same_aggregate(parse_one("MAX(DISTINCT x)")).sql(), same_aggregate(parse_one("GEOMEAN(x)")).sql()
    ('MAX(x)', 'EXP(AVG(LN(x)))')
    """
    argument = (
        call.expressions[0] if isinstance(call, exp.Anonymous) and call.expressions else call.this
    )
    if not isinstance(argument, exp.Expr):
        return None
    if isinstance(argument, exp.Distinct):
        function = function_named(call)
        form = None if function is None else function.per_unit
        if form is None or not unit_ignores_repeated_rows(form) or len(argument.expressions) != 1:
            return None
        plain = call.copy()
        for distinct in list(plain.find_all(exp.Distinct)):
            distinct.replace(distinct.expressions[0])
        return plain
    names = call.sql_names() if isinstance(call, exp.AggFunc) else [call.name]
    builders = [SAME_NUMBER[name.lower()] for name in names if name.lower() in SAME_NUMBER]
    return builders[0](argument.copy()) if builders else None


def _standard_error(argument: exp.Expr) -> exp.Expr:
    root = exp.Sqrt(this=exp.Count(this=argument.copy()))
    return exp.Div(this=exp.Stddev(this=argument), expression=root, typed=False, safe=False)


def _geometric_mean(argument: exp.Expr) -> exp.Expr:
    return exp.Exp(this=exp.Avg(this=exp.Ln(this=argument)))


def _distinct_count(argument: exp.Expr) -> exp.Expr:
    return exp.Count(this=exp.Distinct(expressions=[argument]))


#: Aggregates that are refused, by name, and what gives their number.
SAME_NUMBER: Final[Mapping[str, Callable[[exp.Expr], exp.Expr]]] = {
    "sem": _standard_error,
    "geomean": _geometric_mean,
    "geometric_mean": _geometric_mean,
    "approx_count_distinct": _distinct_count,
}
