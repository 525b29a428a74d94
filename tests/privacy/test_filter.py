"""The filter admits exactly what its budget pays for, forecasts that,
and never lets the budget be passed.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from asks import MICRO, costs, gaussian, laplace
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpsql.errors import BudgetExhausted
from dpsql.privacy.accountants.advanced import AdvancedComposition
from dpsql.privacy.budget import Budget
from dpsql.privacy.filter import FilterState, admits
from dpsql.privacy.measure import FREE, Cost, epsilon_of_rho, epsilon_of_rho_standard

WHOLE = Fraction(1)


def admitted(budget: Budget, cost: Cost, most: int = 200) -> int:
    spent = FREE
    for count in range(most):
        if not admits(budget, spent, cost.rounded_up()):
            return count
        spent += cost.rounded_up()
    return most


@pytest.mark.parametrize(
    ("budget", "cost", "count"),
    [
        (Budget(Fraction(3), MICRO, WHOLE), gaussian(Fraction(1, 400)), 74),
        (Budget(Fraction(3), MICRO, WHOLE), laplace("0.1"), 37),
        (Budget(Fraction(1), MICRO, WHOLE), laplace("0.1"), 10),
        (Budget(Fraction(2), MICRO, WHOLE), laplace("0.1"), 20),
        (Budget(Fraction(1)), laplace("0.1"), 10),
        (Budget(Fraction(2)), laplace("0.1"), 20),
        (Budget(Fraction(3)), laplace("0.1"), 30),
        (Budget(Fraction(1)), laplace(Fraction(1, 3)), 3),
        (Budget(Fraction(1)), gaussian(Fraction(1, 400)), 0),
        (Budget(Fraction("0.3")), laplace("0.3"), 1),
    ],
)
def test_exactly_so_many_are_admitted(budget: Budget, cost: Cost, count: int) -> None:
    assert admitted(budget, cost) == count


def test_a_tenth_and_two_tenths_are_three_tenths() -> None:
    assert admits(Budget(Fraction("0.3")), laplace("0.1"), laplace("0.2"))
    assert not admits(Budget(Fraction("0.3")), laplace("0.1"), laplace("0.2000000001"))


def test_delta_is_refused_where_its_share_is_spent_or_missing() -> None:
    cost = Cost(Fraction(1, 10), Fraction(1, 200), MICRO / 30)
    assert admitted(Budget(Fraction(3), MICRO), cost) == 3
    assert admitted(Budget(Fraction(3)), cost) == 0
    assert admitted(Budget(Fraction(3), MICRO, WHOLE), cost) == 0


def test_the_conversion_is_what_makes_the_difference() -> None:
    """A filter with the standard conversion would stop at 58 of the 74:
    the count above can fail.
    """
    budget = Budget(Fraction(3), MICRO, WHOLE)
    assert (
        epsilon_of_rho_standard(Fraction(59, 400), MICRO)
        > 3
        > epsilon_of_rho_standard(Fraction(58, 400), MICRO)
    )
    assert epsilon_of_rho(Fraction(75, 400), MICRO) > 3 >= epsilon_of_rho(Fraction(74, 400), MICRO)
    assert budget.rho_total < Fraction(75, 400)


budgets = st.builds(
    Budget,
    st.fractions(min_value=Fraction(1, 10), max_value=5),
    st.sampled_from([Fraction(0), MICRO]),
)


@settings(max_examples=100)
@given(budgets, st.lists(costs, max_size=40))
@example(Budget(Fraction(3), MICRO), [gaussian(Fraction(1, 400))] * 80)
@example(Budget(Fraction(3), MICRO), [laplace("0.1")] * 40)
def test_the_filter_never_passes_its_budget(budget: Budget, asked: list[Cost]) -> None:
    spent = FREE
    for cost in asked:
        if admits(budget, spent, cost):
            spent += cost
            assert spent.delta <= budget.delta_selection
            assert (
                spent.epsilon is not None and spent.epsilon <= budget.epsilon
            ) or spent.rho <= budget.rho_total
    if budget.delta and (spent.epsilon is None or spent.epsilon > budget.epsilon) and spent != FREE:
        assert epsilon_of_rho(spent.rho, budget.delta_conversion) <= budget.epsilon + Fraction(
            1, 10**20
        )
    if not budget.delta:
        assert spent.epsilon is not None and spent.epsilon <= budget.epsilon


@settings(max_examples=100)
@given(budgets, st.lists(costs, max_size=5), costs)
def test_the_forecast_is_what_the_filter_does(
    budget: Budget, before: list[Cost], cost: Cost
) -> None:
    spent = FREE
    for earlier in before:
        spent += earlier.rounded_up() if admits(budget, spent, earlier.rounded_up()) else FREE
    forecast = FilterState(None, budget, spent).affordable(cost)
    count = 0
    while count <= forecast and admits(budget, spent, cost.rounded_up()):
        count, spent = count + 1, spent + cost.rounded_up()
    assert count == forecast


def test_a_delta_that_an_accountant_set_aside_and_another_does_not_is_said_to_be_used() -> None:
    """As where the schema's accountant was basic, which leaves all of δ to thresholds,
    and is another one now.
    """
    spent, budget = (
        Cost(Fraction(1, 10), Fraction(1, 200), Fraction("5e-7")),
        Budget(Fraction(3), Fraction("1e-6")),
    )
    with pytest.raises(
        BudgetExhausted, match="have used δ = 5e-7 and the budget now sets δ = 1e-7 aside"
    ):
        FilterState(None, budget, spent).require(Cost(Fraction(1, 10), Fraction(1, 200)))
    assert FilterState(None, budget, spent).affordable(Cost(Fraction(1, 10), Fraction(1, 200))) == 0
    fixed = Budget(Fraction(3), Fraction("1e-6"), rule=AdvancedComposition(9, Fraction(1, 10)))
    with pytest.raises(BudgetExhausted, match="statements in its ledger that are not of exactly"):
        FilterState(None, fixed, spent, Fraction(10)).require(
            Cost(Fraction(1, 10), Fraction(1, 200))
        )


def test_what_remains_never_falls_below_nothing() -> None:
    """An owner who lowers the budget under what is spent leaves nothing,
    and nothing more is admitted.
    """
    for budget in (Budget(Fraction(1)), Budget(Fraction(1), MICRO)):
        standing = FilterState(None, budget, Cost(Fraction(9), Fraction(40), MICRO))
        assert (standing.share, standing.epsilon, standing.delta) == (0, 0, 0)
        assert standing.affordable(laplace("0.01")) == 0
