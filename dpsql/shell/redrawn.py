"""Intervals of what is made of several released rows: the shell once more, on tables whose noise is drawn again.

Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from dpsql.errors import Refused, ShellFailed, ShellStopped
from dpsql.estimate import Interval
from dpsql.query.aggregate import is_grouped
from dpsql.result_columns import Ends, Later, OutputColumn, Redrawn
from dpsql.schema import fold
from dpsql.shell.computed import Rows, drawn_types, is_number, summary, told
from dpsql.shell.extremes import extreme, farthest
from dpsql.shell.jumps import corners, may_jump
from dpsql.shell.sandbox import Sandbox, columns_of
from dpsql.shell.tainted import depends
from dpsql.shell.trace import trace

#: The draws of every table, the fewest that intervals are made of, and how many drawn rows there may be.
DRAWS, FEWEST, MOST_DRAWN = 1_000, 200, 300_000
#: The part of the draws in which a row has to appear.
OFTEN = 0.5
#: How many figures are found of each number that is wanted.
SEEN = 8
#: For each table, row and aggregate, what it is beyond the draws.
Beyond: TypeAlias = list[list[list[NDArray[np.float64]]]]
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
) -> Redrawn | None:
    """How the columns of the query's result that have no interval yet get one; None where none of them can.

    The query gives these columns and then ``hidden`` ones, which tell its rows apart whatever the noise is.
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
    extremes = {place: extreme(query, place, public) for place in wanted}
    greatest, least = (tuple(place for place in wanted if extremes[place] is each) for each in (exp.Max, exp.Min))
    sql = _over_draws(query, wanted, known, len(tainted), ends)
    return Redrawn(sql, wanted, known, tables, jumping, greatest, least)


def with_later(again: Redrawn | None, later: Sequence[Later]) -> Redrawn:
    """The same with the ends that are known last; refused where one of them can never be."""
    if again is None or any(each.of not in again.wanted for each in later):
        raise Refused("E_FUNC", "what DP_INTERVAL_LOW or DP_INTERVAL_HIGH is asked of has no interval: keys, texts and "
                      "dates have none, nor numbers whose rows nothing but noise tells apart; take an aggregate, and "
                      "give such rows a key")  # fmt: skip
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


