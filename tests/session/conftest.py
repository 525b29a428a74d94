"""The clinic, open in this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from databases import clinic

from dpsql.session.database import Database, open_database


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    """The clinic's schema file."""
    return clinic(tmp_path)


@pytest.fixture
def database(schema: Path) -> Iterator[Database]:
    """The clinic as a database, closed after the test."""
    opened = open_database(schema)
    yield opened
    opened.close()
