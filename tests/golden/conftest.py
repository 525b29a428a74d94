"""`pytest tests/golden tests/refused --update-golden` writes the files anew; the difference is to be read."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write golden and refused files anew")
