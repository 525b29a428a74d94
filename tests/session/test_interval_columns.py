"""The ends of intervals as columns: known from the plan,
the same as the intervals beside the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpsql.output import OutputRows, as_text
from dpsql.session import Session, open_session

#: Statements, and the columns that have intervals: released, computed of one row,
#: of several, #: dates, under ROLLUP.
STATEMENTS = {
    "SELECT male, COUNT(*) AS n, AVG(bmi) AS bmi FROM patients GROUP BY male": ("n", "bmi"),
    "SELECT MEDIAN(age) AS m, MODE(age) AS o, MIN(age) AS lo FROM patients": ("m", "lo"),
    "SELECT AVG(bmi) - AVG(age) AS d, AVG(bmi) * AVG(age) AS p, SQRT(COUNT(*)) AS r FROM patients": (
        "d",
        "p",
        "r",
    ),
    "SELECT COUNT(*) > 5 AS many, CASE WHEN COUNT(*) > AVG(age) THEN 1 ELSE 0 END AS c FROM patients": (),
    "SELECT SUM(n) AS n, MAX(n) AS most FROM (SELECT male, COUNT(*) AS n FROM patients GROUP BY male)": (
        "n",
    ),
    "SELECT male, COUNT(*) AS n, SUM(weight) AS kg FROM patients GROUP BY ROLLUP (male)": (
        "n",
        "kg",
    ),
    "SELECT male, n, n / SUM(n) OVER () AS part FROM (SELECT male, COUNT(*) AS n FROM patients GROUP BY male)": (
        "n",
        "part",
    ),
    "SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis HAVING COUNT(*) < -1000": (
        "n",
    ),
    "SELECT * FROM conditions": (),
}


@pytest.fixture
def session(checkout: Path) -> Iterator[Session]:
    session = open_session("schemas/nafld.toml")
    yield session
    session.close()


@pytest.mark.parametrize("text", STATEMENTS)
def test_columns_follow_those_that_have_intervals(session: Session, text: str) -> None:
    plain = session.execute(text)
    session.set("dpsql.intervals", "on")
    plan = session.plan(text)
    answer = session.execute(text)
    assert session.columns(plan) == answer.columns == session.prepare(text).columns
    names = [column.name for column in answer.columns]
    wanted = [
        name
        for column in plain.columns
        for name in (
            column.name,
            *(
                (f"{column.name}_low", f"{column.name}_high")
                if column.name in STATEMENTS[text]
                else ()
            ),
        )
    ]
    assert names == wanted
    for row, bars, old, intervals in zip(
        answer.rows, answer.intervals, plain.rows, plain.intervals, strict=True
    ):
        assert len(row) == len(bars) == len(names)
        found, ends = dict(zip(names, row, strict=True)), dict(zip(names, bars, strict=True))
        for column, value, interval in zip(plain.columns, old, intervals, strict=True):
            own = ends[column.name]  # resampling draws anew for each answer
            assert found[column.name] == value and (own is None) == (interval is None)
            if column.name in STATEMENTS[text]:
                assert (found[f"{column.name}_low"], found[f"{column.name}_high"]) == (
                    own or (None, None)
                )
            else:
                assert interval is None, f"{column.name} has intervals that are not shown"


def test_dates_have_dates_as_ends(tmp_path: Path, session: Session) -> None:
    session.set("dpsql.intervals", "on")
    text = "SELECT MEDIAN(DATE '2000-01-01' + day) AS middle FROM diagnoses WHERE day BETWEEN 0 AND 3000"
    columns = session.columns(session.plan(text))
    assert [column.name for column in columns] == ["middle", "middle_low", "middle_high"]
    assert len({column.type for column in columns}) == 1


def test_a_name_that_is_taken_gets_a_number(session: Session) -> None:
    session.set("dpsql.intervals", "on")
    columns = session.columns(session.plan('SELECT COUNT(*) AS n, 3 AS "N_LOW" FROM patients'))
    assert [column.name for column in columns] == ["n", "n_low_1", "n_high", "N_LOW"]


def test_workloads_and_better_answers_have_them_too(session: Session) -> None:
    session.set("dpsql.intervals", "on")
    workload = session.workload(["SELECT COUNT(*) AS n FROM patients"])
    (answer,) = session.run(workload)
    assert [column.name for column in answer.columns] == ["n", "n_low", "n_high"]
    session.target_error = 40  # type: ignore[assignment]
    better = session.execute("SELECT AVG(bmi) AS bmi FROM patients WHERE age > 40")
    assert [column.name for column in better.columns] == ["bmi", "bmi_low", "bmi_high"]
    assert all(len(row) == 3 for row in better.rows)


def test_the_setting_is_off_at_first_and_is_on_or_off(session: Session) -> None:
    assert session.execute("SHOW dpsql.intervals").rows == [("off",)]
    session.execute("SET dpsql.intervals = on")
    assert session.execute("SHOW dpsql.intervals").rows == [("on",)]
    session.execute("RESET dpsql.intervals")
    assert session.execute("SHOW dpsql.intervals").rows == [("off",)]
    with pytest.raises(Exception, match="write on or off"):
        session.execute("SET dpsql.intervals = perhaps")


def test_what_is_written_has_each_end_once(session: Session) -> None:
    session.set("dpsql.intervals", "on")
    rows = OutputRows.of_result(session.execute("SELECT COUNT(*) AS n FROM patients"))
    assert as_text(rows, "csv", intervals=True).startswith("n,n_low,n_high\n")
    assert rows.estimated == (True, False, False)
