"""Aggregate functions: their position in a statement, their spelling, and what each measures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from sqlglot import exp

from dpsql.schema import UNIT
from dpsql.sql.analysis.summand import summand
from dpsql.sql.binder.aggregates.dp_clip import clip_aggregate
from dpsql.sql.binder.aggregates.frequencies import ListedValues, frequent_aggregate
from dpsql.sql.binder.aggregates.quantiles import ranked_aggregate
from dpsql.sql.binder.expressions.expression_reader import Reader
from dpsql.sql.ir.aggregate import AVG, COUNT, COUNT_DISTINCT, SUM, UNITS, function_named, is_named
from dpsql.sql.ir.aggregate_properties import Arguments
from dpsql.sql.ir.core import Aggregate
from dpsql.sql.ir.expression import BOOLEAN, Call, ColumnRef, Expression, Literal
from dpsql.sql.ir.refusal import called, only, refuse


def statistic(node: exp.Expr, reader: Reader) -> Aggregate | None:
    """Read an aggregate that takes a condition or one or two numbers, with its FILTER.

    None for any other call. SUM and AVG are left to `split`.
    """
    call = node.this if isinstance(node, exp.Filter) else node
    function = function_named(call)
    if function is None or isinstance(call, exp.Sum | exp.Avg):
        return None
    match function.arguments:
        case Arguments.CONDITION:
            condition = _filter(node, reader)
            return Aggregate(function, reader.condition(_arguments(call, 1)[0]), condition)
        case Arguments.NUMBER | Arguments.PAIR:
            condition = _filter(node, reader)
            arguments = _arguments(call, 2 if function.arguments is Arguments.PAIR else 1)
            values = [
                summand(reader.expression(argument), _spelled(call), node) for argument in arguments
            ]
            return Aggregate(function, values[0], condition, values[1] if len(values) > 1 else None)
        case Arguments.ROWS | Arguments.RANKED | Arguments.LISTED | Arguments.SIZE:
            return None
        case _:
            assert_never(function.arguments)


def _filter(node: exp.Expr, reader: Reader) -> Expression | None:
    """The condition of the FILTER; None if the node has none."""
    if not isinstance(node, exp.Filter):
        return None
    only(node, "this", "expression", code="E_AGG")
    return reader.condition(node.expression.this)


def _spelled(call: exp.Expr) -> str:
    """The name of the function, as it is called in a refusal."""
    names: list[str] = []
    if isinstance(call, exp.Anonymous):
        names = [call.name]
    elif isinstance(call, exp.Func):
        names = call.sql_names()
    return next(name.upper() for name in names if is_named(name.lower()))


def _arguments(call: exp.Expr, argument_count: int) -> list[exp.Expr]:
    name = _spelled(call)
    if isinstance(call, exp.Anonymous):
        arguments = list(call.expressions)
    else:
        only(call, "this", "expression", code="E_AGG", subject=f"this form of {name}")
        arguments = [
            argument
            for argument in (call.this, call.args.get("expression"))
            if argument is not None
        ]
    if arguments and isinstance(arguments[0], exp.Distinct):
        refuse(
            "E_AGG",
            f"{name}(DISTINCT …) is not answered: one person can hide another's value",
            call,
        )
    if len(arguments) != argument_count:
        refuse(
            "E_AGG",
            f"{name} takes {'two arguments' if argument_count == 2 else 'one argument'}",
            call,
        )
    return arguments


#: Aggregates without a private form that sqlglot has no node for;
#: a refusal calls them by their #: name.
_WITHOUT_FORM = frozenset(
    "any_value arbitrary arg_min_null arg_max_null bitstring_agg product mad entropy kurtosis kurtosis_pop skewness "
    "reservoir_quantile list array_agg histogram_exact first last min_by max_by argmin argmax "
    "max_n min_n sem weighted_avg geomean geometric_mean approx_count_distinct bit_and bit_or bit_xor "
    "count_star".split()
)


def is_aggregate(node: exp.Expr) -> bool:
    """Whether the node itself calls an aggregate function, with its FILTER or WITHIN GROUP."""
    if isinstance(node, exp.Filter | exp.WithinGroup):
        return True
    if isinstance(node, exp.Anonymous):
        return node.name.lower() in _WITHOUT_FORM or function_named(node) is not None
    if isinstance(node, exp.Grouping | exp.GroupingId):
        return False
    return isinstance(node, exp.AggFunc | exp.List) and not isinstance(node.parent, exp.Window)


def _inside(node: exp.Expr) -> Iterator[exp.Expr]:
    """The node and its parts, without going into subqueries."""
    yield node
    for child in node.iter_expressions():
        if not isinstance(child, exp.Query):
            yield from _inside(child)


def has_aggregate(node: exp.Expr) -> bool:
    """Whether an aggregate stands anywhere in the expression, outside subqueries."""
    return any(is_aggregate(inner) and not _is_window_function(inner) for inner in _inside(node))


def _is_window_function(node: exp.Expr) -> bool:
    parent = node.parent
    return isinstance(parent, exp.Window) and parent.this is node


def is_grouped(select: exp.Select) -> bool:
    """Whether the SELECT gives groups: it has GROUP BY, HAVING, or an aggregate."""
    places = [
        *select.expressions,
        select.args.get("having"),
        select.args.get("order"),
        select.args.get("qualify"),
    ]
    if select.args.get("group") is not None or select.args.get("having") is not None:
        return True
    return any(index is not None and has_aggregate(index) for index in places)


def split(
    node: exp.Expr, reader: Reader
) -> tuple[exp.Expr, bool, Expression | None, Expression | None]:
    """The function node, whether it is DISTINCT, its argument and its FILTER condition."""
    condition = None
    if isinstance(node, exp.Filter):
        only(node, "this", "expression", code="E_AGG")
        condition = reader.condition(node.expression.this)
        node = node.this
    if not isinstance(node, exp.Count | exp.Sum | exp.Avg | exp.Min | exp.Max | exp.CountIf):
        refuse(
            "E_AGG",
            f"{called(node)} has no private form here; docs/sql.md lists the aggregates that have",
            node,
        )
    only(
        node,
        "this",
        "big_int",
        "expressions",
        code="E_AGG",
        subject=f"this form of {node.sql_name()}",
    )
    if node.expressions:
        refuse("E_AGG", f"{node.sql_name()} takes one argument", node)
    argument = node.this
    distinct = isinstance(argument, exp.Distinct)
    if distinct:
        only(argument, "expressions", code="E_AGG")
        if len(argument.expressions) != 1 or isinstance(argument.expressions[0], exp.Tuple):
            refuse("E_AGG", "DISTINCT takes one expression here", node)
        argument = argument.expressions[0]
    if isinstance(argument, exp.Star):
        only(argument, code="E_AGG")
        if not isinstance(node, exp.Count) or distinct:
            refuse("E_AGG", "* stands in COUNT(*) only", node)
        return node, False, None, condition
    if argument is None:
        if not isinstance(node, exp.Count):
            refuse("E_AGG", f"{node.sql_name()} needs an argument", node)
        return node, False, None, condition
    return node, distinct, reader.expression(argument), condition


def released_aggregate(node: exp.Expr, reader: Reader, listed: ListedValues) -> Aggregate:
    """What a private aggregate measures.

    Refused if it has no private form, or its argument no bounds.
    """
    result = statistic(node, reader)
    if result is not None:
        return result
    clip = clip_aggregate(node, reader)
    if clip is not None:
        return clip
    frequent = frequent_aggregate(node, reader, listed)
    if frequent is not None:
        return frequent
    ranked = ranked_aggregate(node, reader)
    if ranked is not None:
        return ranked
    function, distinct, argument, condition = split(node, reader)
    match function:
        case exp.CountIf() if argument is not None and argument.type == BOOLEAN and not distinct:
            counted = argument if condition is None else Call("and", (condition, argument), BOOLEAN)
            return Aggregate(COUNT, None, counted)
        case exp.Count() if distinct and argument is not None:
            if isinstance(argument, ColumnRef) and argument.identifies == UNIT:
                return Aggregate(UNITS, None, condition)
            if argument.type.kind == "double":
                refuse(
                    "E_AGG",
                    "COUNT(DISTINCT …) of a double is not answered; CAST it to INTEGER or DECIMAL",
                    node,
                )
            return Aggregate(COUNT_DISTINCT, argument, condition)
        case exp.Count():
            return Aggregate(
                COUNT,
                None if isinstance(argument, Literal) and argument.value is not None else argument,
                condition,
            )
        case exp.Sum() | exp.Avg() if argument is not None:
            name = function.sql_name()
            if distinct:
                refuse(
                    "E_AGG",
                    f"{name}(DISTINCT …) is not answered: one person can hide another's value",
                    node,
                )
            return Aggregate(
                SUM if isinstance(function, exp.Sum) else AVG,
                summand(argument, name, node),
                condition,
            )
        case _:
            refuse("E_AGG", "this aggregate has no private form here", node)
