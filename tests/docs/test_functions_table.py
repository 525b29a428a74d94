"""The table of scalar functions in docs/sql.md is the allow-list's own."""

from __future__ import annotations

import runpy
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "docs" / "write_functions.py"


def test_the_table_of_functions_is_not_stale() -> None:
    names = runpy.run_path(str(SCRIPT))
    page = names["TARGET"].read_text(encoding="utf-8")
    assert names["START"] in page and names["END"] in page
    assert names["written"](page) == page, "run python docs/write_functions.py"
