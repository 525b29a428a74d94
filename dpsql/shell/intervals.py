"""Which columns of a result have intervals, and the simulated ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from dpsql.cubes import CubeTable
from dpsql.errors import OperationalError
from dpsql.estimate import Interval
from dpsql.plan import OutputColumn, Plan
from dpsql.release import ReleasedTable
from dpsql.shell.sandbox import Sandbox, column_types

#: The draws behind a simulated interval, and the most rows that get one.
DRAWS, MOST_SIMULATED = 1_000, 200


@dataclass(frozen=True)
class Traced:
    """For each output column, the aggregate of the core that it is and whether it is computed from such aggregates.

    Where the rows are those of a cube, ``cube`` is its place.
    """

    core: int
    cube: int | None
    columns: tuple[tuple[int | None, bool], ...]


def has_intervals(columns: Sequence[OutputColumn]) -> bool:
    """Whether some column of the result gets intervals; then the shell tells each row's place in the released table."""
    return any(column.aggregate is not None or column.simulated for column in columns)


def trace(shell: exp.Query) -> Traced | None:
    """Where the output columns come from; None where the rows of the result are not rows of one released table."""
    if not isinstance(shell, exp.Select) or shell.args.get("joins") or shell.args.get("group"):
        return None
    source = shell.args.get("from_")
    if shell.args.get("distinct") or source is None or not isinstance(source.this, exp.Table):
        return None
    if source.this.db != "released":
        return None
    traced: list[tuple[int | None, bool]] = []
    for item in shell.expressions:
        inner = item.unalias()
        if isinstance(inner, exp.Column):
            name = inner.name
            traced.append((int(name[1:]) if name.startswith("a") else None, False))
        else:
            read = {column.name[0] for column in inner.find_all(exp.Column)}
            plain = inner.find(exp.Window, exp.Query, exp.AggFunc) is None
            traced.append((None, plain and "a" in read))
    kind, place = source.this.name[:4], int(source.this.name[4:])
    return Traced(place if kind == "core" else 0, place if kind == "cube" else None, tuple(traced))


def with_row_numbers(shell: exp.Query) -> exp.Query:
    """The shell with the number of each row in its released table as its last column."""
    with_row = shell.copy()
    assert isinstance(with_row, exp.Select)
    source = str(with_row.args["from_"].this.alias_or_name)
    with_row.append("expressions", exp.column("row", table=source, quoted=True))
    return with_row


def intervals(
    sandbox: Sandbox, plan: Plan, name: str, table: ReleasedTable | CubeTable, places: Sequence[object]
) -> list[tuple[Interval | None, ...]]:
    """The interval of each cell of the result whose rows stand at ``places`` in the released table."""
    simulated = _simulate(sandbox, plan, name, table, places)

    def cell(place: object, number: int, column: OutputColumn) -> Interval | None:
        if not isinstance(place, int):
            return None
        if column.aggregate is not None:
            return table.intervals[place][column.aggregate]
        return simulated.get((place, number))

    return [tuple(cell(place, number, column) for number, column in enumerate(plan.columns)) for place in places]


def _simulate(
    sandbox: Sandbox, plan: Plan, name: str, table: ReleasedTable | CubeTable, places: Sequence[object]
) -> dict[tuple[int, int], Interval]:
    """Intervals of expressions over aggregates: the middle of what they give on fresh draws of the noise."""
    wanted = [number for number, column in enumerate(plan.columns) if column.simulated]
    rows = sorted({place for place in places if isinstance(place, int)})
    if not wanted or not rows or len(rows) > MOST_SIMULATED:
        return {}
    drawn = [table.draws(row, DRAWS, plan.confidence) for row in rows]
    data: list[list[object]] = [[row for row in rows for _ in range(DRAWS)]]
    fixed = list(zip(*((*table.keys[row], *table.totals[row]) for row in rows), strict=True))
    data += [[value for value in column for _ in range(DRAWS)] for column in fixed]
    data += [
        [None if number != number else number for draws in drawn for number in draws[place].tolist()]
        for place in range(len(table.shape.aggregates))
    ]
    types = {
        each: "DOUBLE" if each.startswith("a") and sql != "BOOLEAN" else sql
        for each, sql in column_types(table.shape).items()
    }
    sandbox.create(name, types)
    sandbox.insert(name, data, types)
    tail = (1 - plan.confidence) / 2
    inner = f"SELECT * FROM ({plan.shell}) AS drawn({', '.join(f'c{n}' for n in range(len(plan.columns)))}, r)"
    parts = ", ".join(
        f"quantile_cont(TRY_CAST(c{n} AS DOUBLE), {tail}), quantile_cont(TRY_CAST(c{n} AS DOUBLE), {1 - tail})"
        for n in wanted
    )
    try:
        found = sandbox.execute(f"SELECT r, {parts} FROM ({inner}) GROUP BY r")
    except OperationalError:
        return {}
    return {
        (row[0], number): (row[1 + 2 * place], row[2 + 2 * place])
        for row in found
        for place, number in enumerate(wanted)
        if row[1 + 2 * place] is not None
    }
