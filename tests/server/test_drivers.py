"""The drivers of Python against the server: what each does differently,
and that none is charged twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from decimal import Decimal

import asyncpg
import pg8000.dbapi
import psycopg
import psycopg2
import psycopg2.extras
import pytest

from dpsql.server.listener import Server

ADA = {"host": "127.0.0.1", "user": "ada"}
CATALOGUE = "SELECT relname, relkind FROM pg_catalog.pg_class WHERE relname IN ('patients', 'places') ORDER BY 1"


def test_psycopg(shared: Server, spent: Callable[[], int]) -> None:
    told: list[str] = []
    with psycopg.connect(**ADA, port=shared.port, dbname="clinic") as connection:
        connection.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
        asked = "SELECT sex, COUNT(*) AS n, SUM(weight) AS w FROM patients WHERE ward >= %s GROUP BY sex"
        for prepare, binary in ((False, False), (True, True), (True, False)):
            cursor = connection.cursor(binary=binary)
            found = cursor.execute(asked, [0], prepare=prepare).fetchall()
            assert {row[0] for row in found} == {"f", "m", None}
            assert [column.type_code for column in cursor.description or ()][:2] == [25, 20]
        assert spent() == 1
        assert [notice.partition(";")[0] for notice in told if notice.startswith("dpsql: ")] == [
            "dpsql: this one took 1/1,585",
            *["dpsql: free: answered before, and paid for once"] * 2,
        ]
        with connection.cursor(name="by_name", scrollable=True) as named:
            named.itersize = 2
            named.execute("SELECT sex, COUNT(*) FROM patients WHERE weight < 2.75 GROUP BY sex")
            assert named.description is not None
            assert spent() == 1
            assert len(named.fetchmany(1)) == 1
            named.scroll(-1)
            assert len(list(named)) == 3
            assert spent() == 2
        with connection.pipeline():
            cursors = [connection.execute("SELECT %s::int8 AS x", [place]) for place in range(20)]
        assert [cursor.fetchone() for cursor in cursors] == [(place,) for place in range(20)]
        with pytest.raises(psycopg.errors.UndefinedColumn) as refused, connection.transaction():
            connection.execute("SELECT COUNT(nope) FROM patients")
        assert refused.value.diag.statement_position is not None
        assert connection.execute(CATALOGUE).fetchall() == [("patients", "r"), ("places", "r")]
        with connection.cursor().copy(
            "COPY (SELECT place FROM places ORDER BY 1) TO STDOUT (FORMAT binary)"
        ) as copy:
            copy.set_types(["text"])
            assert list(copy.rows()) == [("ward",), ("yard",)]


def test_a_histogram_whose_values_are_no_names_of_json(shared: Server) -> None:
    asked = "SELECT HISTOGRAM(CASE WHEN weight > 1 THEN 1.5 ELSE 2.5 END) FROM patients"
    with psycopg.connect(**ADA, port=shared.port, dbname="clinic") as connection:
        for binary in (False, True):
            ((counts,),) = connection.execute(asked, binary=binary).fetchall()
            assert set(counts) == {"1.5", "2.5"}


def test_psycopg2(shared: Server, spent: Callable[[], int]) -> None:
    connection = psycopg2.connect(**ADA, port=shared.port, dbname="clinic")
    with connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT COUNT(*), SUM(cost) FROM visits WHERE cost < %s AND place = %s", (30.5, "ward")
        )
        ((number, total),) = cursor.fetchall()
        assert isinstance(number, int)
        assert isinstance(total, Decimal)
        assert spent() == 1
        assert "this one took" in connection.notices[-1]
        cursor.execute(CATALOGUE)
        assert len(cursor.fetchall()) == 2
    with connection, connection.cursor("by_name") as named:
        named.execute("SELECT sex, COUNT(*) FROM patients WHERE weight < 3.5 GROUP BY sex")
        assert spent() == 1
        assert len(named.fetchall()) == 3
        assert spent() == 2
    with (
        pytest.raises(psycopg2.errors.InsufficientPrivilege),
        connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT * FROM patients")
    connection.close()


def test_asyncpg(shared: Server, spent: Callable[[], int]) -> None:
    async def talk() -> None:
        connection = await asyncpg.connect(**ADA, port=shared.port, database="clinic")
        statement = await connection.prepare(
            "SELECT COUNT(*) AS n, AVG(cost) AS mean FROM visits WHERE cost < $1"
        )
        assert [kind.name for kind in statement.get_parameters()] == ["numeric"]
        assert [column.type.name for column in statement.get_attributes()] == ["int8", "float8"]
        assert spent() == 0
        record = await statement.fetchrow(Decimal("77.25"))
        assert isinstance(record["n"], int)
        assert spent() == 1
        async with connection.transaction():
            found = [
                row
                async for row in connection.cursor(
                    "SELECT sex, COUNT(*) FROM patients WHERE ward < 2 GROUP BY 1", prefetch=1
                )
            ]
        assert len(found) == 3
        assert spent() == 2
        assert await connection.fetch(CATALOGUE)
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.fetch("SELECT * FROM visits")
        await connection.reset()
        await connection.close()

    asyncio.run(talk())


def test_pg8000(shared: Server, spent: Callable[[], int]) -> None:
    connection = pg8000.dbapi.connect(**ADA, port=shared.port, database="clinic")
    cursor = connection.cursor()
    cursor.execute("SELECT COUNT(*), SUM(cost) FROM visits WHERE cost < %s", (91.5,))
    ((number, total),) = cursor.fetchall()
    assert isinstance(number, int)
    assert isinstance(total, Decimal)
    assert spent() == 1
    cursor.execute(CATALOGUE)
    assert len(cursor.fetchall()) == 2
    connection.rollback()
    connection.close()
