"""The tables of a schema as rows: what ``connection.tables`` gives, of the schema alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the compiler is imported by the first connection, not by `import dpsql`
    from dpsql.postprocessing import Result
    from dpsql.schema import Schema


def table_list(schema: Schema, synopses: Sequence[tuple[str, str]] = ()) -> Result:
    """A row for each table: its name, whether its rows are private, its columns with their types, and its comment.

    Each synopsis has a row too: its name, and what it is."""
    from dpsql.planning.result_columns import OutputColumn
    from dpsql.postprocessing import Result

    columns = tuple(OutputColumn(name, "VARCHAR") for name in ("name", "rows", "columns", "comment"))
    rows: list[tuple[object, ...]] = [
        (
            name,
            table.access,
            ", ".join(f"{each} {column.type}" for each, column in table.columns.items()),
            table.comment,
        )
        for name, table in schema.tables.items()
    ]
    rows += [(name, "synopsis", "", said) for name, said in synopses]
    return Result(columns, rows, [(None,) * len(columns) for _ in rows])
