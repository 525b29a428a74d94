"""Intervals by parametric resampling: released tables with their noise drawn again, and percentiles of what they make.

Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from dpsql.errors import PostProcessingFailed, PostProcessingStopped, Refused
from dpsql.planning.estimators.linear_forms import ConfidenceInterval
from dpsql.planning.estimators.quantiles import dates, is_date
from dpsql.planning.result_columns import DeferredEnd, OutputColumn, Resampling, is_number
from dpsql.postprocessing.intervals.dependence import Dependence
from dpsql.postprocessing.intervals.lineage import Lineage, branches
from dpsql.postprocessing.sandbox import Sandbox, column_types
from dpsql.release.grouping_sets import CubeTable
from dpsql.release.released_tables import ReleasedTable
from dpsql.schema import fold
from dpsql.sql.analysis.grouping_levels import Cube
from dpsql.sql.binder.aggregates.aggregate import is_grouped
from dpsql.sql.emit.syntax import SANDBOX
from dpsql.sql.ir.core import Core

AnyReleasedTable: TypeAlias = ReleasedTable | CubeTable

#: How many samples of its noise a table gets, and the fewest of which percentiles are taken.
SAMPLES, FEWEST = 1_000, 200
#: How many rows may be made of all tables and samples, and the most released rows behind a statement.
MOST_MADE = 300_000
MOST_RESAMPLED_ROWS = MOST_MADE // FEWEST
#: The part of the samples on which a row has to appear.
OFTEN = 0.5
_SAMPLES, _RESULT = "dpsql samples", "dpsql result"


def has_noise(shape: Core | Cube, place: int) -> bool:
    """Whether the aggregate is a number or a date of which it is known how far noise moves it."""
    kind = column_types(shape)[f"a{place}"]
    return shape.aggregates[place].function.is_resampled and (is_number(kind) or is_date(kind))


def is_resampled(shape: Core | Cube, place: int) -> bool:
    """Whether the noise of the aggregate is drawn again. MIN and MAX are none: their intervals end at a declared bound,
    which no sample reaches.
    """
    ranks = shape.aggregates[place].ranks
    return has_noise(shape, place) and not (ranks is not None and ranks.edge)


def chosen_columns(shape: Core | Cube) -> list[str]:
    """The columns of a released table of which no sample tells how far noise moves what is made of them."""
    return [f"a{place}" for place in range(len(shape.aggregates)) if not is_resampled(shape, place)]


def column_values(samples: NDArray[np.float64], released: object, sql_type: str) -> Sequence[object]:
    """An aggregate's samples in the type of its column; a sample that is no number is NULL, or the released date."""
    if is_date(sql_type):
        known = dates(np.where(np.isnan(samples), 0.0, samples), sql_type)
        return [released if missing else each for missing, each in zip(np.isnan(samples).tolist(), known, strict=True)]
    return [None if value != value else value for value in samples.tolist()]


def put_samples(
    sandbox: Sandbox,
    name: str,
    table: AnyReleasedTable,
    rows: Sequence[int],
    places: Collection[int],
    samples: int,
    confidence: float,
) -> None:
    """Put a table into the sandbox with these aggregates of these rows on each sample of their noise.

    Its columns are ``row``, ``sample`` and the aggregates; sample s of several tables belongs together.
    """
    kinds = column_types(table.shape)
    types = {f"a{place}": kinds[f"a{place}"] for place in sorted(places)}
    types = {name: kind if is_date(kind) else "DOUBLE" for name, kind in types.items()}
    data: list[list[object]] = [[row for row in rows for _ in range(samples)], [*range(samples)] * len(rows)]
    data += [[] for _ in types]
    for row in rows:
        again = table.draws(row, samples, confidence)
        for column, place in enumerate(sorted(places), 2):
            data[column] += column_values(again[place], table.aggregates[row][place], types[f"a{place}"])
    types = {"row": "BIGINT", "sample": "BIGINT", **types}
    sandbox.create(name, types)
    sandbox.insert(name, data, types)


def tails(confidence: float) -> tuple[str, str]:
    """The parts of the samples that lie below the lower and below the upper end of an interval, as SQL."""
    return repr((1 - confidence) / 2), repr((1 + confidence) / 2)


