"""A small clinic, with Laplace noise and with Gaussian, and a session on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from databases import clinic

from dpsql.session import Session
from dpsql.session.database import Database, open_database


@pytest.fixture(scope="module", params=["0", "1e-6"], ids=["Laplace", "Gaussian"])
def database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    opened = open_database(
        clinic(tmp_path_factory.mktemp("clinic"), epsilon="50", delta=request.param)
    )
    yield opened
    opened.close()


@pytest.fixture
def session(database: Database) -> Session:
    opened = database.session("ada")
    opened.set(
        "dpsql.empty_groups", "show"
    )  # every group, so that the first row is one of the finest
    return opened
