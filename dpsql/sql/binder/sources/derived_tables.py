"""Derived tables: rows that the sandbox makes of released and public rows.

Later cores read them as one more public table. Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from dpsql.schema import SqlType, fold
from dpsql.sql.analysis.bounds import bounds
from dpsql.sql.analysis.grouping_levels import Cube
from dpsql.sql.analysis.work.derived_size import derived_size
from dpsql.sql.binder.binding_state import Binding
from dpsql.sql.binder.scope import Ctes
from dpsql.sql.binder.sources.tables import BoundRelation
from dpsql.sql.emit import node
from dpsql.sql.emit.scalar import key
from dpsql.sql.emit.syntax import SANDBOX
from dpsql.sql.ir.aggregate import CLIP
from dpsql.sql.ir.core import Core
from dpsql.sql.ir.expression import ColumnRef, Expression
from dpsql.sql.ir.interval import EVERYTHING, UNIT_INTERVAL, Interval
from dpsql.sql.ir.refusal import refuse
from dpsql.sql.ir.relation import Scan
from dpsql.sql.postprocess import released_sql
from dpsql.sql.postprocess.functions import reads_interval_ends

#: The columns of a query over released tables, named with their shapes,
#: and over public tables: #: names and engine types.
ColumnTypes: TypeAlias = list[tuple[str, str]]
Describe: TypeAlias = Callable[[exp.Query, Mapping[str, Core | Cube], Collection[str]], ColumnTypes]

#: Stands for the query whose rows are made into a table.
_MADE = "made"


@dataclass(frozen=True)
class DerivedQuery:
    """One derived table: the sandbox's SQL for its rows, and the types of its columns.

    The columns are ``c0``, ``c1`` and so on. ``cores`` is the number of cores that must be released
    before: those that the SQL reads are among them.
    """

    name: str
    sql: str
    types: tuple[SqlType, ...]
    cores: int


class DerivedTables:
    """The derived tables of a statement, in order of discovery; an equal one is made once.

    ``read`` names the released tables that they are made of.
    """

    def __init__(self, binding: Binding, describe: Describe) -> None:
        self._binding = binding
        self._describe = describe
        self.tables: list[DerivedQuery] = []
        self.read: set[str] = set()

    def source(self, query: exp.Expr, ctes: Ctes) -> BoundRelation:
        """The rows of a query over released and public tables, as a public relation."""
        tree = self._binding.released(query, ctes)
        shapes = [
            self._binding.shapes[table.name]
            for table in tree.find_all(exp.Table)
            if table.db == "released"
        ]
        noisy = not all(map(_is_clipping_bound, shapes))
        return self.made(tree, query, noisy=noisy)

    def made(self, tree: exp.Query, at: exp.Expr, *, noisy: bool = False) -> BoundRelation:
        """The rows of a sandbox query, as a public relation.

        ``noisy`` tells that they stand for SQL's own rows.
        """
        if reads_interval_ends(tree):
            refuse(
                "E_SUBQ",
                "the end of an interval is not read by a private part; let it read the value itself, and "
                "compare ends in the SELECT around it",
                at,
            )
        described = self._describe(tree, self._binding.shapes, self._binding.public)
        names = [fold(name) for name, _ in described]
        if len(set(names)) < len(names):
            refuse(
                "E_COLUMN",
                "two columns of this subquery have one name; give one of them an alias",
                at,
            )
        types = [_sql_type(name, sql_type, at) for name, sql_type in described]
        derived = self._table(tree, types)
        alias = self._binding.alias()
        columns: dict[str, Expression] = {
            name: _column(
                alias, f"c{index}", sql_type, _interval(tree, index, self._binding.shapes)
            )
            for index, (name, sql_type) in enumerate(zip(names, types, strict=True))
        }
        size = derived_size(tree, self._binding.shapes)
        return BoundRelation(
            Scan(alias, derived.name, derived=True, size=size, noisy=noisy), columns
        )

    def released_columns(self, core: Core) -> ColumnTypes:
        """The columns of the table in which a core is released."""
        everything = exp.select("*").from_(released_sql.released_table("core0"), copy=False)
        return self._describe(everything, {"core0": core}, ())

    def _table(self, tree: exp.Query, types: list[SqlType]) -> DerivedQuery:
        self.read |= {table.name for table in tree.find_all(exp.Table) if table.db == "released"}
        columns = [ColumnRef(_MADE, f"c{index}", sql_type) for index, sql_type in enumerate(types)]
        rows = node.subquery(tree, _MADE, [column.name for column in columns])
        select = node.select(
            [node.aliased(key(SANDBOX, column), column.name) for column in columns], rows
        )
        sql = SANDBOX.write(select)
        for known in self.tables:
            if known.sql == sql:
                return known
        cores = [
            self._last_core(table.name)
            for table in tree.find_all(exp.Table)
            if table.db == "released"
        ]
        self.tables.append(
            DerivedQuery(
                f"derived{len(self.tables)}", sql, tuple(types), max(cores, default=-1) + 1
            )
        )
        return self.tables[-1]

    def _last_core(self, released: str) -> int:
        shape = self._binding.shapes[released]
        return shape.last_core if isinstance(shape, Cube) else self._binding.cores.index(shape)


def _is_clipping_bound(shape: Core | Cube) -> bool:
    """Whether DP_CLIP alone is released: a bound to which values are clipped.

    SQL has no exact counterpart.
    """
    return not shape.keys and all(aggregate.function is CLIP for aggregate in shape.aggregates)


def _sql_type(name: str, sql_type: str, at: exp.Expr) -> SqlType:
    try:
        return SqlType.computed(sql_type)
    except ValueError:
        refuse(
            "E_TYPE",
            f"column {name} of this subquery is a {sql_type}, which a private part does not read; CAST it",
            at,
        )


def _column(alias: str, name: str, sql_type: SqlType, interval: Interval) -> ColumnRef:
    ends = (interval.low, interval.high) if sql_type.is_numeric and interval.is_finite else None
    return ColumnRef(alias, name, sql_type, nullable=True, bounds=ends, public=True, released=True)  # type: ignore[arg-type]


def _interval(tree: exp.Expr, index: int, shapes: Mapping[str, Core | Cube]) -> Interval:
    """The interval of an output column.

    It is known for aggregates within bounds, and for keys that are passed on unchanged.
    """
    if not isinstance(tree, exp.Select) or tree.args.get("joins") or index >= len(tree.expressions):
        return EVERYTHING
    item = tree.expressions[index].unalias()
    source = tree.args.get("from_")
    if isinstance(item, exp.Subquery):
        return _interval(item.this, 0, shapes)
    if not isinstance(item, exp.Column) or source is None:
        return EVERYTHING
    source = source.this
    if (
        isinstance(source, exp.Subquery)
        and isinstance(source.this, exp.Select)
        and not source.alias_column_names
    ):
        inner = [expression.alias_or_name for expression in source.this.expressions]
        return (
            _interval(source.this, inner.index(item.name), shapes)
            if item.name in inner
            else EVERYTHING
        )
    if not isinstance(source, exp.Table) or source.db != "released":
        return EVERYTHING
    shape = shapes[source.name]
    number = int(item.name[1:])
    if item.name.startswith("k"):
        return bounds(shape.keys[number])
    if item.name.startswith("g"):
        return UNIT_INTERVAL
    aggregate = shape.aggregates[number]
    if not aggregate.function.is_within_bounds or aggregate.argument is None:
        return EVERYTHING
    return bounds(aggregate.argument)
