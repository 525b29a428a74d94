"""A checkout of its own for each test, so that no test spends another's budget."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project's schemas and packaged data, copied, as the working directory."""
    shutil.copytree(PROJECT / "schemas", tmp_path / "schemas")
    without_ledgers = shutil.ignore_patterns("*.ledger*")
    shutil.copytree(PROJECT / "dpsql" / "data", tmp_path / "dpsql" / "data", ignore=without_ledgers)
    monkeypatch.chdir(tmp_path)
    return tmp_path
