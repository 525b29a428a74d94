"""A table as it stands in FROM: its whole name, its texts cut, the parents that lead to its unit,
and each unit's first rows of it.

Proved in ``docs/proofs/stability.md`` and ``docs/proofs/work.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dpsql.schema import ITS_UNIT
from dpsql.sql.emit import node
from dpsql.sql.emit.dialect import HASH_KEY, Dialect
from dpsql.sql.ir.expression import ColumnRef
from dpsql.sql.ir.relation import Hop, Keep, Scan

#: The place of a row among those of its unit: no column of a table has this name.
_PLACE = "its place"


def table_by_name(dialect: Dialect, table: str, alias: str, derived: bool = False) -> exp.Table:
    """A table by its whole name, which no temporary object can shadow."""
    catalog, schema = dialect.derived if derived else dialect.source
    return exp.Table(
        this=node.name(table),
        db=node.name(schema) if schema else None,
        catalog=node.name(catalog) if catalog else None,
        alias=exp.TableAlias(this=node.name(alias)),
    )


def stored_table(dialect: Dialect, scan: Scan) -> exp.Expr:
    """The table; if its texts are cut, a subquery of all that is read of it,
    so that nothing else has them whole.
    """
    table = table_by_name(dialect, scan.table, scan.alias, scan.derived)
    if scan.cut is None:
        return table
    outputs: list[exp.Expr] = []
    most = dict(scan.cut.characters)
    for name in scan.cut.columns:
        column = node.column(scan.alias, name)
        if name in most:
            outputs.append(node.aliased(first_characters(dialect, column, most[name]), name))
        else:
            outputs.append(column)
    return node.subquery(node.select(outputs, table), scan.alias)


def first_characters(dialect: Dialect, text: exp.Expr, most: int) -> exp.Expr:
    """The first characters of a text; of one that is not longer only the length is looked at.

    It is made flat afterwards, so that the whole of a long text is not copied for each row that has
    it.
    """
    is_long = node.compare(exp.GT, dialect.total_form("strlen", text), node.integer(most))
    return node.case(
        (is_long, dialect.total_form("left", text.copy(), node.integer(most))), default=text.copy()
    )


def without_sign(column: exp.Expr) -> exp.Expr:
    """A column of DOUBLE in which −0.0 is 0.0, in a type as narrow as its own:
    equal values cannot be told apart.
    """
    return node.plus(column, exp.cast(node.number(0.0), exp.DataType.Type.FLOAT))


def parents(dialect: Dialect, hops: tuple[Hop, ...]) -> list[exp.Join]:
    """The joins with the parents that lead to the unit."""
    joins = []
    for hop in hops:
        equal = node.compare(exp.EQ, _value(hop.child), _value(hop.parent))
        joins.append(node.join(table_by_name(dialect, hop.table, hop.alias), equal))
    return joins


def _value(column: ColumnRef) -> exp.Column:
    return node.column(column.relation, column.name)


def first_rows(dialect: Dialect, scan: Scan, keep: Keep) -> exp.Query:
    """Each unit's first rows of a table in a total order by keyed hash over what is read of them.

    The few units with more rows than are kept are found first,
    so that only their rows are put in order.
    """
    assert scan.path is not None
    alias = scan.alias
    unit = _value(scan.path.unit)

    def rows(
        outputs: Sequence[exp.Expr], joins: Sequence[exp.Join] = (), where: exp.Expr | None = None
    ) -> exp.Select:
        assert scan.path is not None
        hops = parents(dialect, scan.path.hops)
        return node.select(outputs, stored_table(dialect, scan), [*hops, *joins], where)

    def look_up_crowded() -> exp.Join:
        assert scan.path is not None
        many = node.compare(exp.GT, exp.Count(this=exp.Star()), node.integer(keep.rows))
        crowded = dialect.units_above_limit(
            unit.copy(), stored_table(dialect, scan), many, parents(dialect, scan.path.hops)
        )
        return dialect.look_up(unit.copy(), node.subquery(crowded, "crowded"))

    names = [*keep.columns, *([ITS_UNIT] if keep.owned else [])]
    columns: list[exp.Expr] = [node.column(alias, name) for name in keep.columns]
    order_columns = [
        node.aliased(without_sign(column.copy()), name) if name in keep.doubles else column
        for name, column in zip(keep.columns, columns, strict=True)
    ]
    outputs = [*order_columns, *([node.aliased(unit.copy(), ITS_UNIT)] if keep.owned else [])]
    outside = exp.Is(this=node.column("crowded", "u"), expression=exp.null())
    free = rows([output.copy() for output in outputs], [look_up_crowded()], outside)
    hashed = dialect.hashed(HASH_KEY, [column.copy() for column in columns])
    order = [
        exp.Ordered(this=expression, nulls_first=True)
        for expression in (hashed, *(column.copy() for column in columns))
    ]
    rank = exp.Window(
        this=exp.RowNumber(), partition_by=[unit.copy()], order=exp.Order(expressions=order)
    )
    several = dialect.is_listed(node.column("crowded", "u"), unit.copy())
    ranked = rows([*outputs, node.aliased(rank, _PLACE)], [look_up_crowded()], several)
    first = node.compare(exp.LTE, node.column("ranked", _PLACE), node.integer(keep.rows))
    cut = node.select(
        [node.column("ranked", name) for name in names],
        node.subquery(ranked, "ranked"),
        where=first,
    )
    return exp.Union(this=free, expression=cut, distinct=False)