def redrawn_intervals(
    sandbox: Sandbox, plan: Redrawn, tables: Mapping[str, Rows], rows: Sequence[Sequence[object]], confidence: float
) -> dict[tuple[int, int], Interval]:
    """The intervals of cells of the result, by row and column."""
    asked = [tables[name] for name in plan.tables]
    draws = min(DRAWS, MOST_DRAWN // max(sum(len(table.keys) for table in asked), 1))
    if draws < FEWEST or not rows:
        return {}
    beyond = farthest(asked, confidence)
    if plan.jumping:
        beyond = _beside(beyond, corners(asked, confidence))
    more = next((len(row[0]) for table in beyond for row in table if row), 0)
    sandbox.create("draws", {"draw": "BIGINT"})
    sandbox.insert("draws", [list(range(draws + more))], {"draw": "BIGINT"})
    for name, table, others in zip(plan.tables, asked, beyond, strict=True):
        put_drawn(sandbox, f"drawn {name}", table, draws, confidence, others)
    tail = (1 - confidence) / 2
    sql = plan.sql.replace(":low", repr(tail)).replace(":high", repr(1 - tail)).replace(":draws", str(draws))
    try:
        found = sandbox.execute(sql)
    except (ShellFailed, ShellStopped):
        return {}
    width, most = len(plan.known), 2 * sum(len(table.keys) for table in asked) + 2
    seen = [_seen(each[width + 2 :]) for each in found]
    varying = {at for at, _ in enumerate(plan.wanted) if any(row[at].varies for row in seen)}
    once: dict[object, list[_Seen]] = {}
    for each, own in zip(found, seen, strict=True):
        if each[width] == each[width + 1] >= OFTEN * draws:
            once[_identity(each[:width])] = own
    places: dict[object, list[int]] = {}
    for number, row in enumerate(rows):
        places.setdefault(_identity([row[place] for place in plan.known]), []).append(number)
    return {
        (numbers[0], column): interval
        for identity, numbers in places.items() if len(numbers) == 1 and identity in once
        for at, column in enumerate(plan.wanted) if at in varying
        if (interval := _told(once[identity][at], rows[numbers[0]][column], plan, column, most)) is not None
    }  # fmt: skip


def _told(seen: _Seen, value: object, plan: Redrawn, column: int, most: int) -> Interval | None:
    """The interval of a released value; one that jumps has no more than ``most`` different values."""
    if column in plan.jumping and seen.different <= most and seen.least is not None and seen.most is not None:
        ends = [each for each in (seen.least, seen.low, seen.most, seen.high) if each is not None]
        with suppress(TypeError, ValueError, OverflowError):
            ends.append(float(value))  # type: ignore[arg-type]
        return min(ends), max(ends)
    if column not in (*plan.greatest, *plan.least):
        return told(value, seen.low, seen.high, seen.mean)
    known = told(value, seen.low, seen.high, None)
    if known is None or seen.lowest is None or seen.highest is None:
        return known
    low, high, reach = *known, (seen.lowest, seen.highest)
    return (min(low, *reach), high) if column in plan.greatest else (low, max(high, *reach))


@dataclass(frozen=True)
class _Seen:
    """What was seen of a number: its ends and mean on the draws, what it is with all released numbers as low, and as
    high, as they may be among those like them, how far it goes at all corners, how many values it has.
    """

    low: float | None
    high: float | None
    mean: float | None
    lowest: float | None
    highest: float | None
    least: float | None
    most: float | None
    different: int

    @property
    def varies(self) -> bool:
        """Whether it is not the same whatever the noise is."""
        return self.low != self.high or self.least != self.most


def _seen(numbers: Sequence[Any]) -> list[_Seen]:
    """What was seen of each number that is wanted."""
    return [_Seen(*numbers[at : at + SEEN]) for at in range(0, len(numbers), SEEN)]


def _beside(first: Beyond, second: Beyond) -> Beyond:
    """The values of both, for each table, row and aggregate."""
    return [
        [[np.concatenate(each) for each in zip(*rows, strict=True)] for rows in zip(*tables, strict=True)]
        for tables in zip(first, second, strict=True)
    ]


def put_drawn(
    sandbox: Sandbox,
    name: str,
    table: Rows,
    draws: int,
    confidence: float,
    beyond: Sequence[Sequence[NDArray[np.float64]]] = (),
) -> None:
    """The rows of a released table on fresh draws of their noise, under that name, each with the number of its draw.

    What each aggregate of a row is ``beyond`` them comes after the draws.
    """
    fixed, width = columns_of(table), len(table.shape.aggregates)
    drawn = [table.draws(row, draws, confidence) for row in range(len(table.keys))]
    if beyond:
        drawn = [[np.concatenate(each) for each in zip(row, more, strict=True)]
                 for row, more in zip(drawn, beyond, strict=True)]  # fmt: skip
        draws += next((len(row[0]) for row in beyond if row), 0)
    types = {**drawn_types(table), "draw": "BIGINT"}
    data: list[list[object]] = [[value for value in column for _ in range(draws)] for column in fixed[: -width or None]]
    for place in range(width):
        if types[f"a{place}"] == "DOUBLE":
            values = [None if each != each else each for row in drawn for each in row[place].tolist()]
        else:
            values = [row[place] for row in table.aggregates for _ in range(draws)]
        data.append(values)
    data.append([draw for _ in drawn for draw in range(draws)])
    sandbox.create(name, types)
    sandbox.insert(name, data if drawn else [], types)


def _over_draws(query: exp.Query, wanted: Sequence[int], known: Sequence[int], width: int, ends: Sequence[Ends]) -> str:
    """The query on every draw at once, and of each row that is known the ends between which its values lie."""
    copy = _unlimited(query.copy())
    for node in list(copy.find_all(exp.Table)):
        if node.db == "released":
            inner = exp.Select(expressions=[exp.Star(except_=[exp.to_identifier("draw")])])
            inner = inner.from_(_released(f"drawn {node.name}"), copy=False)
            own = [name for each in ends if each.table == node.name for name in each.columns]
            inner = inner.select(*(_as_released(node.name, name) for name in own), copy=False)
            same = exp.EQ(this=_quoted("draw"), expression=_quoted("draw", _DRAWS))
            alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(node.name, quoted=True))
            node.replace(exp.Subquery(this=inner.where(same, copy=False), alias=alias.copy()))
    names = ", ".join(f"c{place}" for place in range(width))
    sides = [each for place in wanted for each in _sides(f"c{place}")]
    times = (f"{each} FILTER (WHERE draw < :draws)" for each in ("count(*)", "count(DISTINCT draw)"))
    items = [*(f"c{place}" for place in known), *times, *sides]
    return (f'SELECT {", ".join(items)} FROM released."draws" AS "{_DRAWS}", '
            f'LATERAL ({copy.sql(dialect="duckdb", comments=False)}) AS "{_DRAWN}"({names})'
            + (f" GROUP BY {', '.join(f'c{place}' for place in known)}" if known else ""))  # fmt: skip


def _sides(column: str) -> list[str]:
    """What `_Seen` holds of a column: of the draws alone, and of what is beyond them too."""
    value = f"TRY_CAST({column} AS DOUBLE)"
    on_draws = summary(column, ":low", ":high", "draw < :draws")
    first = [f"min({value}) FILTER (WHERE draw = :draws + {side} AND NOT isnan({value}))" for side in (0, 1)]
    number = f"FILTER (WHERE draw >= :draws + 2 AND NOT isnan({value}))"
    return [*on_draws, *first, f"min({value}) {number}", f"max({value}) {number}", f"count(DISTINCT {value})"]


def _as_released(table: str, name: str) -> exp.Expr:
    """The end of an interval of the row as it was released, whatever the draw."""
    row = exp.EQ(this=_quoted("row", table), expression=_quoted("row", f"drawn {table}"))
    value = exp.Select(expressions=[exp.Max(this=_quoted(name, table))]).from_(_released(table), copy=False)
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


def _identity(values: Sequence[object]) -> object:
    return tuple("NaN" if value != value else value if value.__hash__ is not None else repr(value) for value in values)


def _released(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True), db=exp.to_identifier("released", quoted=True))


def _quoted(name: str, table: str | None = None) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table and exp.to_identifier(table, quoted=True))
