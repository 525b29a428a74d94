"""DP_INTERVAL_LOW and DP_INTERVAL_HIGH: the ends of intervals as columns of the released tables that they are told of.

An end is a number that is known as soon as a row is released, so that the rest of the statement may use it as any other
column. Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NoReturn

from sqlglot import exp

from dpsql.planning.result_columns import Ends, Later
from dpsql.postprocessing.intervals.lineage import (
    Origin,
    ReleasedColumns,
    Source,
    hides_star,
    is_odd,
    leave_out,
    origin_of,
    output_origins,
    renamed,
)
from dpsql.schema import fold
from dpsql.sql.binder.aggregates.aggregate import is_grouped
from dpsql.sql.binder.scope import alias_columns
from dpsql.sql.emit.sandbox import SANDBOX
from dpsql.sql.ir.refusal import refuse
from dpsql.sql.postprocess.functions import interval_end


def with_ends(
    shell: exp.Query, public: Mapping[str, Sequence[str]]
) -> tuple[exp.Query, tuple[Ends, ...], tuple[Later, ...]]:
    """Post-processing with columns in the place of the calls, and what these columns hold.

    A call of what several released rows make is NULL until all rows are there, and its argument a column behind those
    of the result; it is refused where it is not a column of the outermost SELECT. ``public`` holds the columns of the
    public tables that post-processing reads.
    """
    query = shell.copy()
    found = _Finder(public, query)
    found.query(query)
    width = len(query.expressions)
    for place, (_, argument) in enumerate(found.later):
        query.append("expressions", exp.alias_(argument, f"dpsql beside {place}", quoted=True))
    later = tuple(Later(each.column, width + place, each.side) for place, (each, _) in enumerate(found.later))
    return query, tuple(found.ends), later


@dataclass(frozen=True)
class _Step:
    """A SELECT on the way from a released row to where its ends are wanted, and the source in it that has the row."""

    select: exp.Select
    source: str


@dataclass(frozen=True)
class _Level:
    """One SELECT whose rows are made of single released rows: where its columns come from, and the ways to its rows."""

    columns: Mapping[str, Origin | None]
    ordered: tuple[Origin | None, ...] | None
    ways: Mapping[int, tuple[_Step, ...]]


class _Finder:
    """Follows one shell; ``ends`` are those that it meets, and ``_tables`` the released tables by their place."""

    def __init__(self, public: Mapping[str, Sequence[str]], outermost: exp.Query) -> None:
        self._public, self._outermost = public, outermost
        self.later: list[tuple[Later, exp.Expr]] = []
        self._tables: list[str] = []
        self.ends: list[Ends] = []

    def query(self, node: exp.Expr) -> _Level | None:
        """Replace the calls in the query; what its columns come from where its rows are single released rows."""
        match node:
            case exp.Subquery():
                return self.query(node.this)
            case exp.Select():
                return self._select(node)
            case exp.SetOperation():
                self.query(node.this)
                self.query(node.expression)
                for name in ("order", "limit", "offset"):
                    for call in _calls(node.args.get(name)):
                        _refuse_place(call)
        return None

    def _select(self, select: exp.Select) -> _Level | None:
        joins = select.args.get("joins") or []
        nodes = [*([select.args["from_"].this] if select.args.get("from_") is not None else []),
                 *(join.this for join in joins)]  # fmt: skip
        ways: dict[int, tuple[_Step, ...]] = {}
        sources = [self._source(node, select, ways) for node in nodes]
        for inner in _nested(select, nodes):
            self.query(inner)
        for call in [each for part in _parts(select, nodes) for each in _calls(part)]:
            _open_aliases(call, select, sources)
            self._replace(call, sources, ways)
        if is_grouped(select) or select.args.get("distinct") is not None:
            return None
        if any(map(is_odd, joins)) or any(map(hides_star, select.expressions)):
            return None
        columns, ordered = output_origins(select, sources, leaving_out=False)
        return _Level(columns, ordered, ways)

    def _source(self, node: exp.Expr, select: exp.Select, ways: dict[int, tuple[_Step, ...]]) -> Source:
        name = node.alias_or_name
        here = _Step(select, name)
        match node:
            case exp.Table() if node.db == "released":
                self._tables.append(node.name)
                place = len(self._tables) - 1
                ways[place] = (here,)
                return Source(name, None, ReleasedColumns(place))
            case exp.Table() if not node.args.get("pivots") and not alias_columns(node):
                return Source(name, self._public.get(fold(node.name)), {})
            case exp.Subquery():
                level = self.query(node.this)
                if level is None or node.args.get("pivots") or not name:
                    return Source(name, None, {})
                ways.update({place: (*way, here) for place, way in level.ways.items()})
                columns = renamed(level.columns, level.ordered, alias_columns(node))
                names = None if level.ordered is None and None in level.columns.values() else list(columns)
                return Source(name, names, {each: origin for each, origin in columns.items() if origin is not None})
            case _:
                return Source(name, None, {})

    def _replace(self, call: exp.Anonymous, sources: Sequence[Source], ways: Mapping[int, tuple[_Step, ...]]) -> None:
        side = interval_end(call)
        assert side is not None
        argument = call.expressions[0]
        if any(_calls(argument)):
            refuse("E_FUNC", f"an interval has no interval of its own: {_called(call)} takes an aggregate, or "
                   "arithmetic over aggregates", call)  # fmt: skip
        origin = origin_of(argument, sources)
        if origin is None:
            self._replace_later(call, side)
            return
        if origin.aggregate is None and not origin.is_computed:
            refuse("E_FUNC", f"a key is exact and has no interval: {_called(call)} takes an aggregate, or arithmetic "
                   "over aggregates", call)  # fmt: skip
        column = self._ends(self._tables[origin.row], origin).columns[side]
        call.replace(_carried(column, origin.row, ways[origin.row]))

    def _replace_later(self, call: exp.Anonymous, side: int) -> None:
        """NULL in the place of the call, where nothing else of the outermost SELECT reads it."""
        item = call.parent if isinstance(call.parent, exp.Alias) else call
        if not isinstance(self._outermost, exp.Select) or item.parent is not self._outermost:
            _refuse_place(call)
        items = self._outermost.expressions
        place = next((place for place, each in enumerate(items) if each is item), None)
        if place is None or self._outermost.args.get("distinct") is not None or _is_read(self._outermost, item, place):
            _refuse_place(call)
        if any(each.find(exp.Star) is not None and each.find(exp.AggFunc) is None for each in items):
            _refuse_place(call)
        self.later.append((Later(place, 0, side), call.expressions[0].copy()))
        call.replace(exp.cast(exp.null(), "double"))

    def _ends(self, table: str, origin: Origin) -> Ends:
        sql = SANDBOX.write(origin.expression)
        for known in self.ends:
            if (known.table, known.sql) == (table, sql):
                return known
        self.ends.append(Ends(table, sql, len(self.ends), origin.aggregate))
        return self.ends[-1]


def _is_read(select: exp.Select, item: exp.Expr, place: int) -> bool:
    """Whether another part of the SELECT names the item, or may mean it by its place or with all others."""
    name = fold(item.alias_or_name)
    parts = [select.args.get(each) for each in ("where", "group", "having", "qualify", "order")]
    others = [*(part for part in parts if part is not None), *(each for each in select.expressions if each is not item)]
    named = (column for part in others for column in part.find_all(exp.Column))
    order = select.args.get("order")
    places = [] if order is None else [each.this for each in order.expressions]
    return any(not column.table and fold(column.name) == name for column in named) or any(
        (isinstance(each, exp.Literal) and each.name == str(place + 1)) or fold(each.name) == "all" for each in places
    )


def _open_aliases(call: exp.Anonymous, select: exp.Select, sources: Sequence[Source]) -> None:
    """Put what the SELECT list says in the place of its aliases, where no source has a column of that name."""
    items = {fold(item.alias): item.this for item in select.expressions if isinstance(item, exp.Alias)}
    for column in list(call.find_all(exp.Column)):
        name = fold(column.name)
        if not column.table and name in items and not any(name in source.columns for source in sources):
            column.replace(exp.Paren(this=items[name].copy()))


def _carried(name: str, place: int, way: Sequence[_Step]) -> exp.Column:
    """The column of a released row where the way ends; each SELECT on the way gives it on, out of sight of stars."""
    column = _column(name, way[0].source)
    for inner, outer in pairwise(way):
        hidden = f"dpsql {name} {place}"
        if hidden not in inner.select.named_selects:
            inner.select.append("expressions", exp.alias_(column, hidden, quoted=True))
            _hide(outer, hidden)
        column = _column(hidden, outer.source)
    return column


def _hide(step: _Step, hidden: str) -> None:
    """Leave the column out of every star of the SELECT that stands for the source's columns."""
    for item in step.select.expressions:
        star = item if isinstance(item, exp.Star) else item.this if isinstance(item, exp.Column) else None
        table = item.table if isinstance(item, exp.Column) else ""
        if isinstance(star, exp.Star) and fold(table) in ("", fold(step.source)):
            leave_out(star, [hidden])


