"""docs/refusals.md has every code, with statements that the tests of refusals have tried."""

from __future__ import annotations

import runpy
from pathlib import Path

from dpsql.errors import SQLSTATES, Refused

WRITER = Path(__file__).parents[2] / "docs" / "write_refusals.py"


def test_the_page_is_what_its_writer_writes() -> None:
    written = runpy.run_path(str(WRITER))
    assert written["PAGE"].read_text(encoding="utf-8") == written["page"]()
    assert list(written["MEANINGS"]) == list(SQLSTATES)


def test_a_refusal_names_its_place_on_the_page() -> None:
    page = (WRITER.parent / "refusals.md").read_text(encoding="utf-8")
    for code in SQLSTATES:
        file, _, anchor = Refused(code, "why").page.partition("#")
        assert file == "docs/refusals.md"
        assert f"## {anchor.upper()}" in page.splitlines()
