"""The origin of a statement's columns in released rows.

They are followed through subqueries, joins, stars and UNION. Proved in ``docs/proofs/ends.md`` and
``docs/proofs/presence.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from sqlglot import exp

from dpsql.postprocessing.intervals.dependence import (
    CellOrigin,
    ColumnScope,
    Dependence,
    Source,
    SourceColumn,
    chooses_rows,
    dependence_of,
    is_limited,
    origin_of,
)
from dpsql.schema import fold
from dpsql.sql.binder.aggregates.aggregate import is_grouped
from dpsql.sql.binder.empty_groups import Evident
from dpsql.sql.binder.scope import alias_columns
from dpsql.sql.postprocess.carried_columns import carried
from dpsql.sql.postprocess.hidden_groups import PRESENT

#: The columns of each released table, and how they depend on noise.
ReleasedColumns: TypeAlias = Mapping[str, Mapping[str, Dependence]]
#: For each released table, by its place, the SELECTs that its rows go through,
#: and the source of #: each that has them.
RowPaths: TypeAlias = dict[int, tuple[tuple[exp.Select, str], ...]]
#: What is done to a SELECT before its columns are followed:
#: it is given with its scope and the ways #: to its rows.
SelectVisitor: TypeAlias = Callable[[exp.Select, ColumnScope, RowPaths], None]


@dataclass(frozen=True)
class QueryLineage:
    """The columns of a query, and whether noise chooses its rows, and so what they show.

    ``columns`` is None if they are not known. ``ways`` are those to the single released rows that
    each row is made of; None if it is made of several.
    """

    columns: tuple[SourceColumn, ...] | None = None
    chosen_rows: bool = False
    ways: RowPaths | None = None


class Lineage:
    """Follows a statement through its queries.

    ``tables`` are the released tables that it meets, each as often as it is met.

    Args:
        released: the columns of the released tables that the statement reads.
        public: those of the public tables.
        visit: is called for each SELECT, those in its FROM clause first.
    """

    def __init__(
        self,
        released: ReleasedColumns,
        public: Mapping[str, Sequence[str]],
        visit: SelectVisitor = lambda *_: None,
    ) -> None:
        self._released = released
        self._public = public
        self._visit = visit
        self.tables: list[str] = []

    def query(self, query: exp.Expr) -> QueryLineage:
        """The columns of a query."""
        match query:
            case exp.Subquery() if not query.args.get("pivots"):
                lineage = self.query(query.this)
            case exp.SetOperation():
                lineage = self._set_operation(query)
            case exp.Select():
                return self._select(query)
            case _:
                return QueryLineage()
        return replace(lineage, chosen_rows=lineage.chosen_rows or is_limited(query))

    def _subquery(self, query: exp.Query) -> Dependence:
        """How the value of a subquery depends on noise."""
        lineage = self.query(query)
        if lineage.columns is None or lineage.chosen_rows:
            return Dependence.CHOSEN
        return max((column.dependence for column in lineage.columns), default=Dependence.PUBLIC)

    def _select(self, select: exp.Select) -> QueryLineage:
        ways = RowPaths()
        joins = select.args.get("joins") or []
        first = select.args.get("from_")
        sources = [
            self._source(join.this, select, ways)
            for join in ([] if first is None else [first]) + joins
        ]
        items = {
            fold(item.alias): item.this
            for item in select.expressions
            if isinstance(item, exp.Alias)
        }
        scope = ColumnScope(sources, items, any(source.chosen_rows for source in sources))
        self._visit(select, scope, ways)
        if chooses_rows(select, scope, self._subquery):
            scope = replace(scope, chosen_rows=True)
        columns = self._columns(select, scope)
        distinct = select.args.get("distinct") is not None
        partial = any(
            join.args.get("method") or str(join.kind).upper() not in ("", "INNER", "CROSS", "OUTER")
            for join in joins
        )
        chosen = scope.chosen_rows or (
            distinct and any(column.dependence for column in columns or ())
        )
        return QueryLineage(
            columns, chosen, None if partial or distinct or is_grouped(select) else ways
        )

    def _columns(self, select: exp.Select, scope: ColumnScope) -> tuple[SourceColumn, ...] | None:
        """The columns of the SELECT list."""
        result: list[SourceColumn] = []
        for index, item in enumerate(select.expressions):
            star = item.this if isinstance(item, exp.Column) else item
            if isinstance(star, exp.Star):
                many = _starred(
                    star, fold(item.table) if isinstance(item, exp.Column) else "", select, scope
                )
                if many is None:
                    return None
                result += many
            elif any(
                not isinstance(star_.parent, exp.AggFunc) for star_ in item.find_all(exp.Star)
            ):
                return None
            else:
                name = fold(item.alias_or_name) or f"column{index}"
                known = dependence_of(item, scope, self._subquery)
                result.append(SourceColumn(name, known, origin_of(item.unalias(), scope)))
        return tuple(result)

    def _set_operation(self, query: exp.SetOperation) -> QueryLineage:
        first = self.query(query.this)
        right = self.query(query.expression)
        known = (
            first.columns is not None
            and right.columns is not None
            and not query.args.get("by_name")
        )
        if not known or len(first.columns or ()) != len(right.columns or ()):
            return QueryLineage()
        pairs = zip(first.columns or (), right.columns or (), strict=True)
        columns = tuple(
            SourceColumn(column.name, max(column.dependence, other.dependence))
            for column, other in pairs
        )
        compared = not isinstance(query, exp.Union) and any(column.dependence for column in columns)
        return QueryLineage(columns, first.chosen_rows or right.chosen_rows or compared)

    def _source(self, node: exp.Expr, select: exp.Select, ways: RowPaths) -> Source:
        """A source with its columns; those of a PIVOT are not known."""
        name = fold(node.alias_or_name)
        names = alias_columns(node)
        step = (select, node.alias_or_name)
        if node.args.get("pivots"):
            return Source(name, chosen_rows=True)
        match node:
            case exp.Table() if node.db == "released":
                self.tables.append(node.name)
                number = len(self.tables) - 1
                ways[number] = (step,)
                dependences = self._released.get(node.name, {})
                return Source(
                    name,
                    [
                        SourceColumn(
                            column_name,
                            known,
                            CellOrigin(number, exp.column(column_name, quoted=True)),
                        )
                        for column_name, known in dependences.items()
                    ],
                )
            case exp.Table() if not names and fold(node.name) in self._public:
                public = self._public[fold(node.name)]
                return Source(
                    name,
                    [SourceColumn(fold(column_name), Dependence.PUBLIC) for column_name in public],
                )
            case exp.Values() if names and node.find(exp.Query, exp.Column) is None:
                return Source(
                    name,
                    [SourceColumn(fold(column_name), Dependence.PUBLIC) for column_name in names],
                )
            case exp.Subquery():
                inner = self.query(node.this)
                chosen = inner.chosen_rows or is_limited(node)
                if inner.columns is None or len(names) > len(inner.columns):
                    return Source(name, chosen_rows=chosen)
                inner_ways = inner.ways if name else None
                ways.update({source: (*way, step) for source, way in (inner_ways or {}).items()})
                called = [*names, *(column.name for column in inner.columns[len(names) :])]
                columns = [
                    replace(
                        column, name=fold(new), origin=None if inner_ways is None else column.origin
                    )
                    for new, column in zip(called, inner.columns, strict=True)
                ]
                return Source(name, columns, chosen)
            case _:
                return Source(name)


def _starred(
    star: exp.Star, table: str, select: exp.Select, scope: ColumnScope
) -> list[SourceColumn] | None:
    """The columns that a star stands for; None where that is not known."""
    joins = select.args.get("joins") or []
    sources = [source for source in scope.sources if table in ("", source.name)]
    renamed = (
        star.args.get("replace")
        or star.args.get("rename")
        or any(join.args.get("method") for join in joins)
    )
    if renamed or any(source.columns is None for source in sources):
        return None
    left_out = {fold(column_.name) for column_ in star.args.get("except_") or ()}
    merged = (
        set()
        if table
        else {fold(name.name) for join in joins for name in join.args.get("using") or ()}
    )
    result: list[SourceColumn] = []
    for source in sources:
        known = left_out | ({column_.name for column_ in result} & merged)
        result += [column for column in source.columns or () if column.name not in known]
    return result


@dataclass(frozen=True)
class TracedQuery:
    """A query whose last columns number the released rows of each of its rows.

    Attributes:
        query: the query with the numbers; without any if a row is not made of single released
            rows.
        all_rows: the same with the rows that only their noise, or a LIMIT, keeps out of the result.
        columns: those of ``all_rows`` before the numbers; empty if they are not known.
        tables: the released tables whose rows are numbered, in the order of the numbers.
    """

    query: exp.Query
    all_rows: exp.Query
    columns: Sequence[SourceColumn]
    tables: tuple[str, ...]


def trace(
    query: exp.Query, released: ReleasedColumns, public: Mapping[str, Sequence[str]]
) -> TracedQuery:
    """The query with its rows numbered, and what its columns are of released rows."""
    copy = query.copy()
    lineage = Lineage(released, public)
    single = isinstance(copy, exp.Select) and not is_grouped(copy)
    clauses = _shown_part(copy, single)
    for clause in clauses:
        copy.set(clause, None)
    lineage_ = lineage.query(copy)
    ways = (
        lineage_.ways if single and lineage_.ways and lineage_.columns is not None else RowPaths()
    )
    for row_number, way in ways.items():
        copy.append("expressions", carried("row", row_number, way))
    all_rows = copy.copy()
    for clause, node in clauses.items():
        copy.set(clause, node)
    numbers = {way: number for number, way in enumerate(ways)}
    columns = list[SourceColumn]()
    for column in lineage_.columns or ():
        known = (
            Dependence.CHOSEN if lineage_.chosen_rows and column.dependence else column.dependence
        )
        origin = (
            replace(column.origin, row=numbers[column.origin.row])
            if ways and column.origin
            else None
        )
        columns.append(SourceColumn(column.name, known, origin))
    return TracedQuery(copy, all_rows, columns, tuple(lineage.tables[way] for way in ways))


def columns_of_shown_groups(
    query: exp.Query,
    released: ReleasedColumns,
    evident: Evident,
    public: Mapping[str, Sequence[str]],
) -> frozenset[int]:
    """The columns of the result that depend on which groups of the tables are shown."""
    shown_alone = {f"core{number}" for number in evident.partial - evident.complete}
    chosen = {
        name: {
            column: Dependence.CHOSEN if name in shown_alone or column == PRESENT else known
            for column, known in kinds.items()
        }
        for name, kinds in released.items()
    }
    traced = trace(query, chosen, public)
    return frozenset(
        index
        for index, column in enumerate(traced.columns)
        if column.dependence is Dependence.CHOSEN
    )


def _shown_part(query: exp.Query, single: bool) -> dict[str, exp.Expr]:
    """The clauses that choose only which rows of the result are shown, by name.

    For a plain list the condition is one, too.
    """
    parts = [
        "order",
        "limit",
        "offset",
        *(("having", "qualify") if isinstance(query, exp.Select) else ()),
    ]
    where = query.args.get("where")
    if (
        single
        and where is not None
        and query.find(exp.Window) is None
        and where.find(exp.Query) is None
    ):
        parts.append("where")
    return {clause: query.args[clause] for clause in parts if query.args.get(clause) is not None}
