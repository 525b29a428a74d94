"""What an explanation says of each column's error."""

from __future__ import annotations

from dpsql.session.database import Database
from dpsql.session.explanation import hidden_lines


def test_a_key_has_no_error_and_each_aggregate_has_its_own(database: Database) -> None:
    text = "SELECT sex, COUNT(*) AS n, AVG(weight) AS mean, MEDIAN(weight) AS middle FROM patients GROUP BY sex"
    found = database.session("ada").explain(text)
    key, count, mean, middle = found.said_half_widths
    assert key == "" and count.startswith("± ") and middle
    assert mean.startswith("± ") and not mean.startswith(count)
    assert not any(line.startswith("column sex:") for line in str(found).splitlines())


def test_groups_are_spoken_of_where_some_are_shown(database: Database) -> None:
    session = database.session("ada")
    told = str(session.explain("SELECT sex, COUNT(*) FROM patients GROUP BY sex")).splitlines()
    assert any(line.startswith("groups: ") for line in told)
    assert "groups: " not in str(session.explain("SELECT COUNT(*) FROM patients"))


def test_a_summary_speaks_of_the_groups_of_one_part_alone(database: Database) -> None:
    found = database.session("ada").explain(
        "SELECT a.n, b.n FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY 1) AS a "
        "JOIN (SELECT ward, COUNT(*) AS n FROM patients GROUP BY 1) AS b ON a.n = b.n"
    )
    assert len(found.groups) == 2
    assert [line for line in hidden_lines(found) if line.startswith("groups: ")] == [
        found.groups[0]
    ]


def test_the_width_of_a_bin_is_told_where_it_holds_several_values(database: Database) -> None:
    session = database.session("ada")
    wide, narrow, chosen = session.explain(
        "SELECT MIN(cost * 1000) AS wide, MIN(ward) AS narrow, MEDIAN(patient_days) AS chosen FROM "
        "(SELECT v.cost, p.ward, p.ward * 1000000 AS patient_days FROM visits v JOIN patients p USING (patient)) t"
    ).said_half_widths
    assert wide.endswith("rows in rank; one bin is 7.63 wide")
    assert narrow.endswith("rows in rank") and chosen.endswith("rows in rank")
