"""SQL that counts the public rows which one row meets: those of a range,
and those that fulfil conditions of their own.

Proved in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dpsql.sql.emit import node
from dpsql.sql.emit.dialect import Dialect
from dpsql.sql.emit.relation import leaf_source
from dpsql.sql.emit.scalar import native
from dpsql.sql.ir.expression import Expression
from dpsql.sql.ir.relation import Constants, PublicRange, Scan


def partners_sql(
    dialect: Dialect,
    source: Scan | Constants,
    columns: Sequence[str],
    conditions: Sequence[Expression],
    between: PublicRange | None,
) -> str:
    """The SQL for the most rows of the source that fulfil the conditions, have equal values in
    these columns, and whose ranges have a point in common."""
    equal = [f"c{index}" for index in range(len(columns))]
    outputs = [
        node.aliased(node.column(source.alias, column), name)
        for name, column in zip(equal, columns, strict=True)
    ]
    if between is None:
        outputs.append(node.aliased(node.integer(1), "d"))
    else:
        outputs.append(node.aliased(native(dialect, between.low), "low"))
        outputs.append(node.aliased(native(dialect, between.high), "high"))
    where = node.conjoined([native(dialect, condition) for condition in conditions])
    rows = node.select(outputs, leaf_source(dialect, source), where=where)
    counted = _counted(rows, equal) if between is None else _running(rows, equal, between.closed)
    most = node.or_zero(node.function("MAX", node.column("g", "n")))
    return dialect.write(node.select([most], node.subquery(counted, "g")))


def _counted(rows: exp.Select, equal: list[str]) -> exp.Select:
    """How many rows have each combination of equal values."""
    count = node.aliased(exp.Count(this=exp.Star()), "n")
    group = [node.column("r", name) for name in equal]
    return node.select([count], node.subquery(rows, "r"), group=group)


def _running(rows: exp.Select, equal: list[str], closed: bool) -> exp.Select:
    """How many ranges hold each end of one: those that have begun, less those that have ended.

    Ranges that are closed on both sides begin at a point before others end there; others end first,
    and those without a point are left out.
    """
    kind = exp.LTE if closed else exp.LT
    has_points = node.compare(kind, node.column("r", "low"), node.column("r", "high"))
    ends = [
        node.select(
            [
                *(node.aliased(node.column("r", name), name) for name in equal),
                node.aliased(node.column("r", end), "x"),
                node.aliased(node.integer(change), "d"),
                node.aliased(node.integer(order), "o"),
            ],
            node.subquery(rows.copy(), "r"),
            where=has_points.copy(),
        )
        for end, change, order in (("low", 1, 0 if closed else 1), ("high", -1, 1 if closed else 0))
    ]
    running = exp.Window(
        this=exp.Sum(this=node.column("e", "d")),
        partition_by=[node.column("e", name) for name in equal],
        order=exp.Order(
            expressions=[exp.Ordered(this=node.column("e", name)) for name in ("x", "o")]
        ),
        spec=exp.WindowSpec(
            kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW"
        ),
    )
    events = exp.Union(this=ends[0], expression=ends[1], distinct=False)
    return node.select([node.aliased(running, "n")], node.subquery(events, "e"))
