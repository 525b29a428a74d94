"""Aggregate functions: where they stand in a statement, how they are spelled, and what each measures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal as OneOf
from typing import get_args

from sqlglot import exp

from dpsql.schema import UNIT
from dpsql.sql.analysis.bounds import summand
from dpsql.sql.binder.aggregates.dp_clip import clip_aggregate
from dpsql.sql.binder.aggregates.frequencies import frequent_aggregate
from dpsql.sql.binder.aggregates.quantiles import ranked_aggregate
from dpsql.sql.binder.expressions.reader import Reader
from dpsql.sql.ir.expression import BOOLEAN, Call, Column, Expression, Literal
from dpsql.sql.ir.refusal import called, only, refuse
from dpsql.sql.ir.relation import Aggregate, Joint, Paired, Spread

#: What a function of one number means.
SPREADS: dict[str, Spread] = {
    "var_pop": "var_pop", "variance_pop": "var_pop", "var_samp": "var_samp", "variance": "var_samp",
    "variance_samp": "var_samp", "stddev_pop": "stddev_pop", "stddev_samp": "stddev_samp", "stddev": "stddev_samp",
}  # fmt: skip
#: Functions of two numbers, y and x.
JOINT: dict[str, Joint | Paired] = {name: name for name in (*get_args(Joint), *get_args(Paired))}
#: Functions of a condition.
TRUTHS: dict[str, OneOf["every", "some"]] = {
    "bool_and": "every", "logical_and": "every", "every": "every", "bool_or": "some", "logical_or": "some",
}  # fmt: skip
#: Other names of SUM and AVG.
SYNONYMS: dict[str, OneOf["avg", "sum"]] = {
    "mean": "avg", "favg": "avg", "fsum": "sum", "sumkahan": "sum", "kahan_sum": "sum",
}  # fmt: skip


def statistic(node: exp.Expr, reader: Reader) -> Aggregate | None:
    """What the call of a statistic measures, with its FILTER; None where the function is none of these."""
    call = node.this if isinstance(node, exp.Filter) else node
    name = _name(call)
    if name is None:
        return None
    condition = None
    if isinstance(node, exp.Filter):
        only(node, "this", "expression", code="E_AGG")
        condition = reader.condition(node.expression.this)
    arguments = _arguments(call, name)
    if name in TRUTHS:
        truth = reader.condition(arguments[0])
        return Aggregate(TRUTHS[name], truth, condition)
    said = name.upper()
    values = [summand(reader.read(argument), said, node) for argument in arguments]
    if name in JOINT:
        return Aggregate(JOINT[name], values[0], condition, values[1])
    return Aggregate(SYNONYMS[name] if name in SYNONYMS else SPREADS[name], values[0], condition)


def _name(call: exp.Expr) -> str | None:
    """The name under which these tables know the function; sqlglot has nodes for some, and for each several names."""
    if isinstance(call, exp.Anonymous):
        names = [call.name.lower()]
    else:
        names = [name.lower() for name in call.sql_names()] if isinstance(call, exp.Func) else []
    known = (SPREADS, JOINT, TRUTHS, SYNONYMS)
    return next((name for name in names if any(name in table for table in known)), None)


def _arguments(call: exp.Expr, name: str) -> list[exp.Expr]:
    if isinstance(call, exp.Anonymous):
        arguments = list(call.expressions)
    else:
        only(call, "this", "expression", code="E_AGG", what=f"this form of {name.upper()}")
        arguments = [part for part in (call.this, call.args.get("expression")) if part is not None]
    if arguments and isinstance(arguments[0], exp.Distinct):
        refuse("E_AGG", f"{name.upper()}(DISTINCT …) is not answered: one person can hide another's value", call)
    wanted = 2 if name in JOINT else 1
    if len(arguments) != wanted:
        refuse("E_AGG", f"{name.upper()} takes {'two arguments' if wanted == 2 else 'one argument'}", call)
    return arguments


#: Aggregates that sqlglot leaves unnamed, so that they are called by their right name in a refusal.
_UNNAMED = frozenset(
    "any_value arbitrary arg_min_null arg_max_null bitstring_agg bool_and bool_or favg fsum kahan_sum sumkahan "
    "product mad entropy kurtosis_pop reservoir_quantile list array_agg group_concat string_agg histogram "
    "histogram_exact mode median first last approx_top_k min_by max_by argmin argmax regr_sxx regr_syy regr_sxy "
    "regr_count regr_avgx regr_avgy regr_intercept regr_r2 regr_slope sem weighted_avg geomean geometric_mean "
    "approx_count_distinct approx_quantile quantile quantile_cont quantile_disc bit_and bit_or bit_xor count_star "
    "skewness kurtosis covar_pop covar_samp corr max_n min_n every mean sumkahan dp_clip".split()
)


def is_aggregate(node: exp.Expr) -> bool:
    """Whether the node itself is a call of an aggregate function (with its FILTER or WITHIN GROUP)."""
    if isinstance(node, exp.Filter | exp.WithinGroup):
        return True
    if isinstance(node, exp.Anonymous):
        return node.name.lower() in _UNNAMED
    if isinstance(node, exp.Grouping | exp.GroupingId):
        return False
    return isinstance(node, exp.AggFunc | exp.List) and not isinstance(node.parent, exp.Window)


def _inside(node: exp.Expr) -> Iterator[exp.Expr]:
    """The node and its parts, without going into subqueries."""
    yield node
    for part in node.iter_expressions():
        if not isinstance(part, exp.Query):
            yield from _inside(part)


def has_aggregate(node: exp.Expr) -> bool:
    """Whether an aggregate stands anywhere in the expression, outside subqueries."""
    return any(is_aggregate(part) and not _is_window_function(part) for part in _inside(node))


def _is_window_function(node: exp.Expr) -> bool:
    parent = node.parent
    return isinstance(parent, exp.Window) and parent.this is node


def is_grouped(select: exp.Select) -> bool:
    """Whether the SELECT gives groups: it has GROUP BY, HAVING, or an aggregate."""
    places = [*select.expressions, select.args.get("having"), select.args.get("order"), select.args.get("qualify")]
    if select.args.get("group") is not None or select.args.get("having") is not None:
        return True
    return any(place is not None and has_aggregate(place) for place in places)


def split(node: exp.Expr, reader: Reader) -> tuple[exp.Expr, bool, Expression | None, Expression | None]:
    """The function node, whether it is DISTINCT, its argument and its FILTER condition."""
    condition = None
    if isinstance(node, exp.Filter):
        only(node, "this", "expression", code="E_AGG")
        condition = reader.condition(node.expression.this)
        node = node.this
    if not isinstance(node, exp.Count | exp.Sum | exp.Avg | exp.Min | exp.Max | exp.CountIf):
        refuse("E_AGG", f"{called(node)} has no private form here; docs/sql.md lists the aggregates that have", node)
    only(node, "this", "big_int", "expressions", code="E_AGG", what=f"this form of {node.sql_name()}")
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
    return node, distinct, reader.read(argument), condition


def released_aggregate(node: exp.Expr, reader: Reader) -> Aggregate:
    """What a private aggregate measures; refused where it has no private form or its argument no bounds."""
    found = statistic(node, reader)
    if found is not None:
        return found
    clip = clip_aggregate(node, reader)
    if clip is not None:
        return clip
    frequent = frequent_aggregate(node, reader)
    if frequent is not None:
        return frequent
    ranked = ranked_aggregate(node, reader)
    if ranked is not None:
        return ranked
    function, distinct, argument, condition = split(node, reader)
    match function:
        case exp.CountIf() if argument is not None and argument.type == BOOLEAN and not distinct:
            whole = argument if condition is None else Call("and", (condition, argument), BOOLEAN)
            return Aggregate("count", None, whole)
        case exp.Count() if distinct and argument is not None:
            if isinstance(argument, Column) and argument.identifies == UNIT:
                return Aggregate("units", None, condition)
            if argument.type.kind == "double":
                refuse("E_AGG", "COUNT(DISTINCT …) of a double is not answered; CAST it to INTEGER or DECIMAL", node)
            return Aggregate("count distinct", argument, condition)
        case exp.Count():
            return Aggregate("count", None if isinstance(argument, Literal) and argument.value is not None
                             else argument, condition)  # fmt: skip
        case exp.Sum() | exp.Avg() if argument is not None:
            name = function.sql_name()
            if distinct:
                refuse("E_AGG", f"{name}(DISTINCT …) is not answered: one person can hide another's value", node)
            return Aggregate("sum" if name == "SUM" else "avg", summand(argument, name, node), condition)
        case _:
            refuse("E_AGG", "this aggregate has no private form here", node)
