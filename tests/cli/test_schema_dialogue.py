"""``dpsql schema init --ask`` in a real terminal: from a folder of CSV files to a private answer."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pexpect
import pytest

from dpsql.schema import load

DPSQL = (sys.executable, "-c", "from dpsql.cli import main; main()")
#: Seconds within which a newcomer has a first answer; a person reads and types in between.
FIVE_MINUTES = 300.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Customers, shops, visits and a log of nobody, as an office would export them."""
    (tmp_path / "shop").mkdir()
    lines = {
        "Customers.csv": ["Customer ID;Loyalty Level;born", *(f"{n};gold;0{n % 9 + 1}.01.1980" for n in range(900))],
        "shops.csv": ["id,town", *(f"{n},town {n}" for n in range(5))],
        "visits.csv": ["visit,customer_id,shop_id,amount", *(f"{n},{n % 900},{n % 5},{n % 50}.5" for n in range(2700))],
        "log.csv": ["at,line", "2020-01-01 10:00:00,started"],
    }  # fmt: skip
    for name, rows in lines.items():
        (tmp_path / "shop" / name).write_text("\n".join(rows) + "\n")
    return tmp_path


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*DPSQL, *arguments], cwd=folder, capture_output=True, text=True, check=False)


def test_a_newcomer_has_an_answer_within_five_minutes_and_eight_words(folder: Path) -> None:
    began = time.monotonic()
    said = 0
    child = pexpect.spawn(DPSQL[0], [*DPSQL[1:], "schema", "init", "shop", "--ask", "-o", "shop.toml"], cwd=folder,
                          encoding="utf-8", timeout=60, dimensions=(50, 200))  # fmt: skip
    for expected, typed in (
        (r"unit \[customers\.customer_id\]", ""),
        ("is log public", ""),
        (r"is shops public \[Y/n\]", ""),
        ("is visits public", ""),
        (r"Nothing in it leads to the unit.*log \[-\]", ""),
        (r"epsilon \[1\]", "none"),
        ("'none' is no number.*epsilon", "8"),
        ("delta", ""),
        ("answers", "10"),
        (r"with 1 a count is ± \d+; with 3 a count is ± \d+.*customers, max_rows_per_unit \[1\]", ""),
        (r"visits, max_rows_per_unit \[10\]", "3"),
        ("wrote shop.toml; next: dpsql schema check shop.toml", None),
    ):
        child.expect(expected)
        if typed is not None:
            child.sendline(typed)
            said += bool(typed)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0 and said <= 8
    schema = load(folder / "shop.toml")
    assert schema.tables["shops"].public and "log" not in schema.tables
    assert schema.tables["visits"].references == {"customer_id": "customers.customer_id", "shop_id": "shops.id"}
    sql = "SELECT s.town, COUNT(*) AS n FROM visits v JOIN shops s ON s.id = v.shop_id GROUP BY s.town ORDER BY 1"
    told = _run(folder, "query", "shop.toml", sql, "--format", "csv")
    assert told.returncode == 0, told.stderr
    rows = [line.split(",") for line in told.stdout.splitlines()[1:]]
    assert [town for town, _ in rows] == [f"town {number}" for number in range(5)]
    assert all(abs(float(n) - 540) < 60 for _, n in rows)
    assert time.monotonic() - began < FIVE_MINUTES


def test_a_file_that_exists_is_not_written_over(folder: Path) -> None:
    (folder / "shop.toml").write_text("mine")
    told = _run(folder, "schema", "init", "shop", "-o", "shop.toml")
    assert told.returncode == 2 and "exists" in told.stderr and (folder / "shop.toml").read_text() == "mine"
