"""How what is made of several released rows gets its intervals: the shell once more, on tables with noise drawn again.

Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from dpsql.errors import Refused
from dpsql.planning.estimators.estimate import Interval
from dpsql.planning.result_columns import Ends, Later, OutputColumn, Redrawn
from dpsql.postprocessing.intervals.lineage import trace
from dpsql.postprocessing.intervals.order_statistics import extremes, may_jump
from dpsql.postprocessing.intervals.ranges import column_from_zero, ends_of
from dpsql.postprocessing.resampling.dependence import computes_with, depends
from dpsql.postprocessing.resampling.percentiles import figures, is_of
from dpsql.postprocessing.resampling.resampled_tables import Kind, drawn_places, is_number
from dpsql.schema import fold
from dpsql.sql.analysis.grouping_levels import Cube
from dpsql.sql.binder.aggregates.aggregate import is_grouped
from dpsql.sql.emit.sandbox import SANDBOX
from dpsql.sql.ir.relation import Core

#: What chooses among numbers by their size, or tells how far they are apart.
CHOOSING = (exp.Max, exp.Min, exp.ArgMax, exp.ArgMin, exp.Greatest, exp.Least, exp.Abs, exp.Quantile, exp.Median,
            exp.PercentileCont, exp.PercentileDisc, exp.Mode, exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance,
            exp.VariancePop, exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile, exp.FirstValue, exp.LastValue,
            exp.NthValue, exp.First, exp.Last, exp.AnyValue, exp.ArrayAgg, exp.List, exp.Limit, exp.Fetch, exp.Offset,
            exp.Case, exp.If, exp.All, exp.Any, exp.Anonymous)  # fmt: skip
_DRAWS, _DRAWN, _BRANCH = "dpsql draws", "dpsql drawn", "dpsql branch"


def with_branches(query: exp.Query, public: Mapping[str, Sequence[str]]) -> tuple[exp.Query, int] | None:
    """A UNION ALL that tells of each row which branch it comes from, and of which numbered rows it is made where it is
    made of single ones; with the number of columns that tell it. None of any other query.
    """
    if not _is_union_all(query):
        return None
    copy = query.copy()
    branches = _branches(copy)
    traces = [trace(branch, public) for branch in branches]
    most = max(0 if traced is None else len(traced.tables) for traced in traces)
    for number, (branch, traced) in enumerate(zip(branches, traces, strict=True)):
        whole = branch if traced is None else traced.query
        missing = most - (0 if traced is None else len(traced.tables))
        more = [exp.cast(exp.null(), "bigint")] * missing + [exp.Literal.number(number)]
        for place, each in enumerate(more):
            whole.append("expressions", exp.alias_(each.copy(), f"{_BRANCH} {place}", quoted=True))
        if whole is not branch:
            branch.replace(whole)
    return copy, most + 1


def redrawn(
    query: exp.Query,
    public: Mapping[str, Sequence[str]],
    columns: Sequence[OutputColumn],
    hidden: int,
    ends: Sequence[Ends],
    shapes: Mapping[str, Core | Cube],
) -> Redrawn | None:
    """How the columns of the query's result that have no interval yet get one; None where none of them can.

    The query gives these columns and then ``hidden`` ones, which tell its rows apart whatever the noise is;
    ``shapes`` are the released tables that it reads.
    """
    tables = tuple(dict.fromkeys(node.name for node in query.find_all(exp.Table) if node.db == "released"))
    tainted = depends(query, public, [fold(column.name) for column in columns])
    if not tables or tainted is None or len(tainted) != len(columns) + hidden:
        return None
    wanted = tuple(
        place for place, column in enumerate(columns)
        if tainted[place] and column.aggregate is None and column.drawn is None and is_number(column.type)
    )  # fmt: skip
    if not wanted:
        return None
    known = tuple(place for place, depending in enumerate(tainted) if not depending)
    jumping = tuple(place for place in wanted if may_jump(query, place))
    behind = {place: extremes(query, place, public) for place in wanted}
    greatest, least = (tuple(place for place in wanted if each in behind[place]) for each in (exp.Max, exp.Min))
    fixed = {name: _undrawn(shapes[name]) for name in tables}
    if computes_with(query, fixed):
        return None
    for each in ends:
        if each.table in fixed:
            fixed[each.table] += each.columns
    sql = _over_draws(query, wanted, known, len(tainted), fixed)
    choosing = query.find(*CHOOSING) is not None and not set(wanted) <= {*greatest, *least}
    from_zero = tuple(place for place in wanted if column_from_zero(query, place, shapes))
    with_ends = computes_with(query, {name: [f"a{place}" for place in ends_of(shapes[name])] for name in tables})
    return Redrawn(sql, wanted, known, tables, jumping, greatest, least, choosing, from_zero, with_ends)


def with_later(again: Redrawn | None, later: Sequence[Later]) -> Redrawn:
    """The same with the ends that are known last; refused where one of them can never be."""
    if again is None or any(each.of not in again.wanted for each in later):
        raise Refused("E_FUNC", "what DP_INTERVAL_LOW or DP_INTERVAL_HIGH is asked of has no interval: keys, texts and "
                      "what is made of dates have none, nor numbers whose rows nothing but noise tells apart; take an "
                      "aggregate, and give such rows a key")  # fmt: skip
    return replace(again, beside=len(later), later=tuple(later))


def known_last(
    plan: Redrawn, rows: Sequence[Sequence[Any]], again: Mapping[tuple[int, int], Interval]
) -> list[tuple[Any, ...]]:
    """The rows with the ends of intervals that are known now."""
    found = []
    for number, row in enumerate(rows):
        cells = list(row)
        for each in plan.later:
            interval = again.get((number, each.of))
            cells[each.column] = None if interval is None else interval[each.side]
        found.append(tuple(cells))
    return found


def _undrawn(shape: Core | Cube) -> list[str]:
    """The columns of a released table that are on every draw as they were released: truth values, maps, lists …"""
    return [f"a{place}" for place in range(len(shape.aggregates)) if place not in drawn_places(shape)]


def _over_draws(
    query: exp.Query, wanted: Sequence[int], known: Sequence[int], width: int, fixed: Mapping[str, Sequence[str]]
) -> str:
    """The query on every draw at once, and of each row that is known the ends between which its values lie.

    ``fixed`` are the columns of each table that are as they were released, whatever the draw.
    """
    copy = _unlimited(query.copy())
    for node in list(copy.find_all(exp.Table)):
        if node.db == "released":
            inner = exp.Select(expressions=[exp.Star(except_=[exp.to_identifier("draw")])])
            inner = inner.from_(_released(f"drawn {node.name}"), copy=False)
            inner = inner.select(*(_as_released(node.name, name) for name in fixed[node.name]), copy=False)
            same = exp.EQ(this=_quoted("draw"), expression=_quoted("draw", _DRAWS))
            alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(node.name, quoted=True))
            node.replace(exp.Subquery(this=inner.where(same, copy=False), alias=alias.copy()))
    names = ", ".join(f"c{place}" for place in range(width))
    sides = [each for place in wanted for each in figures(f"c{place}")]
    times = (f"{each} FILTER (WHERE {is_of(Kind.NOISE)})" for each in ("count(*)", "count(DISTINCT draw)"))
    items = [*(f"c{place}" for place in known), *times, *sides]
    return (f'SELECT {", ".join(items)} FROM released."draws" AS "{_DRAWS}", '
            f'LATERAL ({SANDBOX.write(copy)}) AS "{_DRAWN}"({names})'
            + (f" GROUP BY {', '.join(f'c{place}' for place in known)}" if known else ""))  # fmt: skip


def _as_released(table: str, name: str) -> exp.Expr:
    """A column of the row as it was released, whatever the draw."""
    row = exp.EQ(this=_quoted("row", table), expression=_quoted("row", f"drawn {table}"))
    value = exp.Select(expressions=[exp.AnyValue(this=_quoted(name, table))]).from_(_released(table), copy=False)
    return exp.alias_(exp.Subquery(this=value.where(row, copy=False)), name, quoted=True)


def _unlimited(query: exp.Query) -> exp.Query:
    """The query with the rows that only their noise, or a LIMIT, keeps out of the result."""
    for select in _branches(query) if _is_union_all(query) else [query]:
        for part in ("order", "limit", "offset", "having", "qualify"):
            select.set(part, None)
        if isinstance(select, exp.Select) and not is_grouped(select) and select.find(exp.Window) is None:
            where = select.args.get("where")
            if where is not None and where.find(exp.Query) is None:
                select.set("where", None)
    for part in ("order", "limit", "offset"):
        query.set(part, None)
    return query


def _is_union_all(query: exp.Expr) -> bool:
    match query:
        case exp.Subquery():
            return not query.args.get("alias") and _is_union_all(query.this)
        case exp.Union():
            sides = (query.this, query.expression)
            return (
                not query.args.get("distinct")
                and not query.args.get("by_name")
                and all(isinstance(side.unnest(), exp.Select) or _is_union_all(side) for side in sides)
            )
        case _:
            return False


def _branches(query: exp.Expr) -> list[exp.Select]:
    match query:
        case exp.Select():
            return [query]
        case exp.Subquery():
            return _branches(query.this)
        case exp.Union():
            return [*_branches(query.this), *_branches(query.expression)]
        case _:
            return []


def _released(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True), db=exp.to_identifier("released", quoted=True))


def _quoted(name: str, table: str | None = None) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table and exp.to_identifier(table, quoted=True))
