"""Correlated subqueries that are one aggregate become groups, one for each value of the outer row.

Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from sqlglot import exp

from dpsql.schema import fold
from dpsql.sql.binder.aggregates.aggregate import has_aggregate, is_aggregate
from dpsql.sql.binder.scope import Scope
from dpsql.sql.ir.aggregate import function_named
from dpsql.sql.ir.aggregate_properties import unit_counts
from dpsql.sql.ir.refusal import only, refuse

#: The names of the columns of a grouped subquery: what it is tied on, and its value.
TIED = "tied "
VALUE = "value"


@dataclass(frozen=True)
class Correlated:
    """A correlated subquery as a grouped one, with a group for each ``inner`` value.

    The condition is ``inner`` = ``outer``. ``grouped`` has the columns ``tied 0``, ``tied 1`` and
    so on, then ``value``. ``empty`` is the value of the subquery without rows; None if that is
    NULL.
    """

    grouped: exp.Select
    outer: tuple[exp.Expr, ...]
    empty: exp.Expr | None


def correlated(select: exp.Select, scope: Scope) -> Correlated | None:
    """Rewrite the subquery as groups; None if it names no column outside its FROM's scope."""
    named = _by_alias(select)
    if all(_is_own(column, scope) or id(column) in named for column in _columns(select)):
        return None
    only(
        select,
        "expressions",
        "from_",
        "joins",
        "where",
        code="E_SUBQ",
        subject="this form of a subquery for each row",
    )
    where = select.args.get("where")
    pairs: list[tuple[exp.Expr, exp.Expr]] = []
    rest: list[exp.Expr] = []
    for condition in [] if where is None else _conjuncts(where.this):
        if all(_is_own(column, scope) for column in _columns(condition)):
            rest.append(condition)
        else:
            pairs.append(_sides(condition, scope))
    item = select.expressions[0]
    plain = len(select.expressions) == 1 and has_aggregate(item)
    if not pairs or not plain or not all(_is_own(column, scope) for column in _columns(item)):
        _refuse_other_ties(item)
    grouped = select.copy()
    keys = [
        exp.alias_(inner.copy(), f"{TIED}{index}", quoted=True)
        for index, (inner, _) in enumerate(pairs)
    ]
    grouped.set("expressions", [*keys, exp.alias_(item.unalias().copy(), VALUE, quoted=True)])
    grouped.set(
        "where",
        exp.Where(this=exp.and_(*(condition.copy() for condition in rest))) if rest else None,
    )
    grouped.set("group", exp.Group(expressions=[inner.copy() for inner, _ in pairs]))
    return Correlated(grouped, tuple(outer for _, outer in pairs), _on_no_rows(item.unalias()))


def _columns(node: exp.Expr) -> list[exp.Column]:
    """The columns that the node itself names, outside of subqueries with names of their own."""
    if isinstance(node, exp.Column):
        return [] if isinstance(node.this, exp.Star) else [node]
    inside = [
        child
        for child in node.iter_expressions()
        if not isinstance(child, exp.Query | exp.From | exp.Join)
    ]
    return [column for inner in inside for column in _columns(inner)]


def _by_alias(select: exp.Select) -> set[int]:
    """The columns after WHERE that are aliases of the SELECT list, by identity.

    An example is ``n`` in ``COUNT(*) AS n … ORDER BY n``.
    """
    aliases = {fold(item.alias) for item in select.expressions if isinstance(item, exp.Alias)}
    clauses = [select.args.get(name) for name in ("group", "having", "qualify", "order")]
    clause_columns = [
        column for clause in clauses if clause is not None for column in _columns(clause)
    ]
    return {
        id(column) for column in clause_columns if not column.table and fold(column.name) in aliases
    }


def _is_own(column: exp.Column, scope: Scope) -> bool:
    sources = [
        source for source in scope.sources if not column.table or source.name == fold(column.table)
    ]
    return any(fold(column.name) in source.columns for source in sources)


def _conjuncts(node: exp.Expr) -> list[exp.Expr]:
    match node:
        case exp.Paren():
            return _conjuncts(node.this)
        case exp.And():
            return [*_conjuncts(node.this), *_conjuncts(node.expression)]
        case _:
            return [node]


def _sides(condition: exp.Expr, scope: Scope) -> tuple[exp.Expr, exp.Expr]:
    """The side of an equality that names the subquery's columns, and the side of outer ones."""
    if isinstance(condition, exp.EQ) and condition.find(exp.Query) is None:
        for inner, outer in (
            (condition.this, condition.expression),
            (condition.expression, condition.this),
        ):
            inner_columns = _columns(inner)
            other = _columns(outer)
            if (
                inner_columns
                and all(_is_own(column, scope) for column in inner_columns)
                and not any(_is_own(column, scope) for column in other)
            ):
                return inner, outer
    _refuse_other_ties(condition)


def _refuse_other_ties(node: exp.Expr) -> NoReturn:
    refuse(
        "E_SUBQ",
        "an aggregate of other rows is tied to the rows around it by equalities in its WHERE alone, such "
        "as inner.country = outer.country",
        node,
    )


def _on_no_rows(item: exp.Expr) -> exp.Expr | None:
    """The value of the item over no rows: counts are 0 and all other aggregates NULL."""
    if item.find(exp.Coalesce, exp.Case, exp.If, exp.Is) is None and not any(
        map(_counts, item.find_all(exp.Func))
    ):
        return None

    def emptied(node: exp.Expr) -> exp.Expr:
        if not is_aggregate(node):
            return node
        counts = _counts(node.this if isinstance(node, exp.Filter) else node)
        return exp.Literal.number(0) if counts else exp.null()

    return item.copy().transform(emptied)


def _counts(call: exp.Expr) -> bool:
    function = function_named(call)
    return function is not None and function.per_unit is not None and unit_counts(function.per_unit)
