"""Where the columns of a result come from: the rows of released tables, followed through subqueries and joins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from dpsql.schema import fold
from dpsql.sql.binder.aggregates.aggregate import is_grouped
from dpsql.sql.binder.scope import alias_columns


@dataclass(frozen=True)
class Origin:
    """An expression over the columns of one row of a released table; ``row`` is the place of that table's numbers."""

    row: int
    expression: exp.Expr

    @property
    def aggregate(self) -> int | None:
        """The place of the aggregate that the column is, where it is one."""
        name = self.expression.name if isinstance(self.expression, exp.Column) else ""
        return int(name[1:]) if name.startswith("a") else None

    @property
    def is_computed(self) -> bool:
        """Whether some aggregate is read, and the column is not that aggregate itself."""
        read = [column.name for column in self.expression.find_all(exp.Column)]
        return self.aggregate is None and any(name.startswith("a") for name in read)


@dataclass(frozen=True)
class Source:
    """A source of a FROM clause.

    ``names`` are the columns that a star stands for, None where they are not known here; ``columns`` those of them that
    come from released rows; ``numbers`` the columns that number such rows, with the place of each.
    """

    name: str
    names: Sequence[str] | None
    columns: Mapping[str, Origin]
    numbers: tuple[tuple[str, int], ...] = ()


class ReleasedColumns(dict[str, Origin]):
    """The columns of a released table: any that is asked for."""

    def __init__(self, place: int) -> None:
        super().__init__()
        self._place = place

    def __missing__(self, name: str) -> Origin:
        return Origin(self._place, exp.column(exp.to_identifier(name, quoted=True)))

    def __contains__(self, name: object) -> bool:
        return True


def output_origins(
    query: exp.Select, sources: Sequence[Source], *, leaving_out: bool = True
) -> tuple[dict[str, Origin | None], tuple[Origin | None, ...] | None]:
    """What each output column comes from, by name and by place; a name that stands twice comes from nowhere.

    Where ``leaving_out``, the stars of the query no longer stand for the numbers of rows.
    """
    found: dict[str, Origin | None] = {}
    ordered: list[Origin | None] = []
    stars = False

    def add(name: str, origin: Origin | None) -> None:
        found[fold(name)] = None if fold(name) in found else origin

    for place, item in enumerate(query.expressions):
        star = item if isinstance(item, exp.Star) else item.this if isinstance(item, exp.Column) else None
        if not isinstance(star, exp.Star):
            ordered.append(origin_of(item.unalias(), sources))
            add(item.alias_or_name or f"column{place}", ordered[-1])
            continue
        table = fold(item.table) if isinstance(item, exp.Column) else ""
        starred = [each for each in sources if not table or fold(each.name) == table]
        plain = not (star.args.get("replace") or star.args.get("rename"))
        if plain and all(each.names is not None for each in starred):
            for source in starred:
                for name in source.names or ():
                    add(name, source.columns.get(fold(name)))
            left_out = {fold(each.name) for each in star.args.get("except_") or ()}
            kept = [name for source in starred for name in source.names or () if fold(name) not in left_out]
            ordered += [starred[0].columns.get(fold(name)) for name in kept]
            stars = stars or len(starred) > 1
        else:
            stars = True
            add("*", None)
        if leaving_out:
            leave_out(star, [number for each in starred for number, _ in each.numbers])
    return found, None if stars else tuple(ordered)


def origin_of(node: exp.Expr, sources: Sequence[Source]) -> Origin | None:
    """The expression over the columns of one released row; None where it reads more, or less."""
    if node.find(exp.Window, exp.Query, exp.AggFunc, exp.Star, exp.Explode) is not None:
        return None
    found: list[Origin | None] = []

    def substituted(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Column):
            return part
        name = fold(part.name)
        chosen = [each.columns[name] for each in sources
                  if (not part.table or fold(each.name) == fold(part.table)) and name in each.columns]  # fmt: skip
        found.append(chosen[0] if len(chosen) == 1 else None)
        inner = part if found[-1] is None else found[-1].expression
        return inner.copy() if isinstance(inner, exp.Column) else exp.Paren(this=inner.copy())

    expression = node.copy().transform(substituted)
    rows = {None if origin is None else origin.row for origin in found}
    (row,) = rows if len(rows) == 1 else (None,)
    return None if row is None else Origin(row, expression.unnest())


def item_of(query: exp.Select, place: int) -> exp.Expr | None:
    """What the query says of its column; None where that is not known, since a star stands before it."""
    items = query.expressions[: place + 1]
    return items[place] if len(items) > place and not any(item.is_star for item in items) else None


def inside(table: str, name: str, query: exp.Select) -> tuple[exp.Expr, exp.Select] | None:
    """What the column of a subquery is made of, and the subquery; None where none or several may have it."""
    source, joins = query.args.get("from_"), query.args.get("joins") or []
    shared = {fold(each.name) for join in joins for each in join.args.get("using") or ()}
    if fold(name) in shared or any(join.args.get("method") for join in joins):
        return None
    nodes = [*([] if source is None else [source.this]), *(join.this for join in joins)]
    found = []
    for node in nodes:
        if not isinstance(node, exp.Subquery) or (table and fold(node.alias_or_name) != fold(table)):
            continue
        inner = node.this
        if not isinstance(inner, exp.Select) or node.args.get("pivots") or alias_columns(node):
            return None
        found += [(each.unalias(), inner) for each in inner.expressions if fold(each.alias_or_name) == fold(name)]
        if any(isinstance(each, exp.Star) or each.is_star for each in inner.expressions):
            return None
    return found[0] if len(found) == 1 else None


def leave_out(star: exp.Star, names: Sequence[str]) -> None:
    """``* EXCLUDE`` these columns."""
    if names:
        inner = [exp.to_identifier(name, quoted=True) for name in names]
        star.set("except_", [*(star.args.get("except_") or ()), *inner])


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
