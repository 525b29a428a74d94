"""Which cells are measured for the aggregates of a core, and how each aggregate is read off them.

Proved in ``docs/proofs/river.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpsql.estimate import Alone, Estimate, Mean, Shifted
from dpsql.query.bounds import is_nullable
from dpsql.query.quantum import quantum
from dpsql.query.relation import Aggregate, Cell, Core, Distinct, Rows, Total, Units
from dpsql.schema import SqlType


@dataclass(frozen=True)
class Choice:
    """The measured cells of a core, and for each of its aggregates how it is read off them."""

    cells: tuple[Cell, ...]
    estimates: tuple[Estimate, ...]


def choose_cells(core: Core) -> Choice:
    """The cells that the aggregates need, each bought once."""
    thresholded = bool(core.keys) and core.domain is None
    averaged = {(a.argument, a.condition) for a in core.aggregates if a.function == "avg"}
    cells: list[Cell] = []

    def place(cell: Cell) -> int:
        if cell not in cells:
            cells.append(cell)
        return cells.index(cell)

    def rows(aggregate: Aggregate) -> int:
        argument = aggregate.argument
        return place(Rows(argument if argument is not None and is_nullable(argument) else None, aggregate.condition))

    def estimate(aggregate: Aggregate) -> Estimate | None:
        argument, condition = aggregate.argument, aggregate.condition
        match aggregate.function:
            case "count":
                return Alone(rows(aggregate))
            case "units":
                return None if thresholded and condition is None else Alone(place(Units(condition)))
            case "count distinct":
                assert argument is not None
                return Alone(place(Distinct(argument, condition)))
            case "sum" | "avg":
                assert argument is not None
                centred = (argument, condition) in averaged
                total = place(Total(argument, condition, centred))
                if not centred:
                    return Alone(total)
                grid = quantum(argument)
                middle, reach = grid.middle * grid.size, grid.reach * grid.size
                if aggregate.function == "sum":
                    return Shifted(total, rows(aggregate), middle)
                return Mean(total, rows(aggregate), middle, reach)

    found = [estimate(aggregate) for aggregate in core.aggregates]
    estimates = tuple(Alone(len(cells)) if each is None else each for each in found)
    return Choice(tuple(cells), estimates)


def aggregate_type(aggregate: Aggregate) -> str:
    """The sandbox's type of a released aggregate: fixed by the plan, whatever the data hold."""
    if aggregate.function in ("count", "units", "count distinct"):
        return "BIGINT"
    assert aggregate.argument is not None
    return "DOUBLE" if aggregate.function == "avg" else sum_type(aggregate.argument.type)


def sum_type(sql_type: SqlType) -> str:
    """The type of a sum over values of the type."""
    match sql_type.kind:
        case "integer":
            return "BIGINT"
        case "decimal":
            return f"DECIMAL(38,{sql_type.scale})"
        case _:
            return "DOUBLE"