def percentiles(sql: str, low: str, high: str) -> list[str]:
    """Both percentiles of an expression's values on all samples, and the mean of those that are finite, as SQL.

    Where a percentile is infinite, both are the farthest values. What is no number on a sample is left out.
    """
    value = f"TRY_CAST({sql} AS DOUBLE)"
    number = f"FILTER (WHERE NOT isnan({value}))"
    ends = [f"quantile_cont({value}, {part}) {number}" for part in (low, high)]
    infinite = " OR ".join(f"isinf({end})" for end in ends)
    low_end, high_end = (f"CASE WHEN {infinite} THEN {side}({value}) {number} ELSE {end} END"
                 for side, end in zip(("min", "max"), ends, strict=True))  # fmt: skip
    return [low_end, high_end, f"avg({value}) FILTER (WHERE isfinite({value}))"]


def interval_of(value: object, low: float | None, high: float | None, mean: float | None) -> ConfidenceInterval | None:
    """The interval of a released value, of which samples show how far noise moves it, to both sides and on the average.

    It holds both the percentile and the pivotal interval, and is longer where noise moves the value to one side.
    """
    if low is None or high is None:
        return None
    middle = as_number(value)
    if not all(map(math.isfinite, (low, middle, high))):
        return (low, high) if math.isnan(middle) else (min(low, middle), max(high, middle))
    moved = 0.0 if mean is None else 2 * (mean - middle)
    return min(low, 2 * middle - high) - max(moved, 0.0), max(high, 2 * middle - low) + max(-moved, 0.0)


def as_number(value: object) -> float:
    """The value as a double; NaN where it is no number, or too large for one.

    >>> as_number(3), as_number("three"), as_number(10**400)
    (3.0, nan, nan)
    """
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan


def resampled_query(
    query: exp.Query,
    public: Mapping[str, Sequence[str]],
    columns: Sequence[OutputColumn],
    hidden: int,
    shapes: Mapping[str, Core | Cube],
) -> Resampling | None:
    """How the columns of the query's result that are made of several rows get intervals; None where there are none.

    Args:
        query: gives these columns and then ``hidden`` ones, which tell its rows apart whatever the noise is.
        public: the columns of the public tables that the query reads.
        columns: those of the result.
        hidden: how many columns stand behind them.
        shapes: the released tables that the query reads.
    """
    tables = tuple(dict.fromkeys(node.name for node in query.find_all(exp.Table) if node.db == "released"))
    copy = _unlimited(query.copy())
    chosen = {name: chosen_columns(shapes[name]) for name in tables}
    found = Lineage(public, chosen).query(copy, [fold(column.name) for column in columns]).columns
    if not tables or found is None or len(found) != len(columns) + hidden:
        return None
    depending = [each.dependence for each in found]
    numbers = [place for place, column in enumerate(columns)
               if column.aggregate is None and column.computed is None and is_number(column.type)]  # fmt: skip
    wanted = tuple(place for place in numbers if depending[place] is Dependence.SMOOTH)
    without = tuple(place for place in numbers if depending[place] is Dependence.CHOSEN)
    if not wanted and not without:
        return None
    known = tuple(place for place, each in enumerate(depending) if each is Dependence.PUBLIC)
    sql = _on_samples(copy, wanted, known, len(depending), shapes) if wanted else ""
    return Resampling(sql, wanted, known, tables, without)


def with_later(resampling: Resampling | None, later: Sequence[DeferredEnd]) -> Resampling:
    """The same with the ends that are known last; refused where one of them can never be."""
    if resampling is None or any(each.of not in resampling.wanted for each in later):
        raise Refused("E_FUNC", "what DP_INTERVAL_LOW or DP_INTERVAL_HIGH is asked of has no interval: keys, texts and "
                      "what is made of dates have none, nor have ranks, MAX, MIN, conditions and other choices among "
                      "released numbers, nor numbers whose rows nothing but noise tells apart; take an aggregate, and "
                      "give such rows a key")  # fmt: skip
    return replace(resampling, beside=len(later), later=tuple(later))


