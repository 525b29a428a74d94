"""Rows that are made of released ones: which of them stand for numbers that SQL would give."""

from __future__ import annotations

import pytest
from untouched import planning_session

from dpsql.session import Session
from dpsql.sql.ir.relation import Join, Relation, Scan


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return planning_session("nafld", tmp_path_factory.mktemp("derived") / "ledger")


def derived(relation: Relation) -> list[Scan]:
    """The derived tables that a core reads."""
    match relation:
        case Scan():
            return [relation] if relation.derived else []
        case Join():
            return [scan for part in (relation.left, relation.right) for scan in derived(part)]
        case _:
            return derived(relation.child)


@pytest.mark.parametrize(
    ("released", "noisy"),
    [
        ("SELECT DP_CLIP(value) AS c FROM labs", False),
        ("SELECT DP_CLIP(value) AS c, DP_CLIP(value) AS d FROM labs WHERE value > 0", False),
        ("SELECT COUNT(*) AS c FROM labs", True),
        ("SELECT DP_CLIP(value) AS c, COUNT(*) AS n FROM labs", True),
    ],
)
def test_a_bound_to_which_values_are_clipped_stands_for_no_number_of_sql(
    session: Session, released: str, noisy: bool
) -> None:
    text = f"WITH c AS ({released}) SELECT COUNT(*) AS n FROM labs, c WHERE labs.value < c.c"
    scans = [scan for core in session.plan(text).cores for scan in derived(core.core.relation)]
    assert [scan.noisy for scan in scans] == [noisy]
