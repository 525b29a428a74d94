"""Windows follow the calendar, and what is said of all of them together is not less than what they
can lose.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from fractions import Fraction
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textbook_composition import gaussian_delta

from dpsql.privacy.accountants.advanced import AdvancedComposition
from dpsql.privacy.accountants.basic_and_zcdp import Basic, Concentrated, Hybrid
from dpsql.privacy.accountants.composition_rule import CompositionRule
from dpsql.privacy.accountants.renyi import Renyi
from dpsql.privacy.budget import Budget, Lifetime, Refresh, Window
from dpsql.privacy.measure import FREE, Cost, epsilon_of_rho

MICRO = Fraction("1e-6")
KINDS: tuple[Refresh, ...] = get_args(Refresh)
NAMES = {"daily": "%Y-%m-%d", "weekly": "%G-%V", "monthly": "%Y-%m", "yearly": "%Y"}
moments = st.datetimes(min_value=datetime(1000, 1, 1), timezones=st.just(UTC))


@pytest.mark.parametrize("refresh", KINDS)
@given(moments, moments)
def test_two_moments_share_a_window_where_the_calendar_says_so(
    refresh: Refresh, first: datetime, second: datetime
) -> None:
    one, other = Window.at(first, refresh), Window.at(second, refresh)
    assert (one == other) == (first.strftime(NAMES[refresh]) == second.strftime(NAMES[refresh]))
    assert (one.number <= other.number) or first > second


@pytest.mark.parametrize("refresh", KINDS)
@given(moments)
def test_a_window_lasts_from_its_start_to_the_next(refresh: Refresh, moment: datetime) -> None:
    window = Window.at(moment, refresh)
    assert window.start <= moment and Window.at(window.start, refresh) == window
    if window.start > datetime(1000, 2, 2, tzinfo=UTC):
        assert (
            Window.at(window.start - timedelta(microseconds=1), refresh).number == window.number - 1
        )
    after = window.renewal
    if after is not None:
        begins = datetime(after.year, after.month, after.day, tzinfo=UTC)
        assert moment < begins and Window.at(begins, refresh).number == window.number + 1


def test_windows_are_those_of_utc_wherever_the_clock_hangs() -> None:
    tokyo = datetime(2026, 1, 1, 8, tzinfo=timezone(timedelta(hours=9)))
    assert str(Window.at(tokyo, "yearly")) == "2025-01-01 to 2025-12-31"
    assert str(Window.at(tokyo, "daily")) == "2025-12-31"


@pytest.mark.parametrize("refresh", KINDS)
def test_the_calendar_ends_without_a_crash(refresh: Refresh) -> None:
    last = Window.at(datetime.max.replace(tzinfo=UTC), refresh)
    assert last.renewal is None and str(last).endswith("9999-12-31")
    assert Window.at(datetime.min.replace(tzinfo=UTC), refresh).start == datetime.min.replace(
        tzinfo=UTC
    )


def test_a_budget_that_is_never_renewed_lasts_a_lifetime() -> None:
    for budget in (Budget(Fraction(3)), Budget(Fraction(3), MICRO), Budget(Fraction(1, 10), MICRO)):
        lifetime = Lifetime(budget, 1, FREE)
        assert (lifetime.epsilon, lifetime.delta) == (budget.epsilon, budget.delta)


def test_windows_add_up() -> None:
    assert Lifetime(Budget(Fraction(1)), 52, FREE).epsilon == 52
    assert Lifetime(Budget(Fraction(1), MICRO), 52, FREE).epsilon == 52
    year = Lifetime(Budget(Fraction(1, 10), MICRO), 365, FREE)
    assert year.epsilon is not None and 8 < year.epsilon < 9 and year.delta == 365 * MICRO
    assert (
        str(Lifetime(Budget(Fraction(1), MICRO), 3, FREE)) == "ε = 3, δ = 0.000003 over 3 windows"
    )
    assert Lifetime(Budget(Fraction(1), MICRO), 2_000_000, FREE).delta == 1


def coin_delta(epsilon: float, count: int, target: float) -> float:
    """The exact δ at ``target`` of ``count`` randomised responses at ε,
    whose loss is (2k − n)ε after k truths.
    """
    truth = 1 / (1 + math.exp(-epsilon))
    return math.fsum(
        math.comb(count, k)
        * truth**k
        * (1 - truth) ** (count - k)
        * -math.expm1(target - (2 * k - count) * epsilon)
        for k in range(count + 1)
        if (2 * k - count) * epsilon > target
    )


CASES = [
    (Fraction(1), 5),
    (Fraction(1), 52),
    (Fraction(1, 2), 200),
    (Fraction(1, 10), 365),
    (Fraction(1, 50), 900),
]


@pytest.mark.parametrize(("epsilon", "windows"), CASES)
def test_windows_that_are_used_up_lose_no_more_than_is_said(
    epsilon: Fraction, windows: int
) -> None:
    """By the pure clause with one coin for each, and by that of zCDP with Gaussian noise,
    each exactly computed.
    """
    budget = Budget(epsilon, MICRO)
    lifetime = Lifetime(budget, windows, FREE)
    said, delta = float(lifetime.epsilon or 0), float(lifetime.delta)
    assert coin_delta(float(epsilon), windows, said) <= delta
    assert gaussian_delta(said, 1 / math.sqrt(2 * windows * float(budget.rho_total))) <= delta


@pytest.mark.parametrize(("epsilon", "windows"), CASES)
def test_less_than_is_said_would_be_too_little(epsilon: Fraction, windows: int) -> None:
    """The coins of a pure budget lose all of it,
    and those of small windows with δ most of what zCDP says.
    """
    pure = Lifetime(Budget(epsilon), windows, FREE)
    assert (
        pure.epsilon == windows * epsilon
        and coin_delta(float(epsilon), windows, 0.7 * float(pure.epsilon)) > 0
    )
    lifetime = Lifetime(Budget(epsilon, MICRO), windows, FREE)
    assert coin_delta(float(epsilon), windows, 0.7 * float(lifetime.epsilon or 0)) > 0
    if epsilon <= Fraction(1, 10):
        assert coin_delta(float(epsilon), windows, 0.7 * float(lifetime.epsilon or 0)) > float(
            lifetime.delta
        )


def test_each_rule_adds_up_its_windows_by_what_it_holds() -> None:
    def year(rule: CompositionRule) -> Lifetime:
        return Lifetime(
            Budget(Fraction(1, 10), MICRO, rule=rule), 365, Cost(Fraction(30), Fraction(30))
        )

    converted = year(Concentrated()).budget
    assert (
        year(Basic()).epsilon
        == year(Renyi()).epsilon
        == year(AdvancedComposition(5, Fraction(1, 100))).epsilon
        == Fraction(73, 2)
    )
    assert {
        year(rule).delta
        for rule in (Basic(), Renyi(), AdvancedComposition(5, Fraction(1, 100)), Hybrid())
    } == {365 * MICRO}
    assert Lifetime(converted, 365, FREE).epsilon == epsilon_of_rho(
        365 * converted.rho_total, 365 * converted.delta_conversion
    )
    for rule in (Concentrated(), Renyi(), AdvancedComposition(5, Fraction(1, 100))):
        assert Lifetime(Budget(Fraction(1, 10), MICRO, rule=rule), 1, FREE).epsilon == Fraction(
            1, 10
        )


def test_a_lifetime_is_not_less_than_what_was_spent() -> None:
    """As where the schema's budget was once larger."""
    small = Budget(Fraction(1, 10), MICRO)
    coins = Cost(Fraction(2), Fraction(2) * Fraction(0.7615941559557649), MICRO)
    assert Lifetime(small, 1, coins).epsilon == 2
    assert Lifetime(small, 1, coins).delta == MICRO + small.delta_conversion
    noise = Cost(None, Fraction(1, 10))
    assert (
        Lifetime(small, 1, noise).epsilon
        == epsilon_of_rho(Fraction(1, 10), small.delta_conversion)
        > 1
    )
    assert Lifetime(Budget(Fraction(1)), 3, noise).epsilon is None
    assert str(Lifetime(Budget(Fraction(1)), 3, noise)) == "ε = ∞, δ = 0 over 3 windows"


def test_months_and_years_have_their_lengths() -> None:
    assert Window.at(datetime(2024, 2, 29, tzinfo=UTC), "monthly").renewal == date(2024, 3, 1)
    assert Window.at(datetime(2024, 12, 31, tzinfo=UTC), "yearly").renewal == date(2025, 1, 1)
    assert str(Window.at(datetime(2027, 1, 3, tzinfo=UTC), "weekly")) == "2026-12-28 to 2027-01-03"
