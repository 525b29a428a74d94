"""Where the columns of a statement come from: rows of released tables, followed through subqueries and joins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

from sqlglot import exp

from dpsql.schema import fold
from dpsql.sql.binder.aggregates.aggregate import is_grouped
from dpsql.sql.binder.scope import alias_columns


@dataclass(frozen=True)
class CellOrigin:
    """An expression over the columns of one row of a released table; ``row`` is the place of that table."""

    row: int
    expression: exp.Expr

    @property
    def aggregate(self) -> int | None:
        """The place of the aggregate that the column is, where it is one."""
        name = self.expression.name if isinstance(self.expression, exp.Column) else ""
        return int(name[1:]) if name.startswith("a") else None

    @property
    def is_computed(self) -> bool:
        """Whether the expression reads an aggregate and is not that aggregate itself."""
        read = [column.name for column in self.expression.find_all(exp.Column)]
        return self.aggregate is None and any(name.startswith("a") for name in read)


@dataclass(frozen=True)
class SelectStep:
    """A SELECT on the way from a released row to the result, and the source of that SELECT which has the row."""

    select: exp.Select
    source: str


#: For each released table, by its place, the SELECTs that its rows go through.
RowPaths: TypeAlias = dict[int, tuple[SelectStep, ...]]


@dataclass(frozen=True)
class FromSource:
    """A source of a FROM clause: the columns that a star stands for, None where they are not known, and the origins of
    those that come from released rows.
    """

    name: str
    names: Sequence[str] | None
    columns: Mapping[str, CellOrigin]


@dataclass(frozen=True)
class RowSelect:
    """A SELECT each of whose rows is made of single released rows.

    ``columns`` are by name, and None where they come from elsewhere; ``ordered`` are by place, where that is known.
    """

    columns: Mapping[str, CellOrigin | None]
    ordered: tuple[CellOrigin | None, ...] | None
    ways: RowPaths


#: What is done to a SELECT before its columns are followed: it is given with its sources and the ways to their rows.
RowSelectVisitor: TypeAlias = Callable[[exp.Select, Sequence[FromSource], RowPaths], None]


class Lineage:
    """Follows a statement; ``tables`` are the released tables that it meets, each as often as it stands there."""

    def __init__(self, public: Mapping[str, Sequence[str]], visit: RowSelectVisitor | None = None) -> None:
        self._public, self._visit = public, visit
        self.tables: list[str] = []

    def level(self, query: exp.Expr) -> RowSelect | None:
        """What the query's columns come from; None where a row of it is made of several released rows."""
        match query:
            case exp.Subquery():
                return self.level(query.this)
            case exp.Select():
                return self._select(query)
            case exp.SetOperation():
                self.level(query.this)
                self.level(query.expression)
        return None

    def _select(self, select: exp.Select) -> RowSelect | None:
        nodes, ways = sources_of(select), RowPaths()
        sources = [self._source(node, select, ways) for node in nodes]
        for nested in own_nodes(select):
            if isinstance(nested, exp.Query) and not any(nested is node for node in nodes):
                self.level(nested)
        if self._visit is not None:
            self._visit(select, sources, ways)
        if is_grouped(select) or select.args.get("distinct") is not None:
            return None
        if any(map(_is_partial, select.args.get("joins") or ())) or any(map(_hides_star, select.expressions)):
            return None
        return RowSelect(*_output_origins(select, sources), ways)

    def _source(self, node: exp.Expr, select: exp.Select, ways: RowPaths) -> FromSource:
        name, here = node.alias_or_name, SelectStep(select, node.alias_or_name)
        match node:
            case exp.Table() if node.db == "released":
                self.tables.append(node.name)
                place = len(self.tables) - 1
                ways[place] = (here,)
                return FromSource(name, None, _ReleasedColumns(place))
            case exp.Table() if not node.args.get("pivots") and not alias_columns(node):
                return FromSource(name, self._public.get(fold(node.name)), {})
            case exp.Subquery():
                level = self.level(node.this)
                if level is None or node.args.get("pivots") or not name:
                    return FromSource(name, None, {})
                ways.update({place: (*way, here) for place, way in level.ways.items()})
                columns = _renamed(level, alias_columns(node))
                names = None if level.ordered is None and None in level.columns.values() else list(columns)
                return FromSource(name, names, {each: origin for each, origin in columns.items() if origin is not None})
            case _:
                return FromSource(name, None, {})


