"""The tables and the picture of docs/accountants.md are what the code that charges says."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("draw_accountants", DOCS / "draw_accountants.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_those_of_the_page(script: ModuleType) -> None:
    page = (DOCS / "accountants.md").read_text("utf-8")
    shown = page.split("<!-- tables -->", 1)[1].split("<!-- end of tables -->", 1)[0].strip()
    numbers = re.compile(r"\d+(?:\.\d+)?")
    found = script.tables()
    assert numbers.sub("0", shown) == numbers.sub("0", found)
    pairs = zip(numbers.findall(shown), numbers.findall(found), strict=True)
    assert all(float(a) == pytest.approx(float(b), rel=1e-3) for a, b in pairs)


def test_the_tables_hold_the_known_figures() -> None:
    page = (DOCS / "accountants.md").read_text("utf-8")
    assert (
        "| 100 Laplace | 10.0000 | 6.3082 | 5.21" in page
        and "| 100 Gaussian | — | — | 3.5423 | " in page
    )
    assert "| 3 | Laplace | 30 | 30 | 37 | 39 | **37** | 46 |" in page
    assert "| 3 | Gaussian | — | — | 74 | 72 | **74** | 83 |" in page


def test_the_picture_is_drawn_with_a_name_for_each_line(script: ModuleType, tmp_path: Path) -> None:
    picture = (DOCS / "accountants.svg").read_text("utf-8")
    for name in (
        "hybrid (default)",
        "pld (one block)",
        "zcdp",
        "rdp",
        "advanced",
        "basic",
        "statements answered",
    ):
        assert name in picture
    script.draw(tmp_path / "accountants.svg")
    assert (tmp_path / "accountants.svg").read_text("utf-8").count("<path") == picture.count(
        "<path"
    )
