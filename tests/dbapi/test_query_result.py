"""What ``connection.sql`` gives: named rows with intervals, frames, tables for people;
and types that mypy knows.
"""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from mypy import api

import dpsql

PROJECT = Path(__file__).parents[2]
BY_SEX = "SELECT male, COUNT(*) AS n, AVG(bmi) AS bmi FROM patients GROUP BY male ORDER BY male"


@pytest.fixture
def connection(checkout: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect("schemas/nafld.toml", analyst="ada") as connection:
        yield connection


def test_rows_have_names_and_intervals(connection: dpsql.Connection) -> None:
    answer = connection.sql(BY_SEX)
    assert answer.columns == ("male", "n", "bmi") and answer.types == (
        "BOOLEAN",
        "BIGINT",
        "DOUBLE",
    )
    assert len(answer) == 2 and answer.price.charged > 0
    for row, bars in zip(answer, answer.intervals, strict=True):
        male, n, bmi = row
        assert (row.male, row["n"], row[2]) == (male, n, bmi) == row and row == (male, n, bmi)
        assert row.interval("male") is None and row.interval("n") == bars[1]
        low, high = row.interval("bmi") or pytest.fail("no interval")
        assert low < bmi < high and row.asdict() == {"male": male, "n": n, "bmi": bmi}
        for copied in (copy.copy(row), copy.deepcopy(row), pickle.loads(pickle.dumps(row))):
            assert copied == row and copied.interval("n") == row.interval("n")
    assert list(answer) == answer.rows == connection.execute(BY_SEX).fetchall()


def test_rows_of_cursors_have_names_too(connection: dpsql.Connection) -> None:
    row = connection.execute(BY_SEX).fetchone()
    assert row is not None and row.n > 5000 and row.interval("n") is not None
    with pytest.raises(AttributeError, match="no column 'nn'; it has male, n, bmi"):
        _ = row.nn
    with pytest.raises(KeyError, match="no column 'nn'; it has male, n, bmi"):
        row["nn"]


def test_a_column_may_have_any_name(connection: dpsql.Connection) -> None:
    row = connection.sql(
        'SELECT COUNT(*) AS count, AVG(age) AS "mean age", COUNT(*) AS count FROM patients'
    ).one()
    assert (
        row["count"] == row[0] and row["mean age"] == row[1] and row.interval("count") is not None
    )


def test_the_interval_of_a_date_has_dates(connection: dpsql.Connection) -> None:
    row = connection.sql("SELECT MEDIAN(DATE '2000-01-01' + day) AS middle FROM diagnoses").one()
    with pytest.raises(TypeError, match=r"row.interval\('middle', date\)"):
        row.interval("middle")
    ends = row.interval("middle", date)
    assert ends is not None and ends.low <= row.middle <= ends.high


def test_frames(connection: dpsql.Connection) -> None:
    answer = connection.sql(BY_SEX)
    ends = ["male", "n", "n_low", "n_high", "bmi", "bmi_low", "bmi_high"]
    assert (
        list(answer.df().columns)
        == answer.arrow().column_names
        == answer.pl().columns
        == ["male", "n", "bmi"]
    )
    assert (
        list(answer.df(intervals=True).columns) == answer.arrow(intervals=True).column_names == ends
    )
    assert answer.pl(intervals=True).columns == ends
    pd.testing.assert_frame_equal(answer.df(), connection.execute(BY_SEX).fetchdf())
    assert answer.arrow().schema == pa.schema(
        [("male", pa.bool_()), ("n", pa.int64()), ("bmi", pa.float64())]
    )
    connection.intervals = True
    assert list(connection.sql(BY_SEX).df(intervals=True).columns) == ends


def test_rows_as_values_of_a_class(connection: dpsql.Connection) -> None:
    @dataclass
    class Group:
        male: bool
        n: int
        bmi: float

    women, men = connection.sql(BY_SEX).rows_as(Group)
    assert (women.male, men.male) == (False, True) and women.n > men.n


def test_one_is_the_only_row(connection: dpsql.Connection) -> None:
    assert connection.sql("SELECT COUNT(*) AS n FROM patients WHERE age > ?", [60]).one().n > 1000
    with pytest.raises(dpsql.DataError, match="2 rows, not one"):
        connection.sql(BY_SEX).one()


def test_a_person_sees_a_table(connection: dpsql.Connection) -> None:
    lines = str(connection.sql(BY_SEX)).splitlines()
    assert lines[0].split() == ["male", "n", "bmi"] and re.match(r"-+  -+  -+$", lines[1])
    assert re.fullmatch(r"false +\d,\d{3} ± \d+ +\d\d\.\d+ ± 0\.\d+", lines[2]) and len(lines) == 5
    assert lines[4].startswith("clamped: bmi to 10 … 80")
    assert repr(connection.sql(BY_SEX)) == "\n".join(lines)
    public = connection.sql("SELECT * FROM conditions AS a, conditions AS b, conditions AS c")
    assert str(public).endswith("… 900 more rows")
    assert str(connection.sql("SET dpsql.epsilon = 0.2")) == "done"
    noisy = connection.sql(
        "SELECT MAX(n) AS n FROM (SELECT male, COUNT(*) AS n FROM patients GROUP BY male)"
    )
    assert "no interval in any row of n" in str(noisy)


def test_an_answer_says_what_it_took(connection: dpsql.Connection) -> None:
    first, again = connection.sql(BY_SEX), connection.sql(BY_SEX)
    assert (
        first.took == "this one took 1/36; 35 of 36 answers like this left"
        and first.took in first._repr_html_()
    )
    assert again.took == "free: answered before, and paid for once; 35 of 36 answers left"
    assert connection.sql("SET dpsql.epsilon = 0.2").took == "" == connection.tables.took


def test_a_notebook_shows_error_bars(connection: dpsql.Connection) -> None:
    shown = connection.sql(f"SELECT '<b>' AS x, * FROM ({BY_SEX})")._repr_html_()
    assert shown.count("<svg") == 4 and shown.count("<path") == 4 and "±" in shown
    assert "&lt;b&gt;" in shown and "<b>" not in shown
    assert "<svg" not in connection.sql("SELECT * FROM conditions")._repr_html_()
    several = connection.sql(
        "SELECT MEDIAN(DATE '2000-01-01' + day) AS middle FROM diagnoses"
    )._repr_html_()
    assert " to " in several and "<svg" not in several


def test_tables_are_listed_at_no_cost(connection: dpsql.Connection) -> None:
    before = connection.remaining
    found = {table.name: table for table in connection.tables}
    assert list(found) == ["patients", "labs", "diagnoses", "conditions"]
    assert (
        found["conditions"].rows == "public" and "bmi decimal(5,2)" in found["patients"]["columns"]
    )
    assert "patients" in str(connection.tables) and connection.remaining == before


WIDE = "SELECT " + ", ".join(
    f"AVG(CASE WHEN age > {age} THEN bmi END) AS a{age}" for age in range(20, 34)
)


@pytest.mark.parametrize(
    ("text", "to_reach"),
    [
        (BY_SEX, None),
        (f"{WIDE} FROM patients", None),
        ("SELECT COUNT(*) FROM labs GROUP BY day", "20"),
        (
            "SELECT test, COUNT(*) AS n, MEDIAN(value), STDDEV(value), CORR(value, day) FROM labs GROUP BY test",
            None,
        ),
        ("SELECT COUNT(*) FROM patients WHERE bmi > (SELECT AVG(bmi) FROM patients)", None),
        ("SELECT COUNT(*) FROM conditions", None),
    ],
)
def test_an_explanation_is_a_dozen_lines_unless_all_is_asked(
    connection: dpsql.Connection, text: str, to_reach: str | None
) -> None:
    brief = connection.explain(text, to_reach=to_reach)
    lines = str(brief).splitlines()
    assert (
        lines[0].startswith(("takes: ", "price: nothing"))
        and len(lines) <= 12
        and "SELECT" not in str(brief)
    )
    whole = connection.explain(text, to_reach=to_reach, verbose=True)
    goal = "" if to_reach is None else f" TO REACH ± {to_reach}"
    rows = connection.execute(f"EXPLAIN PRIVACY {text}{goal}").fetchall()
    assert str(whole) == "\n".join(line for (line,) in rows)
    assert brief._repr_html_().count("<tr>") == len(lines) and whole._repr_html_().startswith(
        "<pre>"
    )


def test_an_explanation_says_price_error_and_what_is_hidden(connection: dpsql.Connection) -> None:
    said = str(connection.explain("SELECT day, COUNT(*) AS n FROM labs GROUP BY day"))
    order = [
        said.index(words)
        for words in (
            "takes: 1/36 of the budget; 36 of 36 answers",
            "price: ε = 0.1",
            "alone: ",
            "error of n, with 95 %: ± ",
            "hidden: any one patients.patient_id",
            "by at most 60",
            "groups of fewer than about ",
            "EXPLAIN VERBOSE",
        )
    ]
    assert order == sorted(order)
    connection.execute("SELECT COUNT(*) FROM patients")
    assert (
        "paid for already"
        in str(connection.explain("SELECT COUNT(*) FROM patients")).splitlines()[0]
    )


def test_the_budget_is_a_bar_in_notebooks(connection: dpsql.Connection) -> None:
    answers = connection.answers_left._repr_html_()
    assert answers == '<progress max="1" value="1.0000"></progress> 36 of 36 answers like this left'
    shown = connection.remaining._repr_html_()
    assert shown.startswith('<progress max="1" value="1.0000"></progress> 100% left: ε = 3 of 3')


TYPED = """
from datetime import date
from typing import NamedTuple

import dpsql

class Group(NamedTuple):
    male: bool
    n: int

con = dpsql.connect("schemas/nafld.toml")
answer = con.sql("SELECT male, COUNT(*) AS n FROM patients GROUP BY male", ())
for row in answer:
    half: float = row.n / 2 + row["n"]
    ends = row.interval("n")
    if ends is not None:
        width: float = ends.high - ends.low
        low, high = ends
        middle: float = (low + high) / 2
    when = row.interval("day", date)
    if when is not None:
        later: bool = when.high > when.low
names: tuple[str, ...] = answer.columns
groups: list[Group] = answer.rows_as(Group)
total: int = sum(group.n for group in groups)
first: dpsql.Row | None = con.execute("SELECT 1").fetchone()
charged: float = float(answer.price.charged)
tables: list[str] = [table.name for table in con.tables]
"""
WRONG = (
    "con.sqll('SELECT 1')",
    "row.interval('n').low",
    "names.append('x')",
    "wrong: str = groups[0].n",
    "wrong_ends: str = ends",
    "con.sql(1)",
)


@pytest.mark.slow
def test_mypy_knows_rows_and_intervals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECT)
    script = tmp_path / "typed.py"
    script.write_text(TYPED + "\n".join(WRONG) + "\n", encoding="utf-8")
    report, trouble, _ = api.run(["--strict", str(script)])
    first = TYPED.count("\n") + 1
    lines = {int(line) for line in re.findall(r"typed\.py:(\d+): error", report)}
    assert trouble == "" and lines == set(range(first, first + len(WRONG))), report
