"""The clinic in a process of the engine's own, and a session on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from databases import clinic

from dpsql.engines.duckdb import opening
from dpsql.engines.duckdb.engine import source_of
from dpsql.engines.duckdb.process.data import ProcessData
from dpsql.schema import load
from dpsql.session import Session, open_session


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setattr(opening, "OWN_PROCESS", True)
    opened = open_session(clinic(tmp_path))
    yield opened
    opened.close()


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[ProcessData]:
    made = ProcessData(source_of(load(clinic(tmp_path))))
    yield made
    made.close()
