"""Gaps that the parser would close with a guess are refused where they are; names that look like one are names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from databases import clinic

from dpsql.database import TOOLS, open_database
from dpsql.errors import StatementError
from dpsql.session import Session


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    database = open_database(clinic(tmp_path_factory.mktemp("clinic")))
    yield database.session("ada", TOOLS)
    database.close()


#: A statement with a gap, and what is said of it.
GAPS = (
    ("SELECT MAX((ward) AS w FROM patients", "this bracket is not closed (line 1, column 11)"),
    ("SELECT COUNT(*) FROM patients WHERE ward IN (1])", "this bracket closes none (line 1, column 47)"),
    ("SELECT COUNT(*) FROM patients\nWHERE ward IN (1,, 2)", "nothing stands before this comma (line 2, column 18)"),
    ("SELECT sex AS, COUNT(*) FROM patients GROUP BY sex", "no name stands behind this AS (line 1, column 14)"),
    (
        "SELECT COUNT(*) FROM patients JOIN patients AS p USING ()",
        "USING takes the names of columns (line 1, column 57)",
    ),
)


@pytest.mark.parametrize(("text", "said"), GAPS)
def test_a_gap_is_refused_where_it_is(session: Session, text: str, said: str) -> None:
    with pytest.raises(StatementError) as caught:
        session.plan(text)
    assert caught.value.code == "E_PARSE"
    assert f"{caught.value.reason} ({caught.value.position})" == said


@pytest.mark.parametrize("text", [
    "SELECT COUNT(*) AS values, SUM(ward) AS s FROM patients", "SELECT COUNT(*) AS distinct, 1 AS one FROM patients",
    "SELECT values, COUNT(*) AS n FROM (SELECT ward AS values FROM patients) AS t GROUP BY values",
])  # fmt: skip
def test_names_that_begin_lists_elsewhere_are_names(session: Session, text: str) -> None:
    assert len(session.plan(text).columns) == 2
