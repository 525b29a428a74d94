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
