"""What is said under an answer of rows that are in none of its groups."""

from __future__ import annotations

from pathlib import Path

import pytest
from untouched import planning_session

from dpsql.planning.group_notices import groups_left_out
from dpsql.session import Session

EVIDENT = "; SET dpsql.empty_groups = show shows all, with rows or without"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return planning_session("nafld", tmp_path_factory.mktemp("left_out") / "ledger")


def said(session: Session, text: str) -> tuple[str, ...]:
    return groups_left_out(session.plan(text))


def test_all_rows_are_in_what_has_no_keys_or_truth_values(session: Session) -> None:
    for keys in ("", " GROUP BY male", " GROUP BY male, died"):
        assert said(session, f"SELECT COUNT(*) FROM patients{keys}") == ()
    assert said(session, "SELECT chapter, COUNT(*) FROM conditions GROUP BY chapter") == ()


def test_rows_with_other_values_are_in_no_group(session: Session) -> None:
    assert said(session, "SELECT test, COUNT(*) FROM labs GROUP BY test")[0] == (
        "rows with other values of test than the schema lists are in no group"
    )
    both = said(
        session,
        "WITH t AS (SELECT test, male, COUNT(*) AS n FROM labs JOIN patients USING (patient_id) GROUP "
        "BY 1, 2) SELECT MAX(n) FROM t",
    )
    assert both[-1:] == ("rows with other values of test than the schema lists are in no group",)


def test_rows_beyond_bounds_are_in_no_group(session: Session) -> None:
    (evidence, beyond) = said(session, "SELECT age // 10, COUNT(*) FROM patients GROUP BY 1")
    assert beyond == "rows with age beyond the schema's bounds are in no group"
    assert evidence.startswith("groups of fewer than about ") and evidence.endswith(
        f" rows may be missing{EVIDENT}"
    )


def test_an_answer_made_of_earlier_ones_has_no_threshold_of_its_own(session: Session) -> None:
    for text in (
        "SELECT age // 10, COUNT(*) FROM patients GROUP BY 1",
        "SELECT value, COUNT(*) FROM labs GROUP BY value",
    ):
        alone, combined = (groups_left_out(session.plan(text), made)[0] for made in (False, True))
        assert alone.startswith("groups of fewer than about ") and combined.startswith(
            "groups of few "
        )


def test_evidence_that_is_bought_counts_units(session: Session) -> None:
    """None of these aggregates counts the rows of a group."""
    for aggregate in ("MEDIAN(height)", "AVG(height)", "COUNT(DISTINCT patient_id)"):
        sentence = said(session, f"SELECT age // 10, {aggregate} FROM patients GROUP BY 1")[0]
        assert sentence.endswith(f" units may be missing{EVIDENT}")


def test_small_groups_of_undeclared_keys_are_missing(session: Session) -> None:
    text = "SELECT value, COUNT(*) FROM labs GROUP BY value"
    (selection,) = [core.selection for core in session.plan(text).cores]
    assert selection is not None
    (sentence,) = said(session, text)
    assert sentence.startswith(
        f"groups of fewer than about {selection.units_needed():,} units are missing; more are needed"
    )


def test_the_threshold_is_that_of_the_number_of_groups(session: Session) -> None:
    """Ten decades need less evidence than 83 years."""
    least = [
        int(said(session, f"SELECT {key}, COUNT(*) FROM patients GROUP BY 1")[0].split()[5])
        for key in ("age // 10", "age")
    ]
    assert least[0] < least[1] < 3 * least[0]


def test_columns_of_subqueries_are_not_named(session: Session) -> None:
    """Their names in the plan are none of the statement's."""
    text = "SELECT n, COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM labs GROUP BY 1) AS t GROUP BY n"
    assert not any("bounds" in sentence for sentence in said(session, text))
    listed = (
        "SELECT v.x, COUNT(*) FROM labs JOIN (VALUES (1), (7)) AS v(x) ON day >= v.x GROUP BY v.x"
    )
    assert not any("values" in sentence for sentence in said(session, listed))


def test_no_group_is_called_missing_at_a_price_at_which_each_row_shows(tmp_path: Path) -> None:
    exact = planning_session("nafld", tmp_path / "ledger")
    exact.set("dpsql.epsilon", "2.9")
    text = "SELECT male, COUNT(*) FROM patients GROUP BY age > 50, male"
    assert all(" 0 rows" not in sentence for sentence in said(exact, text))
