"""`pytest tests/corpus --update-golden` writes anew which statements are refused; the difference is to be read."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write anew which statements are refused")
