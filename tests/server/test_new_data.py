"""What a server that runs does when its data change, as the table of ``docs/operate.md`` has it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import duckdb
import psycopg
import pytest
from server_process import started

SCHEMA = """
name = "town"
source = "{source}"
ledger = "town.ledger"
[privacy]
unit = "people.id"
epsilon = 1e9
delta = 0
query_epsilon = 1e5
[tables.people]
key = "id"
max_rows_per_unit = 1
[tables.people.columns]
id = {{ type = "integer" }}
age = {{ type = "integer", bounds = [0, 100] }}
"""
PEOPLE = "SELECT i::INTEGER AS id, (i % 90)::INTEGER AS age{more} FROM range({count}) AS t(i)"
#: In another process: opens the file, runs what it is told, says so,
#: and keeps the file open until #: its input ends.
WRITER = """
import duckdb, sys
connection = duckdb.connect(sys.argv[1])
connection.execute(sys.argv[2])
print("open", flush=True)
sys.stdin.read()
"""


def parquet(file: Path, count: int, more: str = "") -> None:
    """A file of so many people, beside its place first."""
    file.parent.mkdir(exist_ok=True)
    made = file.with_suffix(".new")
    duckdb.sql(f"COPY ({PEOPLE.format(count=count, more=more)}) TO '{made}' (FORMAT parquet)")
    made.replace(file)


def database(file: Path, count: int) -> None:
    with duckdb.connect(str(file)) as connection:
        connection.execute(f"CREATE TABLE people AS {PEOPLE.format(count=count, more='')}")


class Asking:
    """One connection that stays, whose statements are all different."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection, self._asked = connection, 0

    def count(self) -> int:
        """How many people the server sees; the noise is next to nothing."""
        self._asked += 1
        found = self._connection.execute(
            f"SELECT COUNT(*) FROM people WHERE age > -{self._asked}"
        ).fetchone()  # type: ignore[arg-type]
        assert found is not None
        return int(found[0])

    def fails_uncharged(self) -> bool:
        before = self._left()
        with pytest.raises(psycopg.errors.InternalError_):
            self.count()
        return self._left() == before

    def _left(self) -> float:
        found = self._connection.execute("SELECT epsilon_left FROM dpsql.budget").fetchone()
        assert found is not None
        return float(found[0])


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[[str], Asking]]:
    """Starts a server on a source, and connects."""
    with ExitStack() as stack:

        def serve(source: str) -> Asking:
            schema = tmp_path / "town.toml"
            schema.write_text(SCHEMA.format(source=source))
            command = [sys.executable, "-m", "dpsql", "serve", str(schema), "--port", "0"]
            environment = os.environ | {"DPSQL_STATE": str(tmp_path / "state")}
            port = stack.enter_context(started(command, environment))
            place = f"host=127.0.0.1 port={port} user=ada dbname=town"
            return Asking(stack.enter_context(psycopg.connect(place, autocommit=True)))

        yield serve


@contextmanager
def writing(file: Path, sql: str) -> Iterator[bool]:
    """Whether another process has the file open for writing meanwhile."""
    command = [sys.executable, "-c", WRITER, str(file), sql]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline() == "open\n"
    finally:
        process.communicate("")


def test_files_of_parquet_are_replaced_under_a_running_server(
    serve: Callable[[str], Asking], tmp_path: Path
) -> None:
    parquet(tmp_path / "one" / "people.parquet", 100)
    parquet(tmp_path / "two" / "people.parquet", 300)
    (tmp_path / "data").symlink_to("one")
    town = serve("data")
    assert town.count() == 100
    parquet(tmp_path / "one" / "people.parquet", 200)
    assert town.count() == 200, "a file that is renamed into its place is read"
    (tmp_path / "next").symlink_to("two")
    (tmp_path / "next").replace(tmp_path / "data")
    assert town.count() == 300, "a link that is replaced is followed"
    shutil.rmtree(tmp_path / "one")
    assert town.count() == 300
    (tmp_path / "two").rename(tmp_path / "away")
    assert town.fails_uncharged(), "there are no data"
    parquet(tmp_path / "two" / "people.parquet", 400, ", 7 AS more")
    assert town.count() == 400, "a column more is no matter"
    duckdb.sql(f"COPY (SELECT 'a' AS id, 3 AS age) TO '{tmp_path}/other' (FORMAT parquet)")
    (tmp_path / "other").replace(tmp_path / "two" / "people.parquet")
    assert town.fails_uncharged(), "a column has another type"
    parquet(tmp_path / "two" / "people.parquet", 500)
    assert town.count() == 500


def test_a_duckdb_file_is_replaced_and_not_written_under_a_running_server(
    serve: Callable[[str], Asking], tmp_path: Path
) -> None:
    file, copy, more = (
        tmp_path / "town.duckdb",
        tmp_path / "copy.duckdb",
        "INSERT INTO people VALUES (1000, 5)",
    )
    database(file, 100)
    town = serve("town.duckdb")
    assert town.count() == 100
    with writing(file, more) as opened:
        assert not opened, "DuckDB refuses a writer beside a reader"
    assert town.count() == 100
    shutil.copyfile(file, copy)
    with writing(copy, more) as opened:
        assert opened
    copy.replace(file)
    assert town.count() == 101
    database(copy, 200)
    with writing(copy, more) as opened:
        assert opened and copy.with_name("copy.duckdb.wal").exists()
        copy.replace(file)
        assert town.fails_uncharged(), "its writer has it open"
    assert town.count() >= 200


def test_a_server_does_not_start_beside_a_writer(tmp_path: Path) -> None:
    database(tmp_path / "town.duckdb", 100)
    (tmp_path / "town.toml").write_text(SCHEMA.format(source="town.duckdb"))
    with writing(tmp_path / "town.duckdb", "SELECT 1") as opened:
        command = [
            sys.executable,
            "-m",
            "dpsql",
            "serve",
            str(tmp_path / "town.toml"),
            "--port",
            "0",
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert opened and done.returncode == 2
        assert "that no other process holds it open for writing" in done.stderr
