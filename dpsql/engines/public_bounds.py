"""The bounds of public columns, which are read of the public rows themselves.

Public rows are known to everybody, so that what is computed of them alone tells nothing of a unit:
``docs/proofs/stability.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from dpsql.errors import Error
from dpsql.schema import Bound, Schema, Table
from dpsql.schema.types import bounds_of

#: The one row that SQL of dpsql's own gives, which reads these public tables and nothing else.
PublicRow = Callable[[str, frozenset[str]], Sequence[object]]


def with_public_bounds(schema: Schema, read_values: PublicRow) -> Schema:
    """The schema with the least and the greatest value of each public column that has an order and
    no bounds yet.

    They are those of the rows that are there now; later rows outside of them count as the bound. A
    column without values gets none.
    """
    bounds: dict[str, dict[str, tuple[Bound, Bound]]] = {}
    for name, table in schema.tables.items():
        columns = _unbounded(table) if table.public else []
        if columns:
            with suppress(Error):
                bounds[name] = dict(
                    _bounds(
                        table, columns, read_values(_ends(table, name, columns), frozenset({name}))
                    )
                )
    return schema.with_bounds(bounds)


def _unbounded(table: Table) -> list[str]:
    return [
        name
        for name, column in table.columns.items()
        if column.bounds is None and column.type.facts.axis is not None
    ]


def _ends(table: Table, name: str, columns: Sequence[str]) -> str:
    """The SQL of the least and the greatest value of each column; NaN and ±∞ are none."""

    def value(column: str) -> str:
        column_sql = f'"t0"."{column}"'
        return (
            f"CASE WHEN isfinite({column_sql}) THEN {column_sql} END"
            if table.columns[column].type.kind == "double"
            else column_sql
        )

    asked = (f"min({value(column)}), max({value(column)})" for column in columns)
    return f'SELECT {", ".join(asked)} FROM "source"."main"."{name}" AS "t0"'


def _bounds(
    table: Table, columns: Sequence[str], row: Sequence[object]
) -> Iterator[tuple[str, tuple[Bound, Bound]]]:
    for number, column in enumerate(columns):
        ends = row[2 * number : 2 * number + 2]
        with suppress(ValueError):
            if None not in ends:
                yield column, bounds_of(table.columns[column].type, ends)
