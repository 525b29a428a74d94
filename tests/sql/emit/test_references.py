"""What a core is planned to read is what its engine SQL reads, no table more and no table less."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from databases import clinic

from dpsql.session import Session, open_session


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    opened = open_session(clinic(tmp_path_factory.mktemp("clinic")))
    yield opened
    opened.close()


OF_VISITS = "LATERAL (SELECT {} AS n FROM visits v WHERE v.patient = p.patient) AS l"

#: What is measured of rows that each hold a subquery's value, and the tables that this reads.
MEASURED = {
    # A COUNT is never NULL, so that counting it asks nothing of its rows; a MAX may be.
    f"SELECT COUNT(l.n) FROM patients p, {OF_VISITS.format('COUNT(*)')}": {"patients"},
    f"SELECT COUNT(l.n) FROM patients p, {OF_VISITS.format('MAX(v.cost)')}": {"patients", "visits"},
    f"SELECT SUM(l.n) FROM patients p, {OF_VISITS.format('COUNT(*)')}": {"patients", "visits"},
    f"SELECT COUNT(*) FILTER (l.n > 1) FROM patients p, {OF_VISITS.format('COUNT(*)')}": {
        "patients",
        "visits",
    },
    f"SELECT COUNT(DISTINCT p.patient) FILTER (l.n > 1) FROM patients p, {OF_VISITS.format('COUNT(*)')}": {
        "patients",
        "visits",
    },
    f"SELECT CORR(p.weight, l.n) FROM patients p, {OF_VISITS.format('COUNT(*)')}": {
        "patients",
        "visits",
    },
    f"SELECT MEDIAN(l.n) FROM patients p, {OF_VISITS.format('MAX(v.cost)')}": {
        "patients",
        "visits",
    },
}


@pytest.mark.parametrize("text", MEASURED)
def test_a_lateral_value_is_read_where_a_cell_looks_at_it(session: Session, text: str) -> None:
    plan = session.plan(text)
    assert set[str]().union(*(core.tables for core in plan.cores)) == MEASURED[text]
    assert session.answer(plan).rows, (
        "the engine's own parser sees the same tables, or nothing is run"
    )
