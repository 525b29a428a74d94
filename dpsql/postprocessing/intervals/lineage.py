"""Where the columns of a statement come from, followed through subqueries, joins, stars and UNION to released rows.

Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
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
    is_noisy,
    origin_of,
    own_nodes,
    sources_of,
    starred,
)
from dpsql.schema import fold
from dpsql.sql.binder.aggregates.aggregate import is_grouped
from dpsql.sql.binder.scope import alias_columns


@dataclass(frozen=True)
class SelectStep:
    """A SELECT on the way from a released row to the result, and the source of that SELECT which has the row."""

    select: exp.Select
    source: str


#: For each released table, by its place, the SELECTs that its rows go through.
RowPaths: TypeAlias = dict[int, tuple[SelectStep, ...]]


@dataclass(frozen=True)
class QueryColumns:
    """The columns of a query, None where they are not known, and whether noise chooses its rows.

    ``ways`` are those to the single released rows that each row is made of; None where it is made of several.
    """

    columns: tuple[SourceColumn, ...] | None = None
    chosen_rows: bool = False
    ways: RowPaths | None = None

    def with_chosen_rows(self) -> QueryColumns:
        """The same where noise chooses the rows: public values stay, the others are chosen."""
        chosen = tuple(replace(each, dependence=Dependence.CHOSEN) if each.dependence else each
                       for each in self.columns or ())  # fmt: skip
        return replace(self, columns=None if self.columns is None else chosen, chosen_rows=True)


#: What is done to a SELECT before its columns are followed: it is given with its scope and the ways to its rows.
SelectVisitor: TypeAlias = Callable[[exp.Select, ColumnScope, RowPaths], None]


class Lineage:
    """Follows a statement; ``tables`` are the released tables that it meets, each as often as it stands there.

    Args:
        public: the columns of the public tables that the statement reads.
        chosen: the columns of each released table whose noise is not drawn again as it is: truth values, maps, MIN …
            None where origins are asked for, and all columns are said to be chosen; else no origin is told.
        visit: is called once for each SELECT, inner ones first.
    """

    def __init__(
        self,
        public: Mapping[str, Sequence[str]],
        chosen: Mapping[str, Sequence[str]] | None = None,
        visit: SelectVisitor | None = None,
    ) -> None:
        self._public, self._chosen, self._visit = public, chosen or {}, visit
        self._origins_alone = chosen is None
        self.tables: list[str] = []

    def query(self, query: exp.Expr, names: Sequence[str] = (), around: ColumnScope | None = None) -> QueryColumns:
        """The columns of a query; ``names`` are theirs, for a query that shows all columns of a PIVOT."""
        match query:
            case exp.Subquery():
                found = self.query(query.this, names, around)
                found = QueryColumns() if query.args.get("pivots") else found
            case exp.SetOperation():
                found = self._set_operation(query, around)
            case exp.Select():
                return self._select(query, names, around)
            case _:
                return QueryColumns()
        return found.with_chosen_rows() if is_limited(query) else found

    def _subquery(self, query: exp.Query, scope: ColumnScope) -> Dependence:
        """How the value of a subquery depends on noise."""
        found = self.query(query, (), scope)
        if found.columns is None or found.chosen_rows:
            return Dependence.CHOSEN
        return max((each.dependence for each in found.columns), default=Dependence.PUBLIC)

    def _select(self, select: exp.Select, names: Sequence[str], around: ColumnScope | None) -> QueryColumns:
        nodes, ways = sources_of(select), RowPaths()
        sources = [self._source(node, select, ways, around) for node in nodes]
        items = {fold(item.alias): item.this for item in select.expressions if isinstance(item, exp.Alias)}
        scope = ColumnScope(sources, items, any(each.chosen_rows for each in sources), around)
        for nested in own_nodes(select) if self._origins_alone else ():
            if isinstance(nested, exp.Query) and not any(nested is node for node in nodes):
                self.query(nested, (), scope)
        if self._visit is not None:
            self._visit(select, scope, ways)
        if not self._origins_alone and chooses_rows(select, scope, self._subquery):
            scope = replace(scope, chosen_rows=True)
        found = QueryColumns(self._columns(select, scope), scope.chosen_rows)
        if select.args.get("distinct") is not None and any(each.dependence for each in found.columns or ()):
            found = found.with_chosen_rows()
        partial = any(join.args.get("method") or str(join.kind).upper() not in ("", "INNER", "CROSS", "OUTER")
                      for join in select.args.get("joins") or ())  # fmt: skip
        if not partial and not is_grouped(select) and select.args.get("distinct") is None:
            found = replace(found, ways=ways)
        found = found.with_chosen_rows() if scope.chosen_rows else found
        return found if found.columns is not None else self._pivoted(select, names) or found

    def _columns(self, select: exp.Select, scope: ColumnScope) -> tuple[SourceColumn, ...] | None:
        """The columns of the SELECT list."""
        found: list[SourceColumn] = []
        for place, item in enumerate(select.expressions):
            star = item.this if isinstance(item, exp.Column) else item
            if isinstance(star, exp.Star):
                many = starred(star, fold(item.table) if isinstance(item, exp.Column) else "", select, scope)
                if many is None:
                    return None
                found += many
            elif any(not isinstance(each.parent, exp.AggFunc) for each in item.find_all(exp.Star)):
                return None
            else:
                name = fold(item.alias_or_name) or f"column{place}"
                known = Dependence.CHOSEN if self._origins_alone else dependence_of(item, scope, self._subquery)
                origin = origin_of(item.unalias(), scope) if self._origins_alone else None
                found.append(SourceColumn(name, known, origin))
        return tuple(found)

    def _set_operation(self, query: exp.SetOperation, around: ColumnScope | None) -> QueryColumns:
        left, right = self.query(query.this, (), around), self.query(query.expression, (), around)
        if left.columns is None or right.columns is None or len(left.columns) != len(right.columns):
            return QueryColumns()
        pairs = zip(left.columns, right.columns, strict=True)
        columns = tuple(SourceColumn(own.name, max(own.dependence, other.dependence)) for own, other in pairs)
        both = QueryColumns(None if query.args.get("by_name") else columns, left.chosen_rows or right.chosen_rows)
        compared = not isinstance(query, exp.Union) and any(each.dependence for each in columns)
        return both.with_chosen_rows() if compared else both

    def _source(
        self, node: exp.Expr, select: exp.Select, ways: RowPaths, around: ColumnScope | None, before_pivot: bool = False
    ) -> Source:
        """A source with its columns, which those of a PIVOT are only ``before_pivot``."""
        name, names, here = fold(node.alias_or_name), alias_columns(node), SelectStep(select, node.alias_or_name)
        pivoted = bool(node.args.get("pivots")) and not before_pivot
        match node:
            case exp.Table() if node.db == "released":
                self.tables.append(node.name)
                place = len(self.tables) - 1
                ways[place] = (here,)
                return Source(name, place=place, chosen=self._chosen.get(node.name, ()))
            case exp.Table() if not pivoted and not names:
                known = self._public.get(fold(node.name))
                public = [SourceColumn(fold(each), Dependence.PUBLIC) for each in known or ()]
                return Source(name, None if known is None else public)
            case exp.Values() if names and not pivoted and node.find(exp.Query, exp.Column) is None:
                return Source(name, [SourceColumn(fold(each), Dependence.PUBLIC) for each in names])
            case exp.Subquery():
                inner = self.query(node.this, (), around)
                inner = inner.with_chosen_rows() if is_limited(node) else inner
                if pivoted or inner.columns is None or len(names) > len(inner.columns):
                    return Source(name, chosen_rows=inner.chosen_rows)
                behind = inner.ways if name else None
                ways.update({place: (*way, here) for place, way in (behind or {}).items()})
                own = [*names, *(each.name for each in inner.columns[len(names) :])]
                columns = [replace(each, name=fold(new), origin=None if behind is None else each.origin)
                           for new, each in zip(own, inner.columns, strict=True)]  # fmt: skip
                return Source(name, columns, inner.chosen_rows)
            case _:
                return Source(name)

    def _pivoted(self, select: exp.Select, names: Sequence[str]) -> QueryColumns | None:
        """The columns of ``SELECT * FROM (…) PIVOT …``: those that it groups by keep their names."""
        source = select.args.get("from_")
        alone = list(select.expressions) == [exp.Star()] and not select.args.get("joins")
        if source is None or not alone or self._origins_alone:
            return None
        pivots = source.this.args.get("pivots") or []
        found = self._source(source.this, select, RowPaths(), None, before_pivot=True)
        if found.columns is None or len(pivots) != 1 or pivots[0].args.get("unpivot"):
            return None
        scope = ColumnScope([found], {}, found.chosen_rows)
        made = max((dependence_of(each, scope, self._subquery) for each in pivots[0].expressions),
                   default=Dependence.CHOSEN)  # fmt: skip
        by = [each.this for each in pivots[0].args.get("fields") or ()]
        made = Dependence.CHOSEN if is_noisy(by, scope, self._subquery) else made
        keys = {each.name for each in found.columns if each.dependence is Dependence.PUBLIC}
        columns = (SourceColumn(name, Dependence.PUBLIC if name in keys else made) for name in names)
        return QueryColumns(tuple(columns), found.chosen_rows)


@dataclass(frozen=True)
class TracedQuery:
    """A query with the numbers of released rows as its last columns, and where its other columns come from.

    ``tables`` are the released tables whose rows are numbered, in the order of those columns.
    """

    query: exp.Select
    tables: tuple[str, ...]
    origins: tuple[CellOrigin | None, ...]


def trace(query: exp.Query, public: Mapping[str, Sequence[str]]) -> TracedQuery | None:
    """The query with its rows numbered; None where a row of the result is not made of single released rows.

    ``public`` holds the columns of the public tables that the query reads.
    """
    copy, lineage = query.copy(), Lineage(public)
    found = lineage.query(copy)
    if not isinstance(copy, exp.Select) or not found.ways or found.columns is None:
        return None
    for place, way in found.ways.items():
        copy.append("expressions", carried("row", place, way))
    numbers = {place: number for number, place in enumerate(found.ways)}
    origins = (None if each.origin is None else replace(each.origin, row=numbers[each.origin.row])
               for each in found.columns)  # fmt: skip
    return TracedQuery(copy, tuple(lineage.tables[place] for place in found.ways), tuple(origins))


def with_branches(query: exp.Query, public: Mapping[str, Sequence[str]]) -> tuple[exp.Query, int] | None:
    """A UNION ALL that tells of each row which branch it comes from, and of which numbered rows it is made where it is
    made of single ones; with the number of columns that tell it. None of any other query.
    """
    copy = query.copy()
    selects = branches(copy)
    if not selects:
        return None
    traces = [trace(branch, public) for branch in selects]
    most = max(0 if traced is None else len(traced.tables) for traced in traces)
    for number, (branch, traced) in enumerate(zip(selects, traces, strict=True)):
        whole = branch if traced is None else traced.query
        missing = most - (0 if traced is None else len(traced.tables))
        more = [exp.cast(exp.null(), "bigint")] * missing + [exp.Literal.number(number)]
        for place, each in enumerate(more):
            whole.append("expressions", exp.alias_(each.copy(), f"dpsql branch {place}", quoted=True))
        if whole is not branch:
            branch.replace(whole)
    return copy, most + 1


def branches(query: exp.Expr) -> list[exp.Select]:
    """The SELECTs of a UNION ALL; none of any other query."""
    match query:
        case exp.Subquery() if not query.args.get("alias"):
            return branches(query.this)
        case exp.Union() if not query.args.get("distinct") and not query.args.get("by_name"):
            sides = [side.unnest() for side in (query.this, query.expression)]
            found = [[side] if isinstance(side, exp.Select) else branches(side) for side in sides]
            return [select for each in found for select in each] if all(found) else []
    return []


def carried(name: str, place: int, way: Sequence[SelectStep]) -> exp.Column:
    """A released row's column where the way ends: each SELECT on the way hands it on, and no star stands for it."""
    column = _quoted(name, way[0].source)
    for inner, outer in pairwise(way):
        hidden = f"dpsql {name} {place}"
        if hidden not in inner.select.named_selects:
            inner.select.append("expressions", exp.alias_(column, hidden, quoted=True))
            _hide(outer, hidden)
        column = _quoted(hidden, outer.source)
    return column


def _hide(step: SelectStep, hidden: str) -> None:
    """Leave the column out of each star of the SELECT that stands for the source's columns."""
    for item in step.select.expressions:
        star = item.this if isinstance(item, exp.Column) else item
        table = fold(item.table) if isinstance(item, exp.Column) else ""
        if isinstance(star, exp.Star) and table in ("", fold(step.source)):
            left_out = star.args.get("except_") or ()
            star.set("except_", [*left_out, exp.to_identifier(hidden, quoted=True)])


def _quoted(name: str, table: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), exp.to_identifier(table, quoted=True))
