"""The first hour with files of one's own: a private answer in five minutes, a notebook in ten,
a dashboard in fifteen.

Each test prints its seconds, and the words that were typed and lines that were edited;
a person reads in between.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pexpect
import pytest
import sqlalchemy as sa
from nbclient import NotebookClient
from server_process import started

from dpsql.schema import load

pytestmark = pytest.mark.xdist_group("first hour")

DPSQL = (sys.executable, "-c", "from dpsql.cli import main; main()")
#: Seconds within which a newcomer has an answer, a notebook with error bars and a dashboard;
#: and #: the words and lines.
ANSWER, NOTEBOOK, DASHBOARD = 300.0, 600.0, 900.0
MOST_EDITS = 8
PASSWORD = "correct horse battery staple"
FILES = {
    "Customers.csv": [
        "Customer ID;Loyalty Level;born",
        *(f"{n};gold;0{n % 9 + 1}.01.1980" for n in range(900)),
    ],
    "shops.csv": ["id,town", *(f"{n},town {n}" for n in range(5))],
    "visits.csv": [
        "visit,customer_id,shop_id,amount",
        *(f"{n},{n % 900},{n % 5},{n % 50}.5" for n in range(2700)),
    ],
    "log.csv": ["at,line", "2020-01-01 10:00:00,started"],
}
BY_TOWN = "FROM visits v JOIN shops s ON s.id = v.shop_id GROUP BY s.town ORDER BY 1"


@dataclass(frozen=True)
class Clock:
    """Where the newcomer works, when they began,
    and what they typed of their own until they had a schema.
    """

    folder: Path
    began: float
    edits: int

    def stop(self, what: str, most: float) -> None:
        """Tell the time, which must be less than a newcomer has."""
        seconds = time.monotonic() - self.began
        print(f"{what}: {seconds:.0f} s of {most:.0f}, {self.edits} edits of {MOST_EDITS}")
        assert seconds < most and self.edits <= MOST_EDITS


def _run(folder: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*DPSQL, *arguments], cwd=folder, input=stdin, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> Clock:
    """Customers, shops, visits and a log of nobody, as an office would export them; and a schema by
    the dialogue, in which one line is edited by hand."""
    folder, began, edits = tmp_path_factory.mktemp("office"), time.monotonic(), 0
    (folder / "shop").mkdir()
    for name, rows in FILES.items():
        (folder / "shop" / name).write_text("\n".join(rows) + "\n")
    child = pexpect.spawn(
        DPSQL[0],
        [*DPSQL[1:], "schema", "init", "shop", "--ask", "-o", "shop.toml"],
        cwd=folder,
        encoding="utf-8",
        timeout=60,
        dimensions=(50, 200),
    )
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
        (
            r"with 1 a count is ± \d+; with 3 a count is ± \d+.*customers, max_rows_per_unit \[1\]",
            "",
        ),
        (r"visits, max_rows_per_unit \[10\]", "3"),
        ("wrote shop.toml; next: dpsql schema check shop.toml", None),
    ):
        child.expect(expected)
        if typed is not None:
            child.sendline(typed)
            edits += bool(typed)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    text = (folder / "shop.toml").read_text()
    drafted = 'amount = { type = "double", nullable = true }'
    assert text.count(drafted) == 1
    (folder / "shop.toml").write_text(
        text.replace(drafted, 'amount = { type = "double", nullable = true, bounds = [0, 60] }')
    )
    return Clock(folder, began, edits + 1)


def test_a_newcomer_has_an_answer_within_five_minutes_and_eight_edits(clock: Clock) -> None:
    schema = load(clock.folder / "shop.toml")
    assert schema.tables["shops"].public and "log" not in schema.tables
    assert schema.tables["visits"].references == {
        "customer_id": "customers.customer_id",
        "shop_id": "shops.id",
    }
    told = _run(
        clock.folder,
        "query",
        "shop.toml",
        f"SELECT s.town, COUNT(*) AS n {BY_TOWN}",
        "--format",
        "csv",
    )
    assert told.returncode == 0, told.stderr
    rows = [line.split(",") for line in told.stdout.splitlines()[1:]]
    assert [town for town, _ in rows] == [f"town {number}" for number in range(5)]
    assert all(abs(float(n) - 540) < 60 for _, n in rows)
    clock.stop("an answer", ANSWER)


def test_a_notebook_with_error_bars_within_ten(clock: Clock) -> None:
    cells = [
        'import dpsql\ncon = dpsql.connect("shop.toml", analyst="ada")\ncon.answers_left',
        f'answer = con.sql("SELECT s.town, COUNT(*) AS n, AVG(v.amount) AS spent {BY_TOWN}")\nanswer',
        "answer.df(intervals=True)",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(clock.folder)}}
    ).execute()
    left, shown, frame = (
        [each.get("data", {}) for each in cell.outputs] for cell in notebook.cells
    )
    assert "answers like this left" in left[0]["text/html"]
    page = shown[0]["text/html"]
    assert page.count("<svg") == 10 and "this one took" in page
    assert "spent_low" in frame[0]["text/plain"] and "town 4" in frame[0]["text/plain"]
    clock.stop("a notebook", NOTEBOOK)


def test_a_dashboard_within_fifteen(clock: Clock) -> None:
    """What Superset asks, over the driver it has: the tables, their columns, charts,
    and the charts again.
    """
    added = _run(
        clock.folder,
        "user",
        "add",
        "superset",
        "--users",
        "users.json",
        "--password-stdin",
        stdin=PASSWORD,
    )
    assert added.returncode == 0, added.stderr
    serve = [
        *DPSQL,
        "serve",
        str(clock.folder / "shop.toml"),
        "--port",
        "0",
        "--users",
        str(clock.folder / "users.json"),
    ]
    charts = [
        'SELECT COUNT(*) AS "COUNT(*)" FROM public.visits LIMIT 50000',
        """SELECT s.town AS town, COUNT(*) AS count, AVG(v.amount) AS "AVG(amount)" FROM public.visits AS v
        JOIN public.shops AS s ON s.id = v.shop_id GROUP BY s.town ORDER BY count DESC LIMIT 1000""",
        """SELECT DATE_TRUNC('MONTH', born) AS born, COUNT(DISTINCT customer_id) AS "COUNT_DISTINCT(customer_id)"
        FROM public.customers WHERE born >= TO_DATE('1980-01-01', 'YYYY-MM-DD')
        AND born < TO_DATE('1981-01-01', 'YYYY-MM-DD') GROUP BY DATE_TRUNC('MONTH', born) LIMIT 10000""",
    ]
    with started(serve, dict(os.environ)) as port:
        engine = sa.create_engine(
            f"postgresql+psycopg2://superset:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{port}/shop"
        )
        tables = sa.inspect(engine)
        assert tables.get_table_names("public") == ["customers", "shops", "visits"]
        kinds = {each["name"]: str(each["type"]) for each in tables.get_columns("visits", "public")}
        assert kinds == {
            "visit": "BIGINT",
            "customer_id": "BIGINT",
            "shop_id": "BIGINT",
            "amount": "DOUBLE PRECISION",
        }
        answers = []
        for _ in ("opened", "opened again"):
            with engine.connect() as connection:
                answers.append([connection.execute(sa.text(chart)).fetchall() for chart in charts])
        engine.dispose()
    assert answers[0] == answers[1], "what was paid for is free, and the same"
    (total,), towns, months = answers[0]
    assert abs(total[0] - 2700) < 100 and len(towns) == 5 and len(months) == 1
    holders = json.loads(_run(clock.folder, "budget", "shop.toml", "--json").stdout)["holders"]
    (superset,) = (each for each in holders if each["name"] == "superset")
    assert superset["statements"] in (2, 3), "the notebook may have paid for the chart by town"
    clock.stop("a dashboard", DASHBOARD)


def test_a_file_that_exists_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "shops.csv").write_text("id,town\n1,Oslo\n")
    (tmp_path / "shop.toml").write_text("mine")
    told = _run(tmp_path, "schema", "init", "shop", "-o", "shop.toml")
    assert (
        told.returncode == 2
        and "exists" in told.stderr
        and (tmp_path / "shop.toml").read_text() == "mine"
    )
