"""What an explanation says of each column's error."""

from __future__ import annotations

from dpsql.session.database import Database


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
