"""asyncpg: everything in binary, types of parameters from the server,
portals that are read in parts.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable

import asyncpg
import pytest
from client_statements import (
    COLUMNS,
    SLOW,
    TESTS,
    check_every_type,
    count,
    counts,
    every_type,
    near,
)
from servers import Server


def conversed(
    server: Server, talk: Callable[[asyncpg.Connection], Awaitable[None]], **more: object
) -> None:
    """Connect, talk and close."""

    async def whole() -> None:
        connection = await asyncpg.connect(server.url(), **more)
        try:
            await talk(connection)
        finally:
            await connection.close()

    asyncio.run(whole())


def test_every_type(server: Server) -> None:
    async def talk(connection: asyncpg.Connection) -> None:
        with server.charges(1):
            rows = await connection.fetch(every_type(server.fresh()))
        assert list(rows[0].keys()) == list(COLUMNS)
        check_every_type([tuple(row) for row in rows])
        assert connection.get_server_version().major >= 15

    conversed(server, talk)


def test_the_types_of_parameters_come_from_the_server(server: Server) -> None:
    async def talk(connection: asyncpg.Connection) -> None:
        with server.charges(0):
            statement = await connection.prepare(
                f"SELECT COUNT(*) AS n, AVG(value) AS mean FROM labs WHERE test = $1 AND day > $2 AND value < $3 "
                f"AND patient_id > -{server.fresh()}"
            )
        assert [kind.name for kind in statement.get_parameters()] == ["text", "int8", "float8"]
        assert [(column.name, column.type.name) for column in statement.get_attributes()] == [
            ("n", "int8"),
            ("mean", "float8"),
        ]
        with server.charges(2):
            first, second = (
                await statement.fetchrow("hdl", -7300, 250.5),
                await statement.fetchrow("sbp", -7300, 250.5),
            )
        assert first != second and first["n"] > 10_000

    conversed(server, talk)


def test_arrays_dates_and_decimals_as_parameters(server: Server) -> None:
    async def talk(connection: asyncpg.Connection) -> None:
        with server.charges(1):
            n = await connection.fetchval(
                "SELECT COUNT(*) FROM labs WHERE test = ANY($1::text[]) AND day > $2",
                ["hdl"],
                -8000 - server.fresh(),
            )
        assert n > 10_000

    conversed(server, talk)


def test_a_cursor_is_read_in_parts(server: Server) -> None:
    async def talk(connection: asyncpg.Connection) -> None:
        with server.charges(1):
            async with connection.transaction():
                found = [
                    row["test"]
                    async for row in connection.cursor(counts(server.fresh()), prefetch=1)
                ]
        assert found == list(TESTS)

    conversed(server, talk)


def test_many_executions_and_nested_transactions(server: Server) -> None:
    async def talk(connection: asyncpg.Connection) -> None:
        async with connection.transaction():
            with pytest.raises(asyncpg.UndefinedTableError):
                async with connection.transaction():
                    await connection.fetch("SELECT COUNT(*) FROM no_such_table")
            with server.charges(1):
                assert near(await connection.fetchval(count(server.fresh())))

    conversed(server, talk)


def test_copy(server: Server, tmp_path: object) -> None:
    async def talk(connection: asyncpg.Connection) -> None:
        lines: list[bytes] = []

        async def keep(data: bytes) -> None:
            lines.append(data)

        with server.charges(1):
            await connection.copy_from_query(counts(server.fresh()), output=keep, format="csv")
        assert [line.split(b",")[0].decode() for line in b"".join(lines).splitlines()] == list(
            TESTS
        )

    conversed(server, talk)


def test_a_statement_that_is_cancelled(server: Server) -> None:
    async def talk(connection: asyncpg.Connection) -> None:
        with pytest.raises(asyncio.TimeoutError):
            await connection.fetch(SLOW, timeout=0.5)
        assert await connection.fetchval("SELECT 1") == 1

    conversed(server, talk)


def test_a_pool_gives_connections_back_clean(server: Server) -> None:
    async def whole() -> None:
        async with asyncpg.create_pool(server.url(), min_size=2, max_size=4) as pool:
            statement = count(server.fresh())
            found = {await pool.fetchval(statement)} if server.private else set()
            with server.charges(0):
                found |= set(await asyncio.gather(*(pool.fetchval(statement) for _ in range(8))))
            assert len(found) == 1 and all(map(near, found))

    asyncio.run(whole())


def test_types_that_asyncpg_does_not_know_are_looked_up(server: Server) -> None:
    async def talk(connection: asyncpg.Connection) -> None:
        with server.charges(0):
            row = await connection.fetchrow(
                "SELECT oid::regclass AS r, relkind, relacl FROM pg_class LIMIT 1"
            )
        assert row is not None and isinstance(row["r"], str)

    conversed(server, talk)


def test_errors(server: Server) -> None:
    async def talk(connection: asyncpg.Connection) -> None:
        with pytest.raises(asyncpg.UndefinedColumnError) as raised:
            await connection.fetch("SELECT AVG(bmy) FROM patients")
        assert raised.value.position == "12" and raised.value.sqlstate == "42703"
        with pytest.raises(asyncpg.DataError):
            await connection.fetch("SELECT 'ten'::integer")

    conversed(server, talk)


def test_tls(private: Server) -> None:
    async def talk(connection: asyncpg.Connection) -> None:
        assert await connection.fetchval("SELECT 1") == 1

    conversed(private, talk, ssl=ssl.create_default_context(cafile=str(private.authority)))
    with pytest.raises(ssl.SSLCertVerificationError):
        conversed(private, talk, ssl=ssl.create_default_context())


def test_a_refusal_has_its_hint(private: Server) -> None:
    async def talk(connection: asyncpg.Connection) -> None:
        with pytest.raises(asyncpg.UndefinedColumnError) as raised, private.charges(0):
            await connection.prepare("SELECT AVG(bmy) FROM patients WHERE age > $1")
        assert raised.value.hint.startswith("Write instead: SELECT")
        notices: list[object] = []
        connection.add_log_listener(lambda _, message: notices.append(message))
        await connection.fetch(count(private.fresh()))
        await asyncio.sleep(0)
        assert len(notices) == 1

    conversed(private, talk)
