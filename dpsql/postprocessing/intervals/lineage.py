"""Where the columns of a result come from: the rows of released tables, followed through subqueries and joins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from dpsql.postprocessing.intervals.origin import Origin, ReleasedColumns, Source, output_origins
from dpsql.schema import fold
from dpsql.sql.binder.aggregates.aggregate import is_grouped
from dpsql.sql.binder.sources.ctes import alias_columns


@dataclass(frozen=True)
class Traced:
    """A query with the numbers of released rows as its last columns, and where its other columns come from, by name.

    ``tables`` are the released tables whose rows are numbered, in the order of those columns. ``ordered`` has the
    columns by place instead, where no star stands among them.
    """

    query: exp.Select
    tables: tuple[str, ...]
    columns: Mapping[str, Origin]
    ordered: tuple[Origin | None, ...] | None


@dataclass(frozen=True)
class _Level:
    """One SELECT: its columns by name (None for those that come from elsewhere), and the places of its rows."""

    query: exp.Select
    columns: Mapping[str, Origin | None]
    ordered: tuple[Origin | None, ...] | None
    places: tuple[int, ...]


def trace(shell: exp.Query, public: Mapping[str, Sequence[str]]) -> Traced | None:
    """The shell with its rows numbered; None where a row of the result is not made of single released rows.

    ``public`` holds the columns of the public tables that the shell reads.
    """
    if not isinstance(shell, exp.Select):
        return None
    traced = _Trace(public)
    level = traced.level(shell, outermost=True)
    if level is None or not level.places:
        return None
    numbers = {place: number for number, place in enumerate(level.places)}

    def renumbered(origin: Origin | None) -> Origin | None:
        return None if origin is None else replace(origin, row=numbers[origin.row])

    columns = {name: origin for name, each in level.columns.items() if (origin := renumbered(each)) is not None}
    ordered = None if level.ordered is None else tuple(map(renumbered, level.ordered))
    return Traced(level.query, tuple(traced.tables[place] for place in level.places), columns, ordered)


class _Trace:
    """Follows one shell; ``tables`` are the released tables that it meets, each as often as it stands there."""

    def __init__(self, public: Mapping[str, Sequence[str]]) -> None:
        self._public = public
        self.tables: list[str] = []

    def level(self, select: exp.Select, outermost: bool = False) -> _Level | None:
        """The SELECT with the numbers of its rows; None where its rows are made of several."""
        joins = select.args.get("joins") or []
        if is_grouped(select) or select.args.get("distinct") is not None or select.args.get("from_") is None:
            return None
        if any(is_odd(join) for join in joins) or any(map(hides_star, select.expressions)):
            return None
        query = select.copy()
        nodes = [query.args["from_"].this, *(join.this for join in query.args.get("joins") or ())]
        sources = [self._source(node) for node in nodes]
        columns, ordered = output_origins(query, sources)
        places = []
        for source in sources:
            for name, place in source.numbers:
                number = exp.column(exp.to_identifier(name, quoted=True), exp.to_identifier(source.name, quoted=True))
                query.append("expressions", number if outermost else exp.alias_(number, _number(place), quoted=True))
                places.append(place)
        return _Level(query, columns, ordered, tuple(places))

    def _source(self, node: exp.Expr) -> Source:
        name = node.alias_or_name
        match node:
            case exp.Table() if node.db == "released":
                self.tables.append(node.name)
                place = len(self.tables) - 1
                return Source(name, None, ReleasedColumns(place), (("row", place),))
            case exp.Table() if not node.args.get("pivots") and not alias_columns(node):
                return Source(name, self._public.get(fold(node.name)), {})
            case exp.Subquery(this=exp.Select() as inner) if name and not node.args.get("pivots"):
                level = self.level(inner)
                if level is None:
                    return Source(name, None, {})
                node.set("this", level.query)
                columns = renamed(level.columns, level.ordered, alias_columns(node))
                names = None if level.ordered is None and None in level.columns.values() else list(columns)
                known = {each: origin for each, origin in columns.items() if origin is not None}
                return Source(name, names, known, tuple((_number(place), place) for place in level.places))
            case _:
                return Source(name, None, {})


#: What DuckDB calls such a subquery, and a statement may.
UNNAMED = "unnamed_subquery"


def with_names(shell: exp.Query) -> exp.Query:
    """The shell with a name for each subquery in FROM that has none, so that its columns can be followed.

    >>> import sqlglot
    >>> with_names(sqlglot.parse_one("SELECT n FROM (SELECT 1 AS n), t")).sql()
    'SELECT n FROM (SELECT 1 AS n) AS "dpsql subquery 0", t'
    """
    if any(column.table.lower().startswith(UNNAMED) for column in shell.find_all(exp.Column)):
        return shell
    named = shell.copy()
    found = [each for each in named.find_all(exp.Subquery)
             if isinstance(each.parent, (exp.From, exp.Join)) and isinstance(each.this, exp.Query)
             and not each.alias_or_name and not each.args.get("pivots")]  # fmt: skip
    for place, each in enumerate(found):
        each.set("alias", exp.TableAlias(this=exp.to_identifier(f"dpsql subquery {place}", quoted=True)))
    return named


def hides_star(item: exp.Expr) -> bool:
    """Whether the item is more than one column without being a star: a star under a name, or inside a function."""
    plain = isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star))
    return not plain and any(not isinstance(star.parent, exp.AggFunc) for star in item.find_all(exp.Star))


def _number(place: int) -> str:
    return f"dpsql row {place}"


def renamed(
    columns: Mapping[str, Origin | None], ordered: Sequence[Origin | None] | None, names: Sequence[str]
) -> Mapping[str, Origin | None]:
    """The columns under the names that ``AS t(a, b)`` gives the first of them; none where their order is not known."""
    if not names:
        return columns
    if ordered is None or len(columns) < len(names):
        return {}
    own = list(columns)
    return {new: columns[old] for new, old in zip([*names, *own[len(names) :]], own, strict=True)}


def is_odd(join: exp.Join) -> bool:
    """Whether the join does not pair whole rows of both sides."""
    return bool(join.args.get("method")) or str(join.kind).upper() not in ("", "INNER", "CROSS", "OUTER")
