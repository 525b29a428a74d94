"""The answered aggregate that is nearest to one that is not, for what a refusal suggests."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

#: What each kind of aggregate is most often wanted for: how far values spread, how they multiply, which there are.
_SPREAD = "kurtosis kurtosis_pop skewness mad".split()
_ERROR = ["sem"]
_MULTIPLIED = "product geomean geometric_mean".split()
_VALUES = (
    "entropy approx_count_distinct any_value arbitrary string_agg group_concat listagg array_agg list array_unique_agg "
    "first last bitstring_agg bit_and bit_or bit_xor bitwise_and_agg bitwise_or_agg bitwise_xor_agg arg_min arg_max "
    "argmin argmax min_by max_by arg_min_null arg_max_null"
).split()


def nearest_aggregate(node: exp.Expr) -> exp.Expr | None:
    """The nearest answered aggregate of the same argument; None where the aggregate has none or is answered itself."""
    if isinstance(node, exp.Anonymous):
        names, argument = {node.name.lower()}, next(iter(node.expressions), None)
    elif isinstance(node, exp.AggFunc | exp.List):
        names = {name.lower() for name in node.sql_names()}
        argument = node.this if isinstance(node.this, exp.Expr) else next(iter(node.expressions), None)
    else:
        return None
    if isinstance(argument, exp.Order):
        argument = argument.this
    if isinstance(argument, exp.Distinct) and not isinstance(node, exp.Count):
        argument = next(iter(argument.expressions), None)
        if argument is not None and not any(names & set(family) for family, _ in _BUILDS):
            return _without_distinct(node, argument)
    if argument is None:
        return None
    for family, build in _BUILDS:
        if names & set(family):
            return build(argument.copy())
    return None


def _without_distinct(node: exp.Expr, argument: exp.Expr) -> exp.Expr:
    plain = node.copy()
    if isinstance(node, exp.Anonymous):
        plain.set("expressions", [argument.copy()])
    else:
        plain.set("this", argument.copy())
    return plain


def _standard_error(argument: exp.Expr) -> exp.Expr:
    root = exp.Sqrt(this=exp.Count(this=argument.copy()))
    return exp.Div(this=exp.Stddev(this=argument), expression=root, typed=False, safe=False)


_BUILDS: tuple[tuple[list[str], Callable[[exp.Expr], exp.Expr]], ...] = (
    (_SPREAD, lambda argument: exp.Stddev(this=argument)),
    (_ERROR, _standard_error),
    (_MULTIPLIED, lambda argument: exp.Exp(this=exp.Avg(this=exp.Ln(this=argument)))),
    (_VALUES, lambda argument: exp.Count(this=exp.Distinct(expressions=[argument]))),
)


def nearest_aggregates(tree: exp.Expr) -> exp.Expr | None:
    """The statement with each such aggregate replaced; None where there is none."""
    changed = False
    for node in list(tree.find_all(exp.AggFunc, exp.List, exp.Anonymous)):
        if isinstance(node.parent, exp.Window | exp.WithinGroup):
            continue
        nearest = nearest_aggregate(node)
        if nearest is not None:
            wrapped = node.parent if isinstance(node.parent, exp.IgnoreNulls | exp.RespectNulls) else node
            wrapped.replace(nearest)
            changed = True
    return tree if changed else None
