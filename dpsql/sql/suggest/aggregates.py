"""The aggregates that are answered in the place of one that is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from dpsql.errors import Position
from dpsql.sql.binder.aggregates.aggregate import is_aggregate
from dpsql.sql.ir.aggregate import function_named
from dpsql.sql.ir.refusal import position_of

#: What each kind of aggregate is most often wanted for: how far values spread, how they multiply, which there are.
_SPREAD = "kurtosis kurtosis_pop skewness mad".split()
_ERROR = ["sem"]
_MULTIPLIED = "product geomean geometric_mean".split()
_VALUES = (
    "entropy approx_count_distinct any_value arbitrary array_agg list array_unique_agg "
    "first last bitstring_agg bit_and bit_or bit_xor bitwise_and_agg bitwise_or_agg bitwise_xor_agg arg_min arg_max "
    "argmin argmax min_by max_by arg_min_null arg_max_null"
).split()


def aggregate_at(tree: exp.Expr, position: Position | None) -> exp.Expr | None:
    """The outermost aggregate in a SELECT list that has the place; None where there is none.

    One in a condition is left alone, as the condition would be another.
    """
    for call in tree.walk(bfs=True):
        if not is_aggregate(call) or isinstance(call, exp.Filter):
            continue
        if isinstance(call.parent, exp.Window | exp.WithinGroup) or call.find_ancestor(*_CONDITIONS) is not None:
            continue
        if any(_own_position(part) == position for part in call.walk()):
            return call.parent if isinstance(call.parent, exp.IgnoreNulls | exp.RespectNulls) else call
    return None


#: What an aggregate stands in where it is part of a condition.
_CONDITIONS = (exp.Where, exp.Having, exp.Qualify, exp.Join)


def _own_position(node: exp.Expr) -> Position | None:
    """The place that the node itself remembers."""
    if "line" not in node.meta:
        return None
    alone = exp.Identifier(this="alone")
    alone.meta.update(node.meta)
    return position_of(alone)


def aggregates_instead(call: exp.Expr, code: str) -> Iterator[exp.Expr]:
    """Aggregates in the place of a refused one, the nearest first: the same within bounds, a like one, counts."""
    call = call.this if isinstance(call, exp.IgnoreNulls | exp.RespectNulls) else call
    argument = _argument(call)
    if code == "E_BOUNDS" and argument is not None and isinstance(call, exp.AggFunc):
        yield _within_bounds(call, argument)
    if isinstance(call, exp.GroupConcat) and not isinstance(call.this, exp.Distinct) and argument is not None:
        separator = call.args.get("separator")
        between = None if separator is None else separator.copy()
        yield exp.GroupConcat(this=exp.Distinct(expressions=[argument.copy()]), separator=between)
        yield exp.Count(this=exp.Distinct(expressions=[argument.copy()]))
    nearest = _nearest(call)
    if nearest is not None:
        yield nearest
    plain = argument is not None and not isinstance(argument, exp.Star)
    if plain and not _is_of_rows(call):
        yield exp.Avg(this=argument.copy())  # type: ignore[union-attr]
    if plain and not isinstance(call, exp.Count):
        yield exp.Count(this=argument.copy())  # type: ignore[union-attr]
    yield exp.Count(this=exp.Star())


def _argument(call: exp.Expr) -> exp.Expr | None:
    """The first argument, without DISTINCT, ORDER BY and IGNORE NULLS."""
    found: exp.Expr | None
    if isinstance(call, exp.WithinGroup):
        order = call.expression
        found = order.expressions[0].this if isinstance(order, exp.Order) else None
    elif isinstance(call, exp.Anonymous):
        found = next(iter(call.expressions), None)
    else:
        found = call.this if isinstance(call.this, exp.Expr) else next(iter(call.expressions), None)
    while isinstance(found, exp.Order | exp.Distinct | exp.IgnoreNulls | exp.RespectNulls):
        found = next(iter(found.expressions), None) if isinstance(found, exp.Distinct) else found.this
    return found


def _within_bounds(call: exp.AggFunc, argument: exp.Expr) -> exp.Expr:
    """The same of what lies between 0 and 1000."""
    ends = {"low": exp.Literal.number(0), "high": exp.Literal.number(1000)}
    inside = exp.Between(this=exp.paren(argument) if isinstance(argument, exp.Binary) else argument.copy(), **ends)
    bounded = call.copy()
    bounded.set("this", exp.Case(ifs=[exp.If(this=inside, true=argument.copy())]))
    return bounded


def _is_of_rows(node: exp.Expr) -> bool:
    """Whether the aggregate is answered, and read off sums over rows."""
    function = function_named(node)
    return function is not None and function.is_additive


def _nearest(call: exp.Expr) -> exp.Expr | None:
    """The nearest answered aggregate of the same argument; None where it has none or is answered itself."""
    names = {call.name.lower()} if isinstance(call, exp.Anonymous) else set()
    if isinstance(call, exp.AggFunc | exp.List):
        names = {name.lower() for name in call.sql_names()}
    argument = _argument(call)
    known = [] if function_named(call) is not None else [build for family, build in _BUILDS if names & set(family)]
    if argument is None:
        return None
    if not known and isinstance(call.this, exp.Distinct) and not isinstance(call, exp.Count):
        plain = call.copy()
        plain.set("this", argument.copy())
        return plain
    if not known and isinstance(call, exp.Anonymous) and isinstance(call.expressions[0], exp.Distinct):
        plain = call.copy()
        plain.set("expressions", [argument.copy()])
        return plain
    return known[0](argument.copy()) if known else None


def _standard_error(argument: exp.Expr) -> exp.Expr:
    root = exp.Sqrt(this=exp.Count(this=argument.copy()))
    return exp.Div(this=exp.Stddev(this=argument), expression=root, typed=False, safe=False)


_BUILDS: tuple[tuple[list[str], Callable[[exp.Expr], exp.Expr]], ...] = (
    (_SPREAD, lambda argument: exp.Stddev(this=argument)),
    (_ERROR, _standard_error),
    (_MULTIPLIED, lambda argument: exp.Exp(this=exp.Avg(this=exp.Ln(this=argument)))),
    (_VALUES, lambda argument: exp.Count(this=exp.Distinct(expressions=[argument]))),
)
