"""Which columns of a result have intervals, and the simulated ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from dpsql.cubes import CubeTable
from dpsql.errors import ShellFailed, ShellStopped
from dpsql.estimate import Interval
from dpsql.plan import OutputColumn, Plan
from dpsql.release import ReleasedTable
from dpsql.schema import fold
from dpsql.shell.origin import Origin
from dpsql.shell.sandbox import Sandbox, column_types
from dpsql.shell.trace import Traced

Rows: TypeAlias = ReleasedTable | CubeTable

#: The draws behind a simulated interval, and the most rows that get one.
DRAWS, MOST_SIMULATED = 1_000, 200


def output_columns(described: Sequence[tuple[str, str]], traced: Traced | None) -> tuple[OutputColumn, ...]:
    """The columns of a result, each with what its interval is read off or drawn from."""
    names = [fold(name) for name, _ in described]

    def origin_of(place: int) -> Origin | None:
        if traced is None:
            return None
        if traced.ordered is not None:
            return traced.ordered[place]
        return traced.columns.get(names[place]) if names.count(names[place]) == 1 else None

    def column(place: int, name: str, sql_type: str) -> OutputColumn:
        origin = origin_of(place)
        if traced is None or origin is None:
            return OutputColumn(name, sql_type)
        kind, number = traced.tables[origin.row][:4], int(traced.tables[origin.row][4:])
        drawn = origin.expression.sql(dialect="duckdb") if origin.is_computed else None
        core, cube = (number, None) if kind == "core" else (0, number)
        return OutputColumn(name, sql_type, origin.aggregate, drawn, origin.row, core, cube)

    return tuple(column(place, *each) for place, each in enumerate(described))


def has_intervals(columns: Sequence[OutputColumn]) -> bool:
    """Whether some column of the result gets intervals; then the shell numbers the released rows behind each row."""
    return any(column.aggregate is not None or column.drawn is not None for column in columns)


def intervals(
    sandbox: Sandbox, plan: Plan, tables: Mapping[str, Rows], numbers: Sequence[Sequence[object]]
) -> list[tuple[Interval | None, ...]]:
    """The interval of each cell of a result whose rows stand on the numbered rows of released tables."""
    simulated = _simulate(sandbox, plan, tables, numbers)

    def cell(places: Sequence[object], number: int, column: OutputColumn) -> Interval | None:
        place = places[column.row] if column.row < len(places) else None
        if not isinstance(place, int):
            return None
        if column.aggregate is not None:
            return tables[column.table].intervals[place][column.aggregate]
        return simulated.get((number, place))

    return [tuple(cell(places, number, column) for number, column in enumerate(plan.columns)) for places in numbers]


def _simulate(
    sandbox: Sandbox, plan: Plan, tables: Mapping[str, Rows], numbers: Sequence[Sequence[object]]
) -> dict[tuple[int, int], Interval]:
    """Intervals of expressions over aggregates: the middle of what they give on fresh draws of the noise."""
    found: dict[tuple[int, int], Interval] = {}
    for row, table in sorted({(each.row, each.table) for each in plan.columns if each.drawn is not None}):
        rows = sorted({place for places in numbers if isinstance(place := places[row], int)})
        wanted = {n: each.drawn for n, each in enumerate(plan.columns) if each.drawn is not None and each.row == row}
        if rows and len(rows) <= MOST_SIMULATED:
            _put_draws(sandbox, tables[table], rows, plan.confidence)
            found |= _middles(sandbox, wanted, plan.confidence)
    return found


def _put_draws(sandbox: Sandbox, table: Rows, rows: Sequence[int], confidence: float) -> None:
    """Rows of a released table as they would be on fresh draws of their noise, as the table ``drawn``."""
    drawn = [table.draws(row, DRAWS, confidence) for row in rows]
    data: list[list[object]] = [[row for row in rows for _ in range(DRAWS)]]
    fixed = list(zip(*((*table.keys[row], *table.totals[row]) for row in rows), strict=True))
    data += [[value for value in column for _ in range(DRAWS)] for column in fixed]
    data += [
        [None if number != number else number for draws in drawn for number in draws[place].tolist()]
        for place in range(len(table.shape.aggregates))
    ]
    types = column_types(table.shape)
    for place, aggregate in enumerate(table.shape.aggregates):
        if aggregate.function not in ("every", "some", "histogram", "mode", "top k"):
            types[f"a{place}"] = "DOUBLE"
    sandbox.create("drawn", types)
    sandbox.insert("drawn", data, types)


def _middles(sandbox: Sandbox, wanted: Mapping[int, str], confidence: float) -> dict[tuple[int, int], Interval]:
    """For each expression and row, the interval in which the middle of its values on the draws lies."""
    tail = (1 - confidence) / 2
    parts = ", ".join(
        f"quantile_cont(TRY_CAST({sql} AS DOUBLE), {tail}), quantile_cont(TRY_CAST({sql} AS DOUBLE), {1 - tail})"
        for sql in wanted.values()
    )
    try:
        found = sandbox.execute(f'SELECT "row", {parts} FROM released."drawn" GROUP BY "row"')
    except (ShellFailed, ShellStopped):
        return {}
    return {
        (number, row[0]): (row[1 + 2 * place], row[2 + 2 * place])
        for row in found
        for place, number in enumerate(wanted)
        if row[1 + 2 * place] is not None
    }