class _ReleasedColumns(dict[str, CellOrigin]):
    """The columns of a released table: any that is asked for."""

    def __init__(self, place: int) -> None:
        super().__init__()
        self._place = place

    def __missing__(self, name: str) -> CellOrigin:
        return CellOrigin(self._place, exp.column(exp.to_identifier(name, quoted=True)))

    def __contains__(self, name: object) -> bool:
        return True


@dataclass(frozen=True)
class TracedQuery:
    """A query with the numbers of released rows as its last columns, and where its other columns come from.

    ``tables`` are the released tables whose rows are numbered, in the order of those columns.
    """

    query: exp.Select
    tables: tuple[str, ...]
    columns: Mapping[str, CellOrigin]
    ordered: tuple[CellOrigin | None, ...] | None


def trace(query: exp.Query, public: Mapping[str, Sequence[str]]) -> TracedQuery | None:
    """The query with its rows numbered; None where a row of the result is not made of single released rows.

    ``public`` holds the columns of the public tables that the query reads.
    """
    if not isinstance(query, exp.Select):
        return None
    copy, lineage = query.copy(), Lineage(public)
    level = lineage.level(copy)
    if level is None or not level.ways:
        return None
    for place, way in level.ways.items():
        copy.append("expressions", carried("row", place, way))
    numbers = {place: number for number, place in enumerate(level.ways)}

    def renumbered(origin: CellOrigin | None) -> CellOrigin | None:
        return None if origin is None else replace(origin, row=numbers[origin.row])

    columns = {name: origin for name, each in level.columns.items() if (origin := renumbered(each)) is not None}
    ordered = None if level.ordered is None else tuple(map(renumbered, level.ordered))
    return TracedQuery(copy, tuple(lineage.tables[place] for place in level.ways), columns, ordered)


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
        star = _star(item)
        if star is not None and _table(item) in ("", fold(step.source)):
            left_out = star.args.get("except_") or ()
            star.set("except_", [*left_out, exp.to_identifier(hidden, quoted=True)])


def sources_of(select: exp.Select) -> list[exp.Expr]:
    """The sources of a SELECT, the joined ones too."""
    first = select.args.get("from_")
    return [*([] if first is None else [first.this]), *(join.this for join in select.args.get("joins") or ())]


def own_nodes(select: exp.Expr, also: Callable[[exp.Expr], bool] = lambda node: False) -> Iterator[exp.Expr]:
    """The nodes of a SELECT without what is inside of its subqueries, and inside of what is ``also`` to be left out."""
    inner = select.walk(prune=lambda node: node is not select and (isinstance(node, exp.Query) or also(node)))
    return (node for node in inner if node is not select)


def origin_of(node: exp.Expr, sources: Sequence[FromSource]) -> CellOrigin | None:
    """The expression over the columns of one released row; None where it reads more, or less."""
    if node.find(exp.Window, exp.Query, exp.AggFunc, exp.Star, exp.Explode) is not None:
        return None
    found: list[CellOrigin | None] = []

    def substituted(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Column):
            return part
        name = fold(part.name)
        having = [each.columns[name] for each in sources
                  if (not part.table or fold(each.name) == fold(part.table)) and name in each.columns]  # fmt: skip
        found.append(having[0] if len(having) == 1 else None)
        inner = part if found[-1] is None else found[-1].expression
        return inner.copy() if isinstance(inner, exp.Column) else exp.Paren(this=inner.copy())

    expression = node.copy().transform(substituted)
    rows = {None if origin is None else origin.row for origin in found}
    (row,) = rows if len(rows) == 1 else (None,)
    return None if row is None else CellOrigin(row, expression.unnest())


