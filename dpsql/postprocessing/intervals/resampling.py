"""Intervals by parametric resampling.

The percentiles of a statement on released tables with their noise drawn again. Proved in
``docs/proofs/ends.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from sqlglot import exp

from dpsql.errors import PostProcessingFailed, PostProcessingStopped
from dpsql.planning.estimators.linear_forms import ConfidenceInterval
from dpsql.planning.result_columns import OutputColumn, Resampling, is_number
from dpsql.postprocessing.intervals.dependence import Dependence
from dpsql.postprocessing.intervals.exact_forms import AnyReleasedTable, known_noises
from dpsql.postprocessing.intervals.lineage import TracedQuery
from dpsql.postprocessing.sandbox import Sandbox
from dpsql.sql.analysis.grouping_levels import Cube
from dpsql.sql.emit.syntax import SANDBOX
from dpsql.sql.ir.aggregate_properties import KnownNoise
from dpsql.sql.ir.core import Core

#: How many samples of its noise a table gets, and the fewest of which percentiles are taken.
SAMPLES = 1_000
FEWEST = 200
#: How many rows may be made of all tables and samples,
#: and the most released rows behind a #: statement.
MOST_MADE = 300_000
MOST_RESAMPLED_ROWS = MOST_MADE // FEWEST
_SAMPLES = "dpsql samples"
_RESULT = "dpsql result"


def drawn_again(shape: Core | Cube) -> list[int]:
    """The places of the aggregates whose noise is drawn again."""
    return [index for index, known in enumerate(known_noises(shape)) if known >= KnownNoise.DRAWS]


def interval_of(
    value: object, low: float | None, high: float | None, mean: float | None
) -> ConfidenceInterval | None:
    """The interval of a released value, from samples of how far noise moves it.

    The samples show this to both sides and on the average. The interval holds both the percentile
    and the pivotal interval, and is longer if noise moves the value to one side.
    """
    if low is None or high is None:
        return None
    middle = math.nan if value is None else float(value)  # type: ignore[arg-type]
    if not all(map(math.isfinite, (low, middle, high))):
        return (low, high) if math.isnan(middle) else (min(low, middle), max(high, middle))
    moved = 0.0 if mean is None else 2 * (mean - middle)
    return min(low, 2 * middle - high) - max(moved, 0.0), max(high, 2 * middle - low) + max(
        -moved, 0.0
    )


def resampled_query(
    traced: TracedQuery, columns: Sequence[OutputColumn], shapes: Mapping[str, Core | Cube]
) -> Resampling | None:
    """The resampling of columns that are not read off one released row; None without any.

    Args:
        traced: the query.
        columns: those of its result.
        shapes: the released tables that it reads.
    """
    query = traced.all_rows.copy()
    width = len(columns)
    tables = tuple(
        dict.fromkeys(node.name for node in query.find_all(exp.Table) if node.db == "released")
    )
    depending = [column.dependence for column in traced.columns]
    depending = depending if len(depending) == width else [Dependence.CHOSEN] * width
    numbers = [
        index
        for index, column in enumerate(columns)
        if not column.is_read_off and is_number(column.type)
    ]
    smooth = tuple(number for number in numbers if depending[number] is Dependence.SMOOTH)
    without = tuple(number for number in numbers if depending[number] is Dependence.CHOSEN)
    if not tables or not (smooth or without):
        return None
    depending += [Dependence.PUBLIC] * len(traced.tables)
    known = tuple(
        index for index, dependence in enumerate(depending) if dependence is Dependence.PUBLIC
    )
    sql = _on_samples(query, smooth, known, len(depending), shapes=shapes) if smooth else ""
    return Resampling(sql, smooth, known, tables, without=without)


def resampled_intervals(
    sandbox: Sandbox,
    plan: Resampling,
    tables: Mapping[str, AnyReleasedTable],
    rows: Sequence[Sequence[object]],
    confidence: float,
) -> dict[tuple[int, int], ConfidenceInterval] | None:
    """The intervals of cells of the result, by row and column.

    None if the statement fails on the samples.
    """
    samples = min(SAMPLES, MOST_MADE // max(sum(len(tables[name].keys) for name in plan.tables), 1))
    if samples < FEWEST or not rows or not plan.wanted:
        return {}
    types = {"sample": "BIGINT"}
    sandbox.create(_SAMPLES, types)
    sandbox.insert(_SAMPLES, [list(range(samples))], types)
    for name in plan.tables:
        _put_samples(sandbox, name, tables[name], samples, confidence=confidence)
    tails = {":low": repr((1 - confidence) / 2), ":high": repr((1 + confidence) / 2)}
    try:
        sampled_rows = sandbox.execute(
            plan.sql.replace(":low", tails[":low"]).replace(":high", tails[":high"])
        )
    except (PostProcessingFailed, PostProcessingStopped):
        return None
    width = len(plan.known)
    seen = {
        _identity(sampled_row[:width]): [
            sampled_row[at : at + 3] for at in range(width + 1, len(sampled_row), 3)
        ]
        for sampled_row in sampled_rows
        if sampled_row[width] == samples
    }
    varying = [
        at
        for at, _ in enumerate(plan.wanted)
        if any(
            sampled_row[width + 1 + 3 * at] != sampled_row[width + 2 + 3 * at]
            for sampled_row in sampled_rows
        )
    ]
    places_of: dict[object, list[int]] = {}
    for number, row in enumerate(rows):
        places_of.setdefault(
            _identity([row[column_number] for column_number in plan.known]), []
        ).append(number)
    intervals = {}
    for identity, numbers in places_of.items():
        for at in varying if len(numbers) == 1 and identity in seen else ():
            column = plan.wanted[at]
            interval = interval_of(rows[numbers[0]][column], *seen[identity][at])
            if interval is not None:
                intervals[numbers[0], column] = interval
    return intervals


def _put_samples(
    sandbox: Sandbox, name: str, table: AnyReleasedTable, samples: int, confidence: float
) -> None:
    """Put a released table's rows into the sandbox with fresh draws of aggregates, on each sample.

    Sample s of several tables belongs together; what is no number is NULL.
    """
    rows = range(len(table.keys))
    places = drawn_again(table.shape)
    types = {"row": "BIGINT", "sample": "BIGINT", **{f"a{index}": "DOUBLE" for index in places}}
    data: list[list[object]] = [
        [row for row in rows for _ in range(samples)],
        [*range(samples)] * len(rows),
    ]
    data += [[] for _ in places]
    for row in rows:
        again = table.draws(row, samples, confidence)
        for column, index in zip(data[2:], places, strict=True):
            column += [None if value != value else value for value in again[index].tolist()]
    sandbox.create(_sampled(name), types)
    sandbox.insert(_sampled(name), data, types)


def _on_samples(
    query: exp.Query,
    resampled: Sequence[int],
    known: Sequence[int],
    width: int,
    shapes: Mapping[str, Core | Cube],
) -> str:
    """The query on every sample at once, with the percentiles of each known row's values.

    ``:low`` and ``:high`` stand for the tails.
    """
    for node in list(query.find_all(exp.Table)):
        if node.db == "released":
            alias = node.args.get("alias") or exp.TableAlias(
                this=exp.to_identifier(node.name, quoted=True)
            )
            node.replace(
                exp.Subquery(this=_sample_of(node.name, shapes[node.name]), alias=alias.copy())
            )
    names = ", ".join(f"c{index}" for index in range(width))
    keys = [f"c{number}" for number in known]
    figures = [percentile for number in resampled for percentile in _percentiles(f"c{number}")]
    return (
        f"SELECT {', '.join([*keys, 'count(*)', *figures])} "
        f'FROM released."{_SAMPLES}", LATERAL ({SANDBOX.write(query)}) '
        f'AS "{_RESULT}"({names})' + (f" GROUP BY {', '.join(keys)}" if keys else "")
    )


def _percentiles(column: str) -> list[str]:
    """The percentiles of a column's values on all samples and the mean of finite ones, as SQL.

    If a percentile is infinite, both are the farthest values. What is no number on a sample is left
    out.
    """
    value = f"TRY_CAST({column} AS DOUBLE)"
    number = f"FILTER (WHERE NOT isnan({value}))"
    ends = [f"quantile_cont({value}, {tail}) {number}" for tail in (":low", ":high")]
    infinite = " OR ".join(f"isinf({end})" for end in ends)
    low, high = (
        f"CASE WHEN {infinite} THEN {side}({value}) {number} ELSE {end} END"
        for side, end in zip(("min", "max"), ends, strict=True)
    )
    return [low, high, f"avg({value}) FILTER (WHERE isfinite({value}))"]


def _sample_of(name: str, shape: Core | Cube) -> exp.Expr:
    """The released table on the sample that the query is run on.

    What is not drawn again is as it was released.
    """
    again = [f'"a{index}"' for index in drawn_again(shape)]
    listed = [
        "t.*" + (f" EXCLUDE ({', '.join(again)})" if again else ""),
        *(f"s.{column}" for column in again),
    ]
    drawn = f'released."{_sampled(name)}" AS s ON t."row" = s."row"'
    return SANDBOX.parse(
        f'SELECT {", ".join(listed)} FROM released."{name}" AS t JOIN {drawn} '
        f'WHERE s."sample" = "{_SAMPLES}"."sample"'
    )


def _identity(values: Sequence[object]) -> object:
    return tuple(map(_hashable, values))


def _hashable(value: object) -> object:
    """The value, or a text for it if it is NaN or has no hash."""
    if value != value:
        return "NaN"
    return value if value.__hash__ is not None else repr(value)


def _sampled(name: str) -> str:
    """The name of the table that holds the samples of a released table."""
    return f"{name} samples"
