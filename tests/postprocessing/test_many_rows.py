"""Results of many rows: the intervals of aggregates stay, those of computed columns are left out with a notice."""

from __future__ import annotations

import pytest

from dpsql.postprocessing.intervals import row_intervals
from dpsql.session import Session

ASKED = "SELECT diagnosis, COUNT(*) AS n, COUNT(*) / 2 + 1 AS half FROM diagnoses GROUP BY diagnosis"


def test_computed_columns_of_many_rows_have_no_intervals(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = session.execute(ASKED)
    assert len(whole.rows) > 3 and all(row[1] and row[2] for row in whole.intervals) and not whole.notices
    monkeypatch.setattr(row_intervals, "MOST_ROWS", 3)
    many = session.execute(f"/* again */ {ASKED}")
    assert many.rows == whole.rows and [row[1] for row in many.intervals] == [row[1] for row in whole.intervals]
    assert all(row[2] is None for row in many.intervals)
    (notice,) = many.notices
    assert notice.startswith("no interval in any row of half: ") and "at most 3 rows" in notice
    few = session.execute(f"{ASKED} LIMIT 3")
    assert all(row[2] for row in few.intervals) and not few.notices