def resampled_intervals(
    sandbox: Sandbox,
    plan: Resampling,
    tables: Mapping[str, AnyReleasedTable],
    rows: Sequence[Sequence[object]],
    confidence: float,
) -> dict[tuple[int, int], ConfidenceInterval] | None:
    """The intervals of cells of the result, by row and column; None where the statement fails on the samples."""
    samples = min(SAMPLES, MOST_MADE // max(sum(len(tables[name].keys) for name in plan.tables), 1))
    if samples < FEWEST or not rows or not plan.wanted:
        return {}
    types = {"sample": "BIGINT"}
    sandbox.create(_SAMPLES, types)
    sandbox.insert(_SAMPLES, [list(range(samples))], types)
    for name in plan.tables:
        table = tables[name]
        places = [place for place in range(len(table.shape.aggregates)) if is_resampled(table.shape, place)]
        put_samples(sandbox, _sampled(name), table, range(len(table.keys)), places, samples, confidence)
    low, high = tails(confidence)
    try:
        found = sandbox.execute(plan.sql.replace(":low", low).replace(":high", high))
    except (PostProcessingFailed, PostProcessingStopped):
        return None
    width = len(plan.known)
    seen = {_identity(each[:width]): [each[at : at + 3] for at in range(width + 2, len(each), 3)]
            for each in found if each[width] == each[width + 1] >= OFTEN * samples}  # fmt: skip
    varying = [at for at, _ in enumerate(plan.wanted)
               if any(each[width + 2 + 3 * at] != each[width + 3 + 3 * at] for each in found)]  # fmt: skip
    places_of: dict[object, list[int]] = {}
    for number, row in enumerate(rows):
        places_of.setdefault(_identity([row[place] for place in plan.known]), []).append(number)
    intervals = {}
    for identity, numbers in places_of.items():
        for at in varying if len(numbers) == 1 and identity in seen else ():
            column = plan.wanted[at]
            interval = interval_of(rows[numbers[0]][column], *seen[identity][at])
            if interval is not None:
                intervals[numbers[0], column] = interval
    return intervals


def _on_samples(
    query: exp.Query, wanted: Sequence[int], known: Sequence[int], width: int, shapes: Mapping[str, Core | Cube]
) -> str:
    """The query on every sample at once, and of each row that is known the percentiles of its values.

    ``:low`` and ``:high`` stand for the tails.
    """
    for node in list(query.find_all(exp.Table)):
        if node.db == "released":
            alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(node.name, quoted=True))
            node.replace(exp.Subquery(this=_sample_of(node.name, shapes[node.name]), alias=alias.copy()))
    names = ", ".join(f"c{place}" for place in range(width))
    keys = [f"c{place}" for place in known]
    figures = [each for place in wanted for each in percentiles(f"c{place}", ":low", ":high")]
    return (f'SELECT {", ".join([*keys, "count(*)", f"""count(DISTINCT "{_SAMPLES}".sample)""", *figures])} '
            f'FROM released."{_SAMPLES}", LATERAL ({SANDBOX.write(query)}) '
            f'AS "{_RESULT}"({names})' + (f" GROUP BY {', '.join(keys)}" if keys else ""))  # fmt: skip


def _sample_of(name: str, shape: Core | Cube) -> exp.Select:
    """The released table on the sample that the query is run on; what is not drawn again is as it was released."""
    again = [f"a{place}" for place in range(len(shape.aggregates)) if is_resampled(shape, place)]
    star = exp.Star(except_=[exp.to_identifier(each, quoted=True) for each in again])
    own = exp.Column(this=star, table=exp.to_identifier(name, quoted=True))
    values = (_quoted(each, _sampled(name)) for each in again)
    joined = exp.EQ(this=_quoted("row", name), expression=_quoted("row", _sampled(name)))
    same = exp.EQ(this=_quoted("sample", _sampled(name)), expression=_quoted("sample", _SAMPLES))
    select = exp.Select(expressions=[own, *values]).from_(_released(name), copy=False)
    return select.join(_released(_sampled(name)), on=joined, copy=False).where(same, copy=False)


def _unlimited(query: exp.Query) -> exp.Query:
    """The query with the rows that only their noise, or a LIMIT, keeps out of the result."""
    selects: Sequence[exp.Query] = branches(query) or [query]
    for select in selects:
        for part in ("order", "limit", "offset", "having", "qualify"):
            select.set(part, None)
        if isinstance(select, exp.Select) and not is_grouped(select) and select.find(exp.Window) is None:
            where = select.args.get("where")
            if where is not None and where.find(exp.Query) is None:
                select.set("where", None)
    for part in ("order", "limit", "offset"):
        query.set(part, None)
    return query


def _identity(values: Sequence[object]) -> object:
    return tuple("NaN" if value != value else value if value.__hash__ is not None else repr(value) for value in values)


def _sampled(name: str) -> str:
    """The name of the table that holds the samples of a released table."""
    return f"{name} samples"


def _released(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True), db=exp.to_identifier("released", quoted=True))


def _quoted(name: str, table: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), exp.to_identifier(table, quoted=True))
