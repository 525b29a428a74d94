"""STRING_AGG of public values: read off the counts of HISTOGRAM,
and seldom with a value that no row has.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from seeded_entropy import Seeded
from untouched import planning_session

from dpsql.errors import DatabaseError
from dpsql.planning.estimators.histogram import (
    ABSENT_SHOWN,
    PresentValues,
    least_present,
    released_value,
)
from dpsql.privacy.mechanism.tree import TreeMechanism
from dpsql.session import Session
from dpsql.sql.ir.core import JoinedText

LABS = "SELECT {} AS x FROM labs"
JOINED = "STRING_AGG(DISTINCT test, ', ')"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return planning_session("nafld", tmp_path_factory.mktemp("present") / "values.ledger")


def test_it_costs_what_a_histogram_costs(session: Session) -> None:
    alone = session.plan(LABS.format("HISTOGRAM(test)"))
    for text in (LABS.format(JOINED), LABS.format(f"HISTOGRAM(test) AS h, {JOINED}")):
        plan = session.plan(text)
        assert plan.cost == alone.cost
        assert [core.histograms for core in plan.cores] == [core.histograms for core in alone.cores]


def test_beside_the_most_frequent_value_all_counts_are_released(session: Session) -> None:
    (core,) = session.plan(LABS.format(f"MODE(test) AS m, {JOINED}")).cores
    assert isinstance(core.histograms[0].mechanism, TreeMechanism)


def test_values_are_joined_in_order() -> None:
    counts = [Fraction(9), Fraction(2), Fraction(10)]
    for joined, wanted in ((JoinedText("|", False), "a|c"), (JoinedText(", ", True), "c, a")):
        assert (
            released_value(PresentValues(0, ("c", "b", "a"), joined), counts, Fraction(9)) == wanted
        )
    assert (
        released_value(PresentValues(0, (1, 2), JoinedText(",", False)), counts[:2], Fraction(99))
        is None
    )
    assert (
        released_value(
            PresentValues(0, (True, False), JoinedText(",", False)), counts[:2], Fraction(1)
        )
        == "false,true"
    )


def test_a_value_that_no_row_has_is_seldom_shown(session: Session) -> None:
    """In 4,000 lists without rows; a half of the threshold is rejected,
    with a chance below 1e-9 of a false alarm.
    """
    (core,) = session.plan(LABS.format(JOINED)).cores
    (histogram,) = core.histograms
    assert isinstance(histogram.mechanism, TreeMechanism)
    (estimate,) = core.estimates
    assert isinstance(estimate, PresentValues)
    node, step = histogram.mechanism.node, histogram.contribution.step
    values, lists = len(estimate.values), 4_000
    least = least_present(histogram, values)
    drawn = node.sample(values * lists, _entropy=Seeded(7)).reshape(lists, values)

    def shown(threshold: Fraction) -> int:
        return sum(
            released_value(estimate, [int(each) * step for each in row], threshold) is not None
            for row in drawn
        )

    most = lists * float(ABSENT_SHOWN)
    far = 6.5 * (most * (1 - float(ABSENT_SHOWN))) ** 0.5
    assert shown(least) <= most + far
    assert shown(least / 2) > most + far


@pytest.mark.parametrize(
    "text",
    [
        "STRING_AGG(test, ', ')",
        "STRING_AGG(DISTINCT day, ', ')",
        "STRING_AGG(DISTINCT test, test)",
        "STRING_AGG(DISTINCT test, ', ' ORDER BY day)",
        "STRING_AGG(DISTINCT test || 'x', ', ')",
    ],
)
def test_what_has_no_public_values_is_refused(session: Session, text: str) -> None:
    with pytest.raises(DatabaseError):
        session.plan(LABS.format(text))


def test_a_refusal_says_that_values_are_different(session: Session) -> None:
    with pytest.raises(DatabaseError) as refused:
        session.plan("SELECT STRING_AGG(test, ', ') AS tests FROM labs WHERE day > 3")
    assert "(DISTINCT x, ', ')" in str(refused.value)


def test_the_ledger_is_not_touched(tmp_path: Path) -> None:
    assert (
        planning_session("nafld", tmp_path / "l").plan(LABS.format(JOINED)).columns[0].type
        == "VARCHAR"
    )
