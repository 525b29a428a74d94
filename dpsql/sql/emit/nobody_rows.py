"""Rows of nobody, whose unit is NULL: with one, what the engine compares others with is never empty.

An engine that finds no row there does less for each row of the others, and the first person whose row stands there
would be told by its time. Proved in ``docs/proofs/work.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from sqlglot import exp

from dpsql.sql.emit import node
from dpsql.sql.emit.dialect import Dialect

#: Which side of an INTERSECT a row is of.
_SIDE = "its side"


def units_above_limit(
    dialect: Dialect,
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
        [node.integer(1)],
        node.case((above, node.not_null(unit.copy()))),
    )
    return exp.Union(this=listed, expression=_nobody(dialect, ["u"]), distinct=False)


def look_up(unit: exp.Expr, listed: exp.Expr) -> exp.Join:
    """The LEFT JOIN with such a list; its ``u`` is not NULL where the row's unit is one of those listed.

    NULL meets NULL, since an engine leaves NULL out of what it looks values up in by plain equality.
    """
    return node.join(listed, node.same(unit, node.column(listed.alias_or_name, "u")), "LEFT")


def intersected(dialect: Dialect, selects: Sequence[exp.Select], *, private: bool) -> exp.Select:
    """The different rows that all have, found by groupings; where they are private, none has a NULL unit.

    An engine that finds one side of an INTERSECT empty does not read the other.
    """
    return reduce(lambda left, right: _of_both(dialect, left, right, private), selects)


def _of_both(dialect: Dialect, left: exp.Select, right: exp.Select, private: bool) -> exp.Select:
    names = [each.alias_or_name for each in left.expressions]
    sides = [each.select(node.aliased(node.integer(side), _SIDE)) for side, each in enumerate((left, right))]
    whole: exp.Query = exp.Union(this=sides[0], expression=sides[1], distinct=False)
    if private:
        whole = exp.Union(this=whole, expression=_nobody(dialect, [*names, _SIDE]), distinct=False)
    outputs: list[exp.Expr] = [node.column("sides", name) for name in names]
    side = node.column("sides", _SIDE)
    in_both = node.compare(exp.NEQ, node.function("MIN", side), node.function("MAX", side.copy()))
    groups = [each.copy() for each in outputs]
    return node.select(outputs, node.subquery(whole, "sides"), group=groups, having=in_both)


def _nobody(dialect: Dialect, names: Sequence[str]) -> exp.Select:
    nulls = [node.aliased(exp.null(), name) for name in names]
    return node.select(nulls, dialect.values([[node.integer(0)]], "nobody", ["row"]))
