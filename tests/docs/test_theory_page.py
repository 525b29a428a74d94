"""The examples of the page from the theory to the statement run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from seeded_page import DOCS, run_page


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run_page("theory.md", tmp_path, monkeypatch)
    assert found.attempted > 50 and found.failed == 0


def test_each_part_of_the_course_that_the_table_names_is_there() -> None:
    page = (DOCS / "theory.md").read_text("utf-8")
    headings = {
        re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-")
        for each in re.findall("^## (.*)$", page, re.M)
    }
    named = set(re.findall(r"\]\(#([^)]*)\)", page))
    assert named == headings and len(named) > 12