def _output_origins(
    query: exp.Select, sources: Sequence[FromSource]
) -> tuple[dict[str, CellOrigin | None], tuple[CellOrigin | None, ...] | None]:
    """What each output column comes from, by name and by place; a name that stands twice comes from nowhere."""
    found: dict[str, CellOrigin | None] = {}
    ordered: list[CellOrigin | None] = []
    places_known = True

    def add(name: str, origin: CellOrigin | None) -> None:
        found[fold(name)] = None if fold(name) in found else origin

    for place, item in enumerate(query.expressions):
        star = _star(item)
        if star is None:
            ordered.append(origin_of(item.unalias(), sources))
            add(item.alias_or_name or f"column{place}", ordered[-1])
            continue
        starred = [each for each in sources if _table(item) in ("", fold(each.name))]
        changed = star.args.get("replace") or star.args.get("rename")
        if changed or any(each.names is None for each in starred):
            places_known = False
            add("*", None)
            continue
        columns = [(name, source.columns.get(fold(name))) for source in starred for name in source.names or ()]
        for name, origin in columns:
            add(name, origin)
        left_out = {fold(each.name) for each in star.args.get("except_") or ()}
        ordered += [origin for name, origin in columns if fold(name) not in left_out]
        places_known = places_known and len(starred) <= 1
    return found, tuple(ordered) if places_known else None


def with_names(query: exp.Query) -> exp.Query:
    """The query with a name for each subquery in FROM that has none, so that its columns can be followed.

    >>> import sqlglot
    >>> with_names(sqlglot.parse_one("SELECT n FROM (SELECT 1 AS n), t")).sql()
    'SELECT n FROM (SELECT 1 AS n) AS "dpsql subquery 0", t'
    """
    if any(column.table.lower().startswith("unnamed_subquery") for column in query.find_all(exp.Column)):
        return query  # which is what DuckDB calls such a subquery
    named = query.copy()
    found = [each for each in named.find_all(exp.Subquery)
             if isinstance(each.parent, (exp.From, exp.Join)) and isinstance(each.this, exp.Query)
             and not each.alias_or_name and not each.args.get("pivots")]  # fmt: skip
    for place, each in enumerate(found):
        each.set("alias", exp.TableAlias(this=exp.to_identifier(f"dpsql subquery {place}", quoted=True)))
    return named


def _renamed(level: RowSelect, names: Sequence[str]) -> Mapping[str, CellOrigin | None]:
    """The columns under the names that ``AS t(a, b)`` gives the first of them; none where their order is not known."""
    if not names:
        return level.columns
    if level.ordered is None or len(level.columns) < len(names):
        return {}
    own = list(level.columns)
    return {new: level.columns[old] for new, old in zip([*names, *own[len(names) :]], own, strict=True)}


def _star(item: exp.Expr) -> exp.Star | None:
    star = item.this if isinstance(item, exp.Column) else item
    return star if isinstance(star, exp.Star) else None


def _table(item: exp.Expr) -> str:
    return fold(item.table) if isinstance(item, exp.Column) else ""


def _hides_star(item: exp.Expr) -> bool:
    """Whether the item is more than one column without being a star: a star under a name, or inside a function."""
    stars = item.find_all(exp.Star)
    return _star(item) is None and any(not isinstance(star.parent, exp.AggFunc) for star in stars)


def _is_partial(join: exp.Join) -> bool:
    """Whether the join does not pair whole rows of both sides."""
    return bool(join.args.get("method")) or str(join.kind).upper() not in ("", "INNER", "CROSS", "OUTER")


def _quoted(name: str, table: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), exp.to_identifier(table, quoted=True))
