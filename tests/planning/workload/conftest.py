"""A session on the shop, with Laplace noise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from shops import LAPLACE, opened

from dpsql.session import Session


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    found = opened(tmp_path, LAPLACE)
    yield found
    found.close()
