"""What EXPLAIN says of the groups of an answer, and what an answer without rows says of them."""

from __future__ import annotations

import pytest
from untouched import planning_session

from dpsql.planning.group_notices import groups_said, nothing_seen
from dpsql.session import Session

BEYOND = "; rows with keys that the schema's bounds and values do not give, if there are any, are in none of these"
BLOCK = ", or if a block of neighbouring groups has more than noise explains"
SHOW = "; SET dpsql.empty_groups = show shows those without rows, too"
DECADES, AGES = (
    "SELECT age // 10, {} FROM patients GROUP BY {}",
    "SELECT age, COUNT(*) AS n FROM patients GROUP BY 1",
)
COUNTED = f"shown where the noisy count of {{}} (cell 0) is {{}} or more{BLOCK}, which groups without rows, all 10 "
COUNTED += "together, reach in at most 5 % of answers"

#: What is said of a statement's groups, with the things that are counted;
#: the least count is #: written {}.
SAID: dict[str, str] = {
    "SELECT male, COUNT(*) FROM patients GROUP BY male": "all 2 are shown, with rows or without",
    "SELECT male, SUM(age) FROM patients GROUP BY ROLLUP (male)": "all 2 are shown, with rows or without",
    "SELECT test, COUNT(*) FROM labs GROUP BY test": f"all 4 are shown, with rows or without{BEYOND}",
    DECADES.format("COUNT(*)", "1"): COUNTED.format("rows", "{}") + BEYOND,
    DECADES.format("COUNT(DISTINCT patient_id)", "1"): COUNTED.format("units", "{}") + BEYOND,
    DECADES.format("MEDIAN(height)", "1"): COUNTED.format("units", "{}")
    + "; the count costs 10 % of this part's price"
    + BEYOND,
    DECADES.format("COUNT(*)", "ROLLUP (age // 10)"): COUNTED.format("rows", "{}")
    + BEYOND
    + ", nor in their totals",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return planning_session("nafld", tmp_path_factory.mktemp("notices") / "ledger")


def _least(session: Session, text: str, groups: int, core: int = 0) -> str:
    presence = session.plan(text).cores[core].presence
    assert presence is not None
    return f"{float(presence.threshold(groups) * session.plan(text).cores[core].steps[presence.cell]):.4g}"


@pytest.mark.parametrize("text", SAID)
def test_which_groups_are_shown_is_said(text: str, session: Session) -> None:
    said = SAID[text]
    if "{}" in said:
        said = said.format(_least(session, text, 10))
        seen = said.replace(BEYOND, "").replace(", nor in their totals", "")
        assert nothing_seen(session.plan(text)) == (f"no row is shown; groups are {seen}{SHOW}",)
    else:
        assert nothing_seen(session.plan(text)) == ()
    assert groups_said(session.plan(text)) == (f"groups: {said}",)


def test_nothing_is_said_of_one_group_or_of_keys_that_data_alone_know(session: Session) -> None:
    for text in (
        "SELECT COUNT(*) FROM patients",
        "SELECT value, COUNT(*) FROM labs GROUP BY value",
    ):
        assert groups_said(session.plan(text)) == () and nothing_seen(session.plan(text)) == ()


def test_the_threshold_is_told_for_examples_where_only_tables_know_how_many_groups_there_are(
    session: Session,
) -> None:
    text = "SELECT chapter, COUNT(*) FROM conditions JOIN diagnoses USING (diagnosis) GROUP BY 1"
    few, many = (_least(session, text, groups) for groups in (100, 10_000))
    (said,) = groups_said(session.plan(text))
    assert (
        f"is {few} (of 100 groups) or {many} (of 10,000 groups) or more, which groups without rows, all together,"
        in said
    )


def test_each_core_is_told_with_its_cell(session: Session) -> None:
    """The two cores have the chance together, and their cells one numbering."""
    text = f"SELECT age, n FROM ({AGES}) t JOIN (SELECT male, COUNT(*) FROM patients GROUP BY 1) u ON TRUE"
    ages, sexes = groups_said(session.plan(text))
    assert (
        f"(cell 0) is {_least(session, text, 83)} or more{BLOCK}" in ages
        and "2.5 % of answers" in ages
    )
    assert (
        f"(cell 1) is {_least(session, text, 2, core=1)} or more, which" in sexes
        and "2.5 % of answers" in sexes
    )
