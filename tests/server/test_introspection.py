"""What tools ask of the database over the wire is answered by the catalogue: right types,
both formats, no charge.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import asyncpg
import psycopg
import pytest
import sqlalchemy
from sqlalchemy import create_engine, inspect

from dpsql.server.listener import Server


@pytest.fixture
def connection(shared: Server) -> Iterator[psycopg.Connection]:
    with psycopg.connect(
        host="127.0.0.1", port=shared.port, user="ada", dbname="clinic", autocommit=True
    ) as opened:
        yield opened


@pytest.mark.parametrize("binary", [False, True])
def test_types_of_the_catalogue_cross_in_both_formats(
    connection: psycopg.Connection, spent: Callable[[], int], binary: bool
) -> None:
    cursor = connection.cursor(binary=binary)
    cursor.execute(
        "SELECT c.oid, c.relname, c.relkind, c.relhasindex, c.relnatts, current_schemas(true), c.oid::regclass::text "
        "FROM pg_class c WHERE c.relname = %s",
        ["patients"],
    )
    assert [column.type_code for column in cursor.description or ()] == [
        26,
        19,
        18,
        16,
        21,
        1003,
        25,
    ]
    row = cursor.fetchone()
    assert row is not None
    assert row[1:4] + row[5:] == ("patients", "r", True, ["pg_catalog", "public"], "patients")
    assert spent() == 0


def test_sqlalchemy_inspects(shared: Server, spent: Callable[[], int]) -> None:
    for driver in ("psycopg", "psycopg2", "pg8000"):
        engine = create_engine(f"postgresql+{driver}://ada@127.0.0.1:{shared.port}/clinic")
        seen = inspect(engine)
        assert "patients" in seen.get_table_names()
        assert seen.get_pk_constraint("patients")["constrained_columns"]
        assert {column["name"] for column in seen.get_columns("patients")} >= {"name", "weight"}
        assert sqlalchemy.Table(
            "patients", sqlalchemy.MetaData(), autoload_with=engine
        ).columns.keys()
        engine.dispose()
    assert spent() == 0


def test_asyncpg_reads_types_in_binary(shared: Server, spent: Callable[[], int]) -> None:
    async def ask() -> list[str]:
        connection = await asyncpg.connect(
            host="127.0.0.1", port=shared.port, user="ada", database="clinic"
        )
        try:
            assert await connection.fetchval("SELECT 'patients'::regclass::oid") > 0
            named = await connection.fetch(
                'SELECT relname FROM pg_class WHERE relkind = ANY($1::"char"[])', [b"r"]
            )
            return [row["relname"] for row in named]
        finally:
            await connection.close()

    assert "patients" in asyncio.run(ask())
    assert spent() == 0


def test_a_setting_is_set_by_its_function(connection: psycopg.Connection) -> None:
    connection.execute("SELECT set_config('application_name', 'tool', false)")
    assert connection.execute("SHOW application_name").fetchone() == ("tool",)
    assert connection.execute("SELECT current_setting('application_name')").fetchone() == ("tool",)
    with pytest.raises(psycopg.errors.UndefinedObject):
        connection.execute("SELECT set_config('nosuch', 'x', false)")


def test_unknown_introspection_is_refused_in_postgresqls_shape(
    connection: psycopg.Connection,
) -> None:
    for text, error in (
        ("SELECT * FROM pg_catalog.nosuch", psycopg.errors.UndefinedTable),
        ("SELECT nosuch FROM pg_class", psycopg.errors.UndefinedColumn),
        ("SELECT pg_read_file('x')", psycopg.errors.UndefinedFunction),
        ("SELECT * FROM pg_stat_activity", psycopg.errors.FeatureNotSupported),
    ):
        with pytest.raises(error):
            connection.execute(text)
