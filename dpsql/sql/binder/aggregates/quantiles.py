"""Quantiles, MIN and MAX: the ranks that an aggregate asks for, and the values that are ranked.

Proved in ``docs/proofs/quantiles.md``.
"""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from dpsql.sql.analysis.bounds import bounds, is_bounded
from dpsql.sql.analysis.summand import without_bounds
from dpsql.sql.binder.expressions.expression_reader import Reader
from dpsql.sql.ir import literal
from dpsql.sql.ir.aggregate import QUANTILE_CONT, function_named
from dpsql.sql.ir.aggregate_properties import Arguments
from dpsql.sql.ir.core import Aggregate, Ranks
from dpsql.sql.ir.expression import Expression, Literal
from dpsql.sql.ir.refusal import only, refuse

#: No value that is counted in bins may be larger, so that bins are never finer than doubles tell.
LARGEST = 10**100
#: The most quantiles of one aggregate.
MOST_RANKS = 100
_HALF = Fraction(1, 2)


def ranked_aggregate(node: exp.Expr, reader: Reader) -> Aggregate | None:
    """The quantiles that an aggregate asks for; None for another aggregate."""
    condition = None
    inner = node
    if isinstance(inner, exp.Filter) and _is_ranked(inner.this):
        only(inner, "this", "expression", code="E_AGG")
        condition = reader.condition(inner.expression.this)
        inner = inner.this
    if not _is_ranked(inner):
        return None
    value, ranks = (
        _within_group(inner, reader)
        if isinstance(inner, exp.WithinGroup)
        else _called(inner, reader)
    )
    function = function_named(_bare(inner))
    assert function is not None
    return Aggregate(function, ranked_value(reader.expression(value), node), condition, ranks=ranks)


def _is_ranked(node: exp.Expr) -> bool:
    if isinstance(node, exp.WithinGroup):
        return _is_ranked(node.this) and not isinstance(node.this, exp.Min | exp.Max | exp.Median)
    function = function_named(node)
    return function is not None and function.arguments is Arguments.RANKED


def _called(node: exp.Expr, reader: Reader) -> tuple[exp.Expr, Ranks]:
    """The value and the ranks of MEDIAN(x), MIN(x), MAX(x) and QUANTILE…(x, q)."""
    arguments = _arguments(node)
    if not arguments or isinstance(arguments[0], exp.Distinct | exp.Star):
        refuse("E_AGG", f"{_name(node)} takes a value here, without DISTINCT", node)
    match node:
        case exp.Min() | exp.Max():
            if len(arguments) > 1:
                refuse("E_AGG", f"{_name(node)} takes one argument", node)
            return arguments[0], Ranks((Fraction(isinstance(node, exp.Max)),), edge=True)
        case _ if _name(node) == "MEDIAN":
            if len(arguments) > 1:
                refuse("E_AGG", "MEDIAN takes one argument", node)
            return arguments[0], Ranks((_HALF,), continuous=True)
    if len(arguments) != 2:
        refuse(
            "E_AGG",
            f"{_name(node)} takes a value and a number from 0 to 1, or a list of such numbers",
            node,
        )
    asked = arguments[1]
    descending = False
    if isinstance(asked, exp.Order):  # QUANTILE_CONT(x, q ORDER BY x DESC)
        (ordered,) = asked.expressions if len(asked.expressions) == 1 else (None,)
        if not isinstance(ordered, exp.Ordered) or ordered.this != arguments[0]:
            refuse("E_AGG", f"{_name(node)} is ordered by its own value", node)
        asked = asked.this
        descending = bool(ordered.args.get("desc"))
    fractions, listed = _fractions(asked, node, reader)
    return arguments[0], Ranks(fractions, _is_continuous(node), listed, descending)


def _within_group(node: exp.WithinGroup, reader: Reader) -> tuple[exp.Expr, Ranks]:
    """The value and the ranks of PERCENTILE…(q) WITHIN GROUP (ORDER BY x)."""
    order = node.expression
    arguments = _arguments(node.this)
    if not isinstance(order, exp.Order) or len(order.expressions) != 1 or len(arguments) != 1:
        refuse("E_AGG", f"write {_name(node.this)}(q) WITHIN GROUP (ORDER BY one value)", node)
    (ordered,) = order.expressions
    only(ordered, "this", "desc", "nulls_first", code="E_AGG", subject="this order")
    fractions, listed = _fractions(arguments[0], node, reader)
    return ordered.this, Ranks(
        fractions, _is_continuous(node.this), listed, bool(ordered.args.get("desc"))
    )


def _arguments(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Anonymous):
        return list(node.expressions)
    only(
        node,
        "this",
        "expression",
        "expressions",
        "quantile",
        "count",
        code="E_AGG",
        subject=f"this form of {_name(node)}",
    )
    arguments = [
        node.this,
        node.args.get("expression"),
        node.args.get("quantile"),
        node.args.get("count"),
    ]
    return [
        argument
        for argument in [*arguments, *(node.args.get("expressions") or ())]
        if argument is not None
    ]


def _name(node: exp.Expr) -> str:
    """The most usual name of the function.

    A PERCENTILE_CONT that is no ordered set is called QUANTILE_CONT.
    """
    if isinstance(node, exp.PercentileCont | exp.PercentileDisc) and not isinstance(
        node.parent, exp.WithinGroup
    ):
        return "QUANTILE_CONT" if isinstance(node, exp.PercentileCont) else "QUANTILE_DISC"
    name = (
        node.name
        if isinstance(node, exp.Anonymous)
        else getattr(node, "sql_name", lambda: node.key)()
    )
    return str(name).upper()


def _is_continuous(node: exp.Expr) -> bool:
    return function_named(node) is QUANTILE_CONT


def _fractions(
    node: exp.Expr, quantile: exp.Expr, reader: Reader
) -> tuple[tuple[Fraction, ...], bool]:
    """The numbers from 0 to 1 that are asked for, and whether they are written as a list."""
    listed = isinstance(node, exp.Array)
    members = node.expressions if listed else [node]
    if not 1 <= len(members) <= MOST_RANKS:
        refuse(
            "E_AGG", f"{_name(_bare(quantile))} takes from 1 to {MOST_RANKS} quantiles", quantile
        )
    return tuple(_fraction(member, quantile, reader) for member in members), listed


def _fraction(node: exp.Expr, quantile: exp.Expr, reader: Reader) -> Fraction:
    constant = reader.expression(node)
    number = (
        literal.exact(constant)
        if isinstance(constant, Literal) and constant.type.is_numeric
        else None
    )
    if number is None or not 0 <= number <= 1:
        refuse("E_AGG", f"{_name(_bare(quantile))} takes constants from 0 to 1", quantile)
    return number


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Filter | exp.WithinGroup):
        node = node.this
    return node


def ranked_value(argument: Expression, node: exp.Expr) -> Expression:
    """The expression whose values are ranked.

    Refused unless it is a number or a date between finite bounds.
    """
    name = _name(_bare(node))
    if not argument.type.is_numeric and not argument.type.is_temporal:
        refuse("E_TYPE", f"{name} needs a number or a date, and this is {argument.type}", node)
    if not is_bounded(argument):
        missing = without_bounds(argument, node)
        where = f"; the schema needs bounds for {missing}" if missing else ""
        refuse("E_BOUNDS", f"{name} of a value without finite bounds is not answered{where}", node)
    if (bounds(argument).magnitude or 0) > LARGEST:
        refuse("E_BOUNDS", f"{name} of values that may lie beyond ±1e100 is not answered", node)
    return argument
