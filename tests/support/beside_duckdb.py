"""A session on a DuckDB file, and plain DuckDB on the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import duckdb

from dpsql.schema import loads
from dpsql.session import Session, open_session

BesideDuckDB: TypeAlias = tuple[Session, duckdb.DuckDBPyConnection]


@contextmanager
def beside_duckdb(home: Path, schema: str, rows: str) -> Iterator[BesideDuckDB]:
    """Open both on tables that the SQL of ``rows`` makes;
    ``schema`` has ``{source}`` for the path of the file.
    """
    source = home / "rows.duckdb"
    with duckdb.connect(source) as connection:
        connection.execute(rows)
    session = open_session(loads(schema.format(source=source.as_posix())), ledger=home / "ledger")
    with duckdb.connect(source, read_only=True) as plain:
        yield session, plain
    session.close()
