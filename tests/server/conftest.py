"""Servers in this process on free ports of the loopback, over the clinic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from databases import clinic
from wire_client import PASSWORD, Client, charges

from dpsql.server.authentication.login import LoginPolicy
from dpsql.server.authentication.users import add_user
from dpsql.server.listener import Server
from dpsql.session.database import Database, open_database


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for the tests of a module that need no other."""
    database = open_database(clinic(tmp_path_factory.mktemp("clinic")))
    with Server(database, port=0) as server:
        yield server
    database.close()


@pytest.fixture
def client(shared: Server) -> Iterator[Client]:
    """A client that has logged in as ada."""
    with Client(shared.port) as connected:
        connected.start(database="clinic")
        yield connected


@pytest.fixture
def spent(shared: Server) -> Callable[[], int]:
    """How many charges the ledger got since the test began."""
    before = charges(shared.database)
    return lambda: charges(shared.database) - before


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """A database of the test's own."""
    opened = open_database(clinic(tmp_path))
    yield opened
    opened.close()


@pytest.fixture
def serve(database: Database) -> Iterator[Callable[..., Server]]:
    """Servers of that database, closed after the test."""
    with ExitStack() as servers:

        def started(**options: Any) -> Server:
            return servers.enter_context(Server(database, port=0, **options))

        yield started


@pytest.fixture
def users(tmp_path: Path) -> Path:
    """A file in which two have passwords."""
    file = tmp_path / "users.json"
    add_user(file, "ada", PASSWORD, 4096)
    add_user(file, "zoe.ohara@clinic", "пароль", 4096)
    return file


@pytest.fixture
def guarded(serve: Callable[..., Server], users: Path) -> Server:
    """A server that asks for them."""
    return serve(policy=LoginPolicy(users=users))
