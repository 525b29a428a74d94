"""A session on the NAFLD study, with a ledger of its own for each file of tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpsql.session import Session, open_session

SCHEMA = Path(__file__).parents[2] / "schemas" / "nafld.toml"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    opened = open_session(SCHEMA, ledger=tmp_path_factory.mktemp("study") / "ledger")
    yield opened
    opened.close()
