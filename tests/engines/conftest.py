"""The clinic in a process of the engine's own, and a session on it; stores of files elsewhere."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from databases import clinic

from dpsql.engines.duckdb import opening
from dpsql.engines.duckdb.engine import data_source_of
from dpsql.engines.duckdb.process.data import ProcessData
from dpsql.schema import load
from dpsql.session import Session, open_session

if TYPE_CHECKING:
    from remote_stores import HttpsServer


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setattr(opening, "OWN_PROCESS", True)
    opened = open_session(clinic(tmp_path))
    yield opened
    opened.close()


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[ProcessData]:
    made = ProcessData(data_source_of(load(clinic(tmp_path))))
    yield made
    made.close()


@pytest.fixture(scope="module")
def bucket() -> Iterator[Any]:
    """A client of an S3 server, in which there is a bucket ``clinic``."""
    from remote_stores import s3_server

    with pytest.MonkeyPatch.context() as patch, s3_server(patch) as client:
        client.create_bucket(Bucket="clinic")
        yield client


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpsServer]:
    from remote_stores import https_server

    with https_server(tmp_path, monkeypatch) as server:
        yield server


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path / "temporary"
