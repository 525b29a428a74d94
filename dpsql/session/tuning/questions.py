"""What a tuning asks of a table: its questions, and the statement in which each unit has one row.

Proved in ``docs/proofs/tune.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dpsql.planning.tuning import Question, Sought, of_bounds, of_limits
from dpsql.schema import Schema
from dpsql.schema.authoring.missing_limits import GROUPS, ROWS, ROWS_PER_GROUP, LimitName, MissingLimits

#: What each limit is found by, and the column of the statement that has it.
_SOUGHT: dict[LimitName, tuple[Sought, str]] = {
    ROWS: ("rows per unit", "n"),
    GROUPS: ("groups per unit", "g"),
    ROWS_PER_GROUP: ("rows per group", "m"),
}


@dataclass(frozen=True)
class TableQuestions:
    """The questions that are asked of one table, and a statement with a SUM over the place of each, one row a unit."""

    questions: tuple[Question, ...]
    statement: str


def questions_of(missing: MissingLimits) -> list[TableQuestions]:
    """What is asked of each table of which something is to be found."""
    return [_of_table(missing, name) for name in missing.tables]


def _of_table(missing: MissingLimits, name: str) -> TableQuestions:
    asked: list[tuple[Question, str]] = [
        (Question(name, None, _SOUGHT[limit][0], of_limits()), _SOUGHT[limit][1]) for limit in missing.limits[name]
    ]
    columns = missing.bounds[name]
    for place, column in enumerate(columns):
        ladder = of_bounds(missing.schema.tables[name].columns[column].type)
        asked += [(Question(name, column, "low", ladder), f"l{place}"),
                  (Question(name, column, "high", ladder), f"h{place}")]  # fmt: skip
    places = ", ".join(f"SUM({question.ladder.place(column)})" for question, column in asked)
    units = "\n".join(_units(missing.schema, name, missing.keys[name], columns))
    return TableQuestions(tuple(question for question, _ in asked), f"SELECT {places} FROM ({units}) AS units")


def _units(schema: Schema, name: str, keys: Sequence[str], columns: Sequence[str]) -> Iterator[str]:
    """One row a unit: its rows, its groups, the most rows in one of them, minus its least values, its largest."""
    values = [(f"l{place}", f"h{place}") for place in range(len(columns))]
    outer = "".join(f", MAX({low}) AS {low}, MAX({high}) AS {high}" for low, high in values)
    yield f"SELECT owner, SUM(n) AS n, COUNT(*) AS g, MAX(n) AS m{outer} FROM ("
    owner, source = _rows(schema, name)
    made = [owner, *(f'"t"."{key}"' for key in keys)]
    inner = "".join(
        f", MAX(-({_finite(column)})) AS l{place}, MAX({_finite(column)}) AS h{place}"
        for place, column in enumerate(columns)
    )
    named = ", ".join([f"{owner} AS owner", *(f"{key} AS k{place}" for place, key in enumerate(made[1:]))])
    yield f"SELECT {named}, COUNT(*) AS n{inner} FROM {source} GROUP BY {', '.join(made)}"
    yield ") AS groups GROUP BY owner"


def _finite(column: str) -> str:
    """The value where it is a number: neither NaN nor infinite."""
    return f'CASE WHEN "t"."{column}" BETWEEN -1e300 AND 1e300 THEN "t"."{column}" END'


def _rows(schema: Schema, name: str) -> tuple[str, str]:
    """The column that holds the unit of a table's rows, and the table joined with the parents that lead to it."""
    owner = schema.owner(name)
    source, last = f'"{name}" AS t', "t"
    for place, step in enumerate(owner.steps):
        parent = f"p{place}"
        source += f' JOIN "{step.parent}" AS {parent} ON {last}."{step.column}" = {parent}."{step.parent_column}"'
        last = parent
    return f'{last}."{owner.column}"', source
