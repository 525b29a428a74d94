"""TO REACH: the least price at which the intervals are as narrow as wanted,
and what is said where there is none.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpsql.errors import BudgetExhausted, StatementError
from dpsql.session import Session
from dpsql.session.pricing.expected_errors import expected
from dpsql.session.pricing.price_search import ReachedGoal, decimal, least, nearest

STATEMENTS = (
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT SUM(cost) AS n FROM visits",
    "SELECT SUM(weight) AS n, AVG(weight) AS a FROM patients",
    "SELECT sex, COUNT(*) AS n, SUM(ward) AS s FROM patients GROUP BY sex",
    "SELECT COUNT(DISTINCT ward) AS n, SUM(cost), COUNT(*) FROM patients JOIN visits USING (patient)",
    "SELECT sex, ward, COUNT(*) AS n FROM patients GROUP BY ROLLUP (sex, ward)",
)
GROUPED = (
    "SELECT sex, COUNT(*) AS n, AVG(weight) AS a, COUNT(*) / 2.0 AS half FROM patients GROUP BY sex"
)


def reached(session: Session, text: str) -> ReachedGoal:
    found = session.explain(text).reached
    assert found is not None
    return found


def half_width(session: Session, text: str, price: Fraction) -> float:
    """Of the column n."""
    plan = session.plan(text).at(price)
    (half,) = [
        error.half_width for error in expected(plan) if error is not None and error.name == "n"
    ]
    return half


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.sampled_from(STATEMENTS), digits=st.integers(1, 999), power=st.integers(-2, 4))
def test_the_price_reaches_and_a_smaller_one_does_not(
    session: Session, text: str, digits: int, power: int
) -> None:
    target = Decimal(digits).scaleb(power)
    found = reached(session, f"{text} TO REACH n ± {target:f}")
    if found.epsilon is None:
        assert found.most is not None
        return
    assert half_width(session, text, found.epsilon) <= float(target) * (1 + 1e-12)
    assert half_width(session, text, found.epsilon * Fraction(98, 100)) > float(target)
    assert decimal(nearest(float(found.epsilon))) == found.epsilon
    if found.share is None:
        assert found.most is not None and found.most < found.epsilon
        with pytest.raises(BudgetExhausted):
            for standing in session.remaining.standings:
                standing.require(session.plan(text).at(found.epsilon).cost.rounded_up())
            raise (
                BudgetExhausted
                if found.epsilon > session.schema.privacy.epsilon
                else AssertionError
            )
    else:
        assert 0 < found.share <= 1 and not found.best


def test_all_columns_are_reached_and_the_widest_decides(session: Session) -> None:
    text = "SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits"
    alone = reached(session, f"{text} TO REACH n ± 3").epsilon
    both = reached(session, f"{text} TO REACH ± 3").epsilon
    named = reached(session, f"{text} TO REACH n ± 3, s ± 1500")
    assert alone is not None and both is not None and named.epsilon is not None
    assert both > 50 * alone
    assert [error.name for error in named.errors] == ["n", "s"]
    assert named.errors[0].half_width <= 3 and named.errors[1].half_width <= 1500


def test_a_part_of_a_size_that_is_said(session: Session) -> None:
    text = "SELECT COUNT(*) AS n FROM visits"
    assert (
        reached(session, f"{text} TO REACH 5 % OF 4000").epsilon
        == reached(session, f"{text} TO REACH 200").epsilon
    )


def test_the_budget_says_what_it_admits(session: Session) -> None:
    found = reached(session, "SELECT COUNT(*) AS n FROM visits TO REACH ± 0.001")
    assert found.share is None and found.most is not None and found.best[0].half_width > 0.001
    plan = session.plan("SELECT COUNT(*) AS n FROM visits")
    for standing in session.remaining.standings:
        standing.require(plan.at(found.most).cost.rounded_up())
    above = decimal(nearest(float(found.most)) + 1)
    if above <= session.schema.privacy.epsilon:
        with pytest.raises(BudgetExhausted):
            for standing in session.remaining.standings:
                standing.require(plan.at(above).cost.rounded_up())
    lines = str(session.explain("SELECT COUNT(*) AS n FROM visits TO REACH ± 0.001"))
    assert "the budget does not admit it; it admits ε = " in lines


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT COUNT(*) AS m FROM visits WHERE cost > 3 TO REACH 5 %", "5 % of what 'm' is"),
        ("SELECT AVG(cost) AS m FROM visits WHERE cost > 3 TO REACH 5", "how wide 'm' is"),
        ("SELECT COUNT(*) * 2 AS m FROM visits WHERE cost > 3 TO REACH 5", "how wide 'm' is"),
        ("SELECT COUNT(*) AS m FROM visits TO REACH n 5", "no column 'n'"),
        ("SELECT BOOL_AND(ward > 1) AS m FROM patients TO REACH 5", "no column of the result"),
        (
            "SELECT COUNT(*) AS m FROM visits WHERE cost > (SELECT AVG(cost) FROM visits) TO REACH 5",
            "no column of the",
        ),
        ("SELECT COUNT(*) AS m FROM visits TO REACH 0", "no target; write a number above 0"),
        ("SELECT COUNT(*) AS m FROM visits TO REACH n 5, N 6", "one target for each column"),
        ("SELECT COUNT(*) AS m FROM visits TO REACH soon", "no target; write ± 200"),
        ("SELECT COUNT(*) AS m FROM visits TO REACH 5 AT 0 ROWS", "rows of 1 or more"),
    ],
)
def test_what_is_not_known_is_said(session: Session, text: str, said: str) -> None:
    with pytest.raises(StatementError, match=said) as refusal:
        session.execute(f"EXPLAIN PRIVACY {text}")
    if "not released yet" in str(refusal.value):
        assert refusal.value.hint is not None
        words = (
            refusal.value.hint
            if "cost)" in text or "COUNT(*) AS" in text
            else "TO REACH 5 AT 4000 ROWS"
        )
        if "* 2" in text:
            assert (
                words.startswith("TO REACH")
                and refusal.value.hint == "SET dpsql.target_error = '± 5'"
            )
        else:
            assert session.explain(text.partition(" TO REACH")[0] + " " + words).reached is not None


@pytest.mark.parametrize("target", ["± 2", "5 %", "m 5 %"])
@pytest.mark.parametrize("column", ["MEDIAN(cost)", "STDDEV(cost)", "SUM(cost) / COUNT(*)"])
def test_what_only_an_answer_tells_is_bought_by_one(
    session: Session, column: str, target: str
) -> None:
    """Of a median neither a size nor a number of rows tells the width:
    what is to be written instead has a pilot.
    """
    text = f"SELECT {column} AS m FROM visits WHERE cost > 7"
    with pytest.raises(StatementError, match="how wide 'm' is depends on numbers") as refusal:
        session.execute(f"EXPLAIN PRIVACY {text} TO REACH {target}")
    assert refusal.value.hint is not None
    session.execute(refusal.value.hint)
    assert session.plan(text).pilot
    session.execute("RESET dpsql.target_error")


def test_what_was_released_before_tells_sizes(session: Session) -> None:
    """Of the released numbers, at any price, and of none that were not released."""
    session.set("dpsql.epsilon", "20")
    result = session.execute(GROUPED)
    session.set("dpsql.epsilon", None)
    before = session.remaining
    explanation = session.explain(f"{GROUPED} TO REACH n 50 %")
    found = explanation.reached
    assert found is not None and found.known == 20
    sizes = sorted(abs(float(str(row[1]))) for row in result.rows)
    middle = sizes[len(sizes) // 2] if len(sizes) % 2 else (sizes[0] + sizes[1]) / 2
    if not found.free:
        assert found.epsilon is not None
        assert half_width(session, GROUPED, found.epsilon) <= 0.5 * middle
        assert half_width(session, GROUPED, found.epsilon * Fraction(98, 100)) > 0.5 * middle
    assert session.remaining == before
    for name in ("a", "half"):
        said = next(
            line
            for line in str(session.explain(GROUPED)).splitlines()
            if line.startswith(f"column {name}:")
        )
        assert "with what was released before at ε = 20" in said


def test_what_was_released_before_is_told_as_it_was_shown(session: Session) -> None:
    """At its own price the figure of an earlier answer is the half-width of the interval that stood
    beside it.
    """
    text = (
        "SELECT AVG(weight) AS a, VARIANCE(ward) AS v, COUNT(*) / 2.0 AS half, MEDIAN(ward) AS m, "
        "COUNT(*) FILTER (WHERE ward > 1) * 1.0 / COUNT(*) AS part FROM patients"
    )
    session.set("dpsql.epsilon", "20")
    result, explanation = session.execute(text), session.explain(text)
    assert explanation.stored and explanation.known == 20
    for ends, error in zip(result.intervals[0], explanation.expected, strict=True):
        assert ends is not None and error is not None
        assert (ends[1] - ends[0]) / 2 == pytest.approx(
            error.half_width, rel=0.2
        )  # some are drawn anew
    for place in (0, 1, 3):
        ends, error = result.intervals[0][place], explanation.expected[place]
        assert ends is not None and error is not None
        assert (ends[1] - ends[0]) / 2 == pytest.approx(error.half_width, rel=1e-9)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 'to reach 5 %' AS t, COUNT(*) AS n FROM visits",
        'SELECT COUNT(*) AS "to reach 5" FROM visits',
        "SELECT COUNT(*) AS n FROM visits -- to reach 5",
        "SELECT COUNT(*) AS n /* to reach 5 */ FROM visits",
    ],
)
def test_the_words_elsewhere_are_other_words(session: Session, text: str) -> None:
    assert session.explain(text).reached is None
    assert session.explain(f"{text}\n TO REACH /* about */ 5 -- or so\n;").reached is not None


@given(st.floats(1e-9, 1e9))
def test_prices_have_three_digits_and_are_near(value: float) -> None:
    found = decimal(nearest(value))
    assert abs(float(found) - value) <= value * 0.005 * (1 + 1e-9)
    assert decimal(nearest(float(found))) == found
    assert decimal(nearest(value) + 1) > found > decimal(nearest(value) - 1)


@given(st.floats(1e-6, 1e6), st.floats(1e-3, 1e3))
def test_the_least_is_found_from_anywhere(bound: float, guess: float) -> None:
    found = least(lambda price: float(price) >= bound, guess)
    assert found is not None and float(found) >= bound > float(decimal(nearest(float(found)) - 1))


def test_lists_of_quantiles_are_not_counted_and_that_is_said(session: Session) -> None:
    text = "SELECT COUNT(*) AS n, QUANTILE_CONT(cost, [0.25, 0.75]) AS q FROM visits"
    found = reached(session, f"{text} TO REACH ± 5")
    assert [each.name for each in found.errors] == ["n"] and found.lists == ("q",)
    assert "not counting the lists of quantiles q" in found.lines[0]
    assert not reached(session, f"{text} TO REACH n ± 5").lists
