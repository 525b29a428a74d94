"""The public DB-API 2.0 compliance suite, run on dpsql's own connections and cursors.

dpsql only reads, and the suite writes. So its two tables are public tables of a DuckDB file that is
made before each test, its CREATE TABLE stands as a statement without rows, and its INSERTs are done
by the owner, with plain DuckDB on the file, between two of the connection's sessions. Every SELECT,
every fetch, every description and every error is dpsql's. Left out is nothing; the three tests that
the suite itself tells a driver to write are written at the end.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import dbapi20
import duckdb

import dpsql
from dpsql.session import open_session

SCHEMA = """
name = "bar"
source = "bar.duckdb"
[privacy]
unit = "guests.id"
epsilon = 1
delta = 1e-6
[tables.guests]
max_rows_per_unit = 1
[tables.guests.columns]
id = { type = "integer" }
[tables.dbapi20test_booze]
public = true
[tables.dbapi20test_barflys]
public = true
"""

TABLES = """
CREATE TABLE guests (id INTEGER PRIMARY KEY);
CREATE TABLE dbapi20test_booze (name VARCHAR(20));
CREATE TABLE dbapi20test_barflys (name VARCHAR(20), drink VARCHAR(30));
"""


class _OwnersCursor(dpsql.Cursor):
    """A cursor whose INSERT is done by the owner of the file; all else is dpsql's."""

    def execute(self, statement: str, parameters: Sequence[object] = ()) -> Self:
        if not statement.startswith("insert"):
            return super().execute(statement, parameters)
        super().execute("BEGIN")
        assert isinstance(self.connection, _OwnersConnection)
        self.connection.write(statement, parameters)
        return self

    def executemany(self, statement: str, sets: Iterable[Sequence[object]]) -> Self:
        if not statement.startswith("insert"):
            return super().executemany(statement, sets)
        for parameters in sets:
            self.execute(statement, parameters)
        return self


class _OwnersConnection(dpsql.Connection):
    """A connection whose owner can write to the file between two sessions."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        super().__init__(open_session(folder / "bar.toml"))

    def cursor(self) -> dpsql.Cursor:
        self._require_open()
        return _OwnersCursor(self)

    def write(self, statement: str, parameters: Sequence[object]) -> None:
        self._session.close()
        with duckdb.connect(str(self._folder / "bar.duckdb")) as owner:
            owner.execute(statement, list(parameters))
        self._session = open_session(self._folder / "bar.toml")


class TestCompliance(dbapi20.DatabaseAPI20Test):
    driver = SimpleNamespace(
        **{**{name: getattr(dpsql, name) for name in dpsql.__all__}, "connect": _OwnersConnection}
    )

    def setUp(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        (folder / "bar.toml").write_text(SCHEMA)
        with duckdb.connect(str(folder / "bar.duckdb")) as owner:
            owner.execute(TABLES)
        self.connect_args = (folder,)

    def tearDown(self) -> None:
        self._folder.cleanup()

    def executeDDL1(self, cursor: dpsql.Cursor) -> None:
        cursor.execute("BEGIN")

    def executeDDL2(self, cursor: dpsql.Cursor) -> None:
        cursor.execute("BEGIN")

    def test_nextset(self) -> None:
        """A statement has one result, so the optional ``nextset`` is not there,
        nor are stored procedures.
        """
        with self._connect() as connection:
            assert not hasattr(connection.cursor(), "nextset") and not hasattr(
                connection.cursor(), "callproc"
            )

    def test_setoutputsize(self) -> None:
        """Values have any size, whatever is said of it."""
        long = "x" * 5000
        with self._connect() as connection:
            cursor = connection.cursor()
            cursor.setoutputsize(10)
            cursor.execute("insert into dbapi20test_barflys values ('a', ?)", (long,))
            cursor.execute("select drink from dbapi20test_barflys")
            assert cursor.fetchall() == [(long,)]

    def test_executemany(self) -> None:
        """The suite's own test, and a query that is run for several sets."""
        super().test_executemany()
        with self._connect() as connection:
            sql = "select name from dbapi20test_booze where name = ?"
            rows: list[Any] = (
                connection.cursor().executemany(sql, [("Boag's",), ("Cooper's",)]).fetchall()
            )
            assert rows == [("Boag's",), ("Cooper's",)]
