"""GoogleSQL's clause prices and tightens a statement,
and never goes beyond what the owner allows.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from untouched import planning_session

from dpsql.errors import DatabaseError, DataError, Refused
from dpsql.planning.plan import Plan
from dpsql.session import Session

ROWS = "COUNT(*) AS n FROM labs"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return planning_session("nafld", tmp_path_factory.mktemp("googlesql") / "ledger")


def asked(session: Session, options: str, items: str = ROWS) -> Plan:
    return session.plan(f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({options}) {items}")


def reach(plan: Plan) -> int:
    """The squared distance that one unit can move the first cell."""
    ((cell,),) = ((core.cells[:1]) for core in plan.cores)
    return cell.mechanism.l2_squared  # type: ignore[union-attr, no-any-return]


def test_the_price_is_what_the_clause_says(session: Session) -> None:
    assert asked(session, "epsilon = 0.25").price == Fraction(1, 4)
    assert asked(session, "epsilon = 0.25").cost.rho == Fraction(1, 32)
    assert asked(session, "delta = 1e-9").price == session.epsilon
    with pytest.raises(DataError, match="total of the schema"):
        asked(session, "epsilon = 100")


def test_limits_are_only_tightened(session: Session) -> None:
    own = reach(session.plan(f"SELECT {ROWS}"))
    assert reach(asked(session, "max_rows_contributed = 6")) * 100 == own
    assert reach(asked(session, "max_rows_contributed = 1000000")) == own
    grouped = f"test, {ROWS} GROUP BY test"
    assert reach(asked(session, "max_groups_contributed = 1000000", grouped)) == reach(
        session.plan(f"SELECT {grouped}")
    )


def test_bounds_are_those_of_the_whole_argument(session: Session) -> None:
    bounds = "contribution_bounds_per_row => (0, 30)"
    alone, called = (
        asked(
            session,
            "privacy_unit_column = patient_id",
            f"SUM({argument}, {bounds}) AS s FROM patients",
        )
        for argument in ("bmi", "ABS(bmi)")
    )
    assert reach(called) == reach(alone)


def test_a_larger_delta_is_not_taken(session: Session) -> None:
    keys = "case_id, COUNT(*) AS n FROM patients GROUP BY case_id"
    own = session.plan(f"SELECT {keys}").cost.delta
    assert asked(session, "delta = 0.5", keys).cost.delta == own > 0
    assert asked(session, "delta = 1e-12", keys).cost.delta <= Fraction(1, 10**12)


def test_the_unit_is_known_by_lineage_and_not_by_its_name(session: Session) -> None:
    renamed = "COUNT(*) FROM (SELECT patient_id AS p, age AS patient_id FROM patients) AS t"
    asked(session, "privacy_unit_column = p", renamed)
    with pytest.raises(Refused, match="not the column of the privacy unit"):
        asked(session, "privacy_unit_column = patient_id", renamed)


@pytest.mark.parametrize(
    ("options", "items"),
    [
        ("epsilon = 0", ROWS),
        ("epsilon = -1", ROWS),
        ("epsilon = '1'", ROWS),
        ("epsilon = 1, epsilon = 2", ROWS),
        ("kappa = 1", ROWS),
        ("max_rows_contributed = 1.5", ROWS),
        ("privacy_unit_column = age", "COUNT(*) FROM patients"),
        ("privacy_unit_column = chapter", "COUNT(*) FROM conditions"),
        (
            "group_selection_strategy = PUBLIC_GROUPS",
            "case_id, COUNT(*) FROM patients GROUP BY case_id",
        ),
        ("group_selection_strategy = NONE", ROWS),
        ("epsilon = 1", "SUM(value, contribution_bounds_per_group => (0, 1)) FROM labs"),
        ("epsilon = 1", "SUM(contribution_bounds_per_row => (0, 1)) FROM labs"),
        ("epsilon = 1", "SUM(value, contribution_bounds_per_row => 3) FROM labs"),
        (
            "privacy_unit_column = patient_id",
            "AVG(day), SUM(value, contribution_bounds_per_group => (0, 1)) FROM labs",
        ),
        ("epsilon = 1", "* FROM labs"),
        (
            "privacy_unit_column = patient_id",
            "SUM( , contribution_bounds_per_group => (0, 1)) FROM labs",
        ),
        (
            "privacy_unit_column = patient_id",
            "SUM( , contribution_bounds_per_row => (0, 1)) FROM labs",
        ),
        ("privacy_unit_column = patient_id", "SUM(dpsql_per_group(value)) FROM labs"),
        ("epsilon = 1", "SUM(dpsql_per_row(value)) FROM labs"),
        (
            "epsilon = 1",
            "COUNT(*) FROM (SELECT WITH DIFFERENTIAL_PRIVACY test, COUNT(*) FROM labs GROUP BY test)",
        ),
    ],
)
def test_what_the_clause_may_not_say_is_refused(session: Session, options: str, items: str) -> None:
    with pytest.raises(DatabaseError):
        asked(session, options, items)


def test_suggestions_do_not_hold_the_marks_of_the_clause(session: Session) -> None:
    with pytest.raises(Refused) as caught:
        asked(session, "privacy_unit_column = patient_id", "MAX(DISTINCT age) FROM patients")
    assert caught.value.hint is not None and "dpsql" not in caught.value.hint.lower()
