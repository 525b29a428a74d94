"""The examples of the page of local differential privacy run."""

from __future__ import annotations

from pathlib import Path

import pytest
from seeded_page import run_page


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run_page("local.md", tmp_path, monkeypatch)
    assert found.attempted > 60 and found.failed == 0
