"""DP_INTERVAL_LOW and DP_INTERVAL_HIGH: the ends of intervals as columns of released tables or of the result.

An end is known as soon as its row is released, so that the rest of the statement may use it as any other column.
Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

from sqlglot import exp

from dpsql.planning.estimators.linear_forms import ConfidenceInterval
from dpsql.planning.result_columns import DeferredEnd, IntervalEndColumns
from dpsql.postprocessing.intervals.dependence import CellOrigin, ColumnScope, origin_of, own_nodes
from dpsql.postprocessing.intervals.lineage import Lineage, RowPaths, carried
from dpsql.schema import fold
from dpsql.sql.emit.syntax import SANDBOX
from dpsql.sql.ir.refusal import refuse
from dpsql.sql.postprocess.functions import interval_end


def with_ends(
    shell: exp.Query, public: Mapping[str, Sequence[str]]
) -> tuple[exp.Query, tuple[IntervalEndColumns, ...], tuple[DeferredEnd, ...]]:
    """The shell with columns in the place of the calls, and what these columns hold.

    A call of what several released rows make is NULL until all rows are there, and its argument becomes a column behind
    those of the result. Such a call is refused where it is not a column of the outermost SELECT.

    Args:
        shell: the statement over released tables.
        public: the columns of the public tables that the shell reads.
    """
    query = shell.copy()
    calls = _Calls(public, query)
    calls.lineage.query(query)
    for call in query.find_all(exp.Anonymous):
        if interval_end(call) is not None:
            _refuse_place(call)
    width = len(query.expressions)
    for place, (_, argument) in enumerate(calls.later):
        query.append("expressions", exp.alias_(argument, f"dpsql beside {place}", quoted=True))
    later = tuple(DeferredEnd(each.column, width + place, each.side) for place, (each, _) in enumerate(calls.later))
    return query, tuple(calls.ends), later


def with_later_ends(
    later: Sequence[DeferredEnd],
    rows: Sequence[Sequence[object]],
    intervals: Mapping[tuple[int, int], ConfidenceInterval],
) -> list[tuple[object, ...]]:
    """The rows of the result with the ends that are known once all rows are there."""
    found = []
    for number, row in enumerate(rows):
        cells = list(row)
        for each in later:
            interval = intervals.get((number, each.of))
            cells[each.column] = None if interval is None else interval[each.side]
        found.append(tuple(cells))
    return found


class _Calls:
    """Replaces the calls of one statement; ``ends`` are those of released rows, ``later`` those of several rows."""

    def __init__(self, public: Mapping[str, Sequence[str]], outermost: exp.Query) -> None:
        self.lineage = Lineage(public, visit=self._visit)
        self._outermost = outermost
        self.ends: list[IntervalEndColumns] = []
        self.later: list[tuple[DeferredEnd, exp.Expr]] = []

    def _visit(self, select: exp.Select, scope: ColumnScope, ways: RowPaths) -> None:
        own = list(own_nodes(select, lambda node: interval_end(node) is not None))
        for call in own:
            side = interval_end(call)
            if isinstance(call, exp.Anonymous) and side is not None:
                _open_aliases(call, scope)
                self._replace(call, side, scope, ways)

    def _replace(self, call: exp.Anonymous, side: int, scope: ColumnScope, ways: RowPaths) -> None:
        argument = call.expressions[0]
        if any(interval_end(node) is not None for node in argument.find_all(exp.Anonymous)):
            refuse("E_FUNC", f"an interval has no interval of its own: {_called(call)} takes an aggregate, or "
                   "arithmetic over aggregates", call)  # fmt: skip
        origin = origin_of(argument, scope)
        if origin is None:
            self._replace_later(call, side)
            return
        if origin.aggregate is None and not origin.is_computed:
            refuse("E_FUNC", f"a key is exact and has no interval: {_called(call)} takes an aggregate, or arithmetic "
                   "over aggregates", call)  # fmt: skip
        column = self._ends(self.lineage.tables[origin.row], origin).columns[side]
        call.replace(carried(column, origin.row, ways[origin.row]))

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
        self.later.append((DeferredEnd(place, 0, side), call.expressions[0].copy()))
        call.replace(exp.cast(exp.null(), "double"))

    def _ends(self, table: str, origin: CellOrigin) -> IntervalEndColumns:
        sql = SANDBOX.write(origin.expression)
        for known in self.ends:
            if (known.table, known.sql) == (table, sql):
                return known
        self.ends.append(IntervalEndColumns(table, sql, len(self.ends), origin.aggregate))
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


def _open_aliases(call: exp.Anonymous, scope: ColumnScope) -> None:
    """Put what the SELECT list says in the place of its aliases, where no source has a column of that name."""
    for column in list(call.find_all(exp.Column)):
        name = fold(column.name)
        if not column.table and name in scope.items and not scope.named(column):
            column.replace(exp.Paren(this=scope.items[name].copy()))


def _called(call: exp.Anonymous) -> str:
    return call.name.upper()


def _refuse_place(call: exp.Anonymous) -> NoReturn:
    refuse("E_FUNC", f"{_called(call)} is told of one released row at a time: of an aggregate over private rows, of "
           "arithmetic over such aggregates of one group, or of a column of a subquery that is one; of other numbers, "
           "such as those of a second GROUP BY, it is known last of all, and may only be a column of the outermost "
           "SELECT that nothing else reads", call)  # fmt: skip
