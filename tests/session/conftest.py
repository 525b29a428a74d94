"""The clinic, open in this process, and the people's data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from databases import clinic
from people import TABLES, written

from dpsql.session.database import Database, open_database


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    """The clinic's schema file."""
    return clinic(tmp_path)


@pytest.fixture
def database(schema: Path) -> Iterator[Database]:
    """The clinic as a database, closed after the test."""
    opened = open_database(schema)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the people's data."""
    return written(tmp_path_factory.mktemp("people"))


@pytest.fixture(scope="session")
def truth(data: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """What the people's data are without noise."""
    with duckdb.connect() as connection:
        for table in TABLES:
            connection.execute(f"CREATE VIEW {table} AS FROM '{data}/data/{table}.parquet'")
        yield connection
