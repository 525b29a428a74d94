"""Rows of nobody, whose unit is NULL: with one,
what the engine compares others with is never empty.

An engine that finds no row there does less for each row of the others, and the first person whose
row stands there would be told by its time. Proved in ``docs/proofs/work.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from sqlglot import exp

from dpsql.sql.emit import node

#: Which side of an INTERSECT a row is of.
_SIDE = "its side"


def units_above_limit(
    unit: exp.Expr,
    source: exp.Expr,
    above: exp.Expr,
    joins: Sequence[exp.Join] = (),
    where: exp.Expr | None = None,
) -> exp.Union:
    """The units of the source whose rows fulfil the condition, as ``u``, and nobody."""
    listed = node.select(
        [node.aliased(unit, "u")],
        source,
        joins,
        where,
        group=[node.integer(1)],
        having=node.case((above, node.not_null(unit.copy()))),
    )
    return exp.Union(this=listed, expression=_nobody(["u"]), distinct=False)


def look_up(unit: exp.Expr, listed: exp.Expr) -> exp.Join:
    """The LEFT JOIN with such a list; its ``u`` is not NULL if the row's unit is one of those
    listed.

    NULL meets NULL, since an engine leaves NULL out of what it looks values up in by plain
    equality.
    """
    return node.join(listed, same(unit, node.column(listed.alias_or_name, "u")), "LEFT")


def is_listed(listed: exp.Expr, unit: exp.Expr) -> exp.Expr:
    """Whether the LEFT JOIN found a row, which has a value in ``listed``;
    ``unit`` is a column of the left side.

    The engine reads the left side whether or not any row is found.
    """
    return node.case(
        (node.not_null(listed), exp.true()), default=node.compare(exp.NEQ, unit, unit.copy())
    )


def same(left_side: exp.Expr, right_side: exp.Expr) -> exp.Expr:
    """Equality in which NULL equals NULL."""
    return exp.NullSafeEQ(this=left_side, expression=right_side)


def values(rows: Sequence[Sequence[exp.Expr]], alias: str, columns: Sequence[str]) -> exp.Expr:
    """VALUES, which DuckDB takes for a table with named columns."""
    named = exp.TableAlias(this=node.name(alias), columns=[node.name(column) for column in columns])
    return exp.Values(expressions=[exp.Tuple(expressions=[*row]) for row in rows], alias=named)


def intersected(selects: Sequence[exp.Select], *, private: bool) -> exp.Select:
    """The different rows that all have, found by groupings; where they are private,
    none has a NULL unit.

    An engine that finds one side of an INTERSECT empty does not read the other.
    """
    return reduce(lambda left_side, right_side: _of_both(left_side, right_side, private), selects)


def _of_both(left_side: exp.Select, right_side: exp.Select, private: bool) -> exp.Select:
    names = [expression.alias_or_name for expression in left_side.expressions]
    sides = [
        select.select(node.aliased(node.integer(side), _SIDE))
        for side, select in enumerate((left_side, right_side))
    ]
    union: exp.Query = exp.Union(this=sides[0], expression=sides[1], distinct=False)
    if private:
        union = exp.Union(this=union, expression=_nobody([*names, _SIDE]), distinct=False)
    outputs: list[exp.Expr] = [node.column("sides", name) for name in names]
    side = node.column("sides", _SIDE)
    in_both = node.compare(exp.NEQ, node.function("MIN", side), node.function("MAX", side.copy()))
    groups = [output.copy() for output in outputs]
    return node.select(outputs, node.subquery(union, "sides"), group=groups, having=in_both)


def _nobody(names: Sequence[str]) -> exp.Select:
    nulls = [node.aliased(exp.null(), name) for name in names]
    return node.select(nulls, values([[node.integer(0)]], "nobody", ["row"]))
