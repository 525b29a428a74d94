"""A schema of one table ``t`` at a source, and the rows that statements read of it."""

from __future__ import annotations

from pathlib import Path

import duckdb

from dpsql.engines.duckdb.attached_source import OpenedSource
from dpsql.engines.duckdb.catalog import declared_catalog
from dpsql.engines.duckdb.engine import data_source_of
from dpsql.engines.duckdb.in_memory import close_instance, open_instance
from dpsql.schema import Schema, loads

HEAD = """
name = "shop"
source = "{source}"
ledger = "{ledger}"
[privacy]
unit = "t.id"
epsilon = 1000
delta = 0
query_epsilon = 100
[tables.t]
max_rows_per_unit = 1
"""


def schema_of(source: Path | str, rest: str) -> Schema:
    """A schema of the one table ``t`` at the source, with the rest of its lines."""
    declared = loads(
        HEAD.format(source=source, ledger=f"{Path(str(source)).parent}/x.ledger") + rest
    )
    return declared.with_catalog(declared_catalog(declared))


def rows_of(schema: Schema, table: str = "t") -> list[tuple[object, ...]]:
    """The rows that statements read, in the order of their first column."""
    opened = OpenedSource(data_source_of(schema), open_instance)
    assert opened.connection is not None
    try:
        columns = ", ".join(f'"{column}"' for column in schema.tables[table].columns)
        return opened.connection.execute(
            f'SELECT {columns} FROM source.main."{table}" ORDER BY ALL'
        ).fetchall()
    finally:
        close_instance(opened.connection)
        opened.held.close()


def copy(statement: str, place: Path, options: str = "") -> None:
    """Write the rows of a statement as Parquet."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({statement}) TO '{place}' (FORMAT parquet{options})")