def _column(name: str, source: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), exp.to_identifier(source, quoted=True))


def _calls(node: exp.Expr | None) -> Iterator[exp.Anonymous]:
    """The calls in the node, without going into queries and into what a call takes."""
    if node is None or isinstance(node, exp.Query):
        return
    if isinstance(node, exp.Anonymous) and interval_end(node) is not None:
        yield node
        return
    for part in node.iter_expressions():
        yield from _calls(part)


def _parts(select: exp.Select, sources: Sequence[exp.Expr]) -> list[exp.Expr]:
    """What a SELECT says beside its sources."""
    own = [part for part in select.iter_expressions() if not isinstance(part, exp.From)]
    inside = {id(source) for source in sources}
    return [each for part in own
            for each in ([it for it in part.iter_expressions() if id(it) not in inside]
                         if isinstance(part, exp.Join) else [part])]  # fmt: skip


def _nested(select: exp.Select, sources: Sequence[exp.Expr]) -> list[exp.Expr]:
    """The queries that stand in a SELECT's expressions."""

    def inside(node: exp.Expr) -> Iterator[exp.Expr]:
        if isinstance(node, exp.Query):
            yield node
            return
        for part in node.iter_expressions():
            yield from inside(part)

    return [query for part in _parts(select, sources) for query in inside(part)]


def _called(call: exp.Anonymous) -> str:
    return call.name.upper()


def _refuse_place(call: exp.Anonymous) -> NoReturn:
    refuse("E_FUNC", f"{_called(call)} is told of one released row at a time: of an aggregate over private rows, of "
           "arithmetic over such aggregates of one group, or of a column of a subquery that is one; of other numbers, "
           "such as those of a second GROUP BY, it is known last of all, and may only be a column of the outermost "
           "SELECT that nothing else reads", call)  # fmt: skip
