"""Each accountant that an owner may name admits what its theorem allows,
and refuses what it does not hold for.
"""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textbook_composition import advanced as textbook_advanced
from textbook_composition import epsilon_of_renyi, laplace_renyi

from dpsql.errors import BudgetExhausted, DataError, LedgerError
from dpsql.privacy.accountant import Accountant
from dpsql.privacy.accountants.advanced import AdvancedComposition, advanced
from dpsql.privacy.accountants.basic_and_zcdp import Basic, Concentrated, Hybrid
from dpsql.privacy.accountants.composition_rule import CompositionRule
from dpsql.privacy.accountants.renyi import (
    MOST_ORDER,
    Renyi,
    order_of,
    renyi_of,
    renyi_total,
    response_renyi,
)
from dpsql.privacy.budget import Budget
from dpsql.privacy.filter import FilterState, admits
from dpsql.privacy.ledger import Ledger, LedgerIdentity
from dpsql.privacy.measure import FREE, Cost, epsilon_of_rho, epsilon_of_rho_standard
from dpsql.privacy.mechanism.laplace import Laplace

MICRO, NANO = Fraction("1e-6"), Fraction("1e-9")
TENTH, WHOLE = Fraction(1, 10), Fraction(1)


class Ask:
    """The least that can be charged."""

    def __init__(self, cost: Cost) -> None:
        self.cost = cost


def count(epsilon: Fraction = TENTH) -> Cost:
    """A COUNT under discrete Laplace noise."""
    return Laplace.for_epsilon(1, epsilon).cost


def gaussian(rho: Fraction) -> Cost:
    return Cost(None, rho)


def admitted(budget: Budget, cost: Cost, most: int = 300) -> int:
    spent, tallied, cost = FREE, Fraction(0), cost.rounded_up()
    for number in range(most):
        if not admits(budget, spent, cost, tallied):
            return number
        spent, tallied = spent + cost, tallied + budget.weight(cost)
    return most


def budget(rule: CompositionRule, epsilon: int | Fraction = 3, delta: Fraction = MICRO) -> Budget:
    return Budget(Fraction(epsilon), delta, WHOLE, rule)


# the figures that are known


def test_advanced_composition_has_the_known_values_and_is_never_above_basic() -> None:
    assert float(advanced(100, TENTH, MICRO)) == pytest.approx(6.3082, rel=1e-4)
    assert float(advanced(1000, TENTH, MICRO)) == pytest.approx(27.1397, rel=1e-4)
    assert float(advanced(100, TENTH, NANO)) == pytest.approx(7.4896, rel=1e-4)
    assert textbook_advanced(10, 0.1, 1e-6) == pytest.approx(1.7674, rel=1e-4)
    assert (advanced(1, TENTH, MICRO), advanced(10, TENTH, MICRO)) == (TENTH, 1)
    assert advanced(7, Fraction(5000), MICRO) == 35000 and advanced(
        3, TENTH, Fraction(0)
    ) == Fraction(3, 10)


@settings(max_examples=60)
@given(st.integers(1, 10**6), st.fractions(Fraction(1, 1000), 5), st.integers(2, 40))
def test_advanced_composition_is_rounded_up_and_tight(
    number: int, epsilon: Fraction, places: int
) -> None:
    with mpmath.workdps(60):
        e, delta = mpmath.mpf(epsilon.numerator) / epsilon.denominator, mpmath.mpf(10) ** -places
        exact = min(
            number * e,
            e * mpmath.sqrt(2 * number * -mpmath.log(delta)) + number * e * mpmath.expm1(e),
        )
        found = advanced(number, epsilon, Fraction(1, 10**places))
        found = mpmath.mpf(found.numerator) / found.denominator
        assert (
            exact * (1 - mpmath.mpf("1e-55"))
            <= found
            <= exact + (number + 10) * mpmath.mpf("1e-28")
        )


def divergence(epsilon: Fraction, order: int) -> mpmath.mpf:
    """That of randomized response, by its two outcomes."""
    with mpmath.workdps(200):
        p = 1 / (1 + mpmath.exp(-mpmath.mpf(epsilon.numerator) / epsilon.denominator))
        return mpmath.log(
            p**order * (1 - p) ** (1 - order) + (1 - p) ** order * p ** (1 - order)
        ) / (order - 1)


@settings(max_examples=60)
@given(st.fractions(Fraction(1, 10**6), 60), st.integers(2, 2000))
def test_the_divergence_of_randomized_response_is_that_of_its_two_outcomes(
    epsilon: Fraction, order: int
) -> None:
    found, exact = response_renyi(epsilon, order), divergence(epsilon, order)
    with mpmath.workdps(60):
        found = mpmath.mpf(found.numerator) / found.denominator
        assert (
            exact * (1 - mpmath.mpf("1e-40")) <= found <= exact + mpmath.mpf("1e-40") * (1 + exact)
        )


def test_an_independent_library_has_the_same_divergence() -> None:
    from dp_accounting.dp_event import RandomizedResponseDpEvent
    from dp_accounting.privacy_accountant import NeighboringRelation
    from dp_accounting.rdp import RdpAccountant

    for epsilon, order in ((0.1, 8), (0.5, 21), (2.0, 3)):
        accountant = RdpAccountant([order], NeighboringRelation.REPLACE_ONE)
        accountant.compose(RandomizedResponseDpEvent(2 / (1 + math.exp(epsilon)), 2))
        ours = float(response_renyi(Fraction(epsilon), order))
        assert ours == pytest.approx(float(accountant._rdp[0]), rel=1e-9)


@settings(max_examples=40)
@given(
    st.fractions(Fraction(1, 50), 20),
    st.sampled_from([MICRO, NANO, Fraction(1, 100)]),
    st.integers(2, 500),
)
def test_what_an_order_allows_is_the_conversion_turned_round(
    epsilon: Fraction, delta: Fraction, order: int
) -> None:
    total = renyi_total(epsilon, delta, order)
    with mpmath.workdps(60):
        log = mpmath.log(mpmath.mpf(delta.numerator) / delta.denominator)
        rest = mpmath.log(1 - mpmath.mpf(1) / order) - (log + mpmath.log(order)) / (order - 1)
        exact = max(mpmath.mpf(epsilon.numerator) / epsilon.denominator - rest, 0)
        assert 0 <= exact - mpmath.mpf(total.numerator) / total.denominator <= mpmath.mpf("1e-29")


def test_the_order_is_a_function_of_the_promise_near_the_best_for_zcdp() -> None:
    for epsilon, delta in (
        (WHOLE, MICRO),
        (Fraction(3), MICRO),
        (Fraction(3), NANO),
        (Fraction(1, 100), MICRO),
    ):
        order = order_of(epsilon, delta)
        best = max(range(2, 4000), key=lambda each: renyi_total(epsilon, delta, each) / each)
        assert abs(order - best) <= 1
    assert order_of(Fraction(1, 10**12), Fraction(1, 10**300)) == MOST_ORDER
    assert Renyi().order(Budget(Fraction(3), MICRO, rule=Renyi()).promise) == order_of(
        Fraction(3), MICRO * 9 / 10
    )


@pytest.mark.parametrize("order", [1, 0, 1.5, True, MOST_ORDER + 1])
def test_what_is_no_order_is_refused(order: int) -> None:
    with pytest.raises(DataError, match="order"):
        renyi_of(count(), order)


# what is admitted


@pytest.mark.parametrize(
    ("rule", "epsilon", "cost", "number"),
    [
        (Hybrid(), 3, gaussian(Fraction(1, 400)), 74),
        (Concentrated(), 3, gaussian(Fraction(1, 400)), 74),
        (Hybrid(), 3, count(), 37),
        (Concentrated(), 3, count(), 37),
        (Hybrid(), 1, count(), 10),
        (Concentrated(), 1, count(), 4),
        (Basic(), 1, count(), 10),
        (Basic(), 3, count(), 30),
        (Basic(), 3, gaussian(Fraction(1, 400)), 0),
        (Renyi(), 3, count(), 39),
        (Renyi(), 3, gaussian(Fraction(1, 400)), 72),
        (Renyi(), 1, count(), 7),
        (AdvancedComposition(100, TENTH), 3, count(), 30),
        (AdvancedComposition(25, TENTH), 3, count(), 25),
        (AdvancedComposition(10000, Fraction(1, 100)), 3, count(Fraction(1, 100)), 2695),
        (AdvancedComposition(100, TENTH), 3, count(Fraction(1, 20)), 0),
        (AdvancedComposition(100, TENTH), 3, gaussian(Fraction(1, 400)), 0),
    ],
)
def test_exactly_so_many_are_admitted(
    rule: CompositionRule, epsilon: int, cost: Cost, number: int
) -> None:
    assert admitted(budget(rule, epsilon), cost, 3000) == number
    assert FilterState(None, budget(rule, epsilon), FREE).affordable(cost) == number


def test_accountants_are_ordered_for_a_hundred_counts() -> None:
    """Of a fixed order RDP has no less than of the best one,
    and no more than the conversion of zCDP at that order.
    """
    cost, number = count(), 100
    pure, rho = number * TENTH, number * cost.rho
    much = Fraction(50)
    rdp = min(
        number * response_renyi(TENTH, order) + much - renyi_total(much, MICRO, order)
        for order in range(2, 60)
    )
    at_best = epsilon_of_renyi(
        lambda a: 100 * laplace_renyi(0.1, a), 1e-6, [1 + n / 100 for n in range(50, 4000)]
    )
    assert at_best < rdp < epsilon_of_rho(rho, MICRO) <= epsilon_of_rho(pure * TENTH / 2, MICRO)
    assert (
        epsilon_of_rho(rho, MICRO)
        < epsilon_of_rho_standard(rho, MICRO)
        < advanced(number, TENTH, MICRO)
        < pure
    )


prices = st.fractions(min_value=Fraction(1, 50), max_value=2, max_denominator=300)
costs = st.one_of(
    prices.map(count),
    prices.map(lambda epsilon: gaussian(epsilon**2 / 2)),
    prices.map(lambda epsilon: count(epsilon) + Cost(Fraction(0), Fraction(0), MICRO / 50)),
)
rules = st.sampled_from(
    [
        Basic(),
        Concentrated(),
        Renyi(),
        AdvancedComposition(40, TENTH),
        AdvancedComposition(5, Fraction(1, 2)),
        Hybrid(),
    ]
)


@settings(max_examples=150)
@given(
    rules,
    st.fractions(Fraction(1, 10), 5),
    st.lists(st.one_of(costs, st.just(count())), max_size=40),
)
def test_no_filter_passes_its_bound(
    rule: CompositionRule, epsilon: Fraction, asked: list[Cost]
) -> None:
    budget = Budget(epsilon, MICRO, rule=rule)
    spent, tallied, entries = FREE, Fraction(0), list[Cost]()
    for each in asked:
        cost = each.rounded_up()
        if admits(budget, spent, cost, tallied):
            spent, tallied = spent + cost, tallied + budget.weight(cost)
            entries.append(cost)
    assert (
        spent.delta <= budget.delta_selection
        and budget.delta_selection + budget.delta_conversion == MICRO
    )
    match rule:
        case Basic():
            assert (
                spent.epsilon is not None
                and spent.epsilon <= epsilon
                and budget.delta_selection == MICRO
            )
        case Concentrated():
            assert epsilon_of_rho(spent.rho, budget.delta_conversion) <= epsilon + Fraction(
                1, 10**20
            )
        case Renyi():
            order = rule.order(budget.promise)
            total = math.fsum(min(order * float(each.rho), at(each, order)) for each in entries)
            bound = (
                total
                + math.log1p(-1 / order)
                - (math.log(budget.delta_conversion) + math.log(order)) / (order - 1)
            )
            assert not entries or bound <= epsilon + Fraction(1, 10**9)
        case AdvancedComposition():
            assert all(each.epsilon == rule.epsilon and each.delta == 0 for each in entries)
            assert len(entries) <= rule.statements
            assert textbook_advanced(len(entries), float(rule.epsilon), 1e-6) <= epsilon + Fraction(
                1, 10**9
            ) or (len(entries) * rule.epsilon <= epsilon)
        case Hybrid():
            pure = spent.epsilon is not None and spent.epsilon <= epsilon
            assert pure or spent.rho <= budget.rho_total


def at(cost: Cost, order: int) -> float:
    """The divergence of a pure cost at an order, by its two outcomes;
    infinite where it is not pure.
    """
    return math.inf if cost.epsilon is None else float(divergence(cost.epsilon, order))


def test_nothing_that_converts_goes_without_delta() -> None:
    for rule in (Concentrated(), Renyi(), AdvancedComposition(3, TENTH)):
        with pytest.raises(DataError, match="needs a delta"):
            Budget(WHOLE, rule=rule)
    assert Budget(WHOLE, rule=Basic()).delta_selection == 0


@pytest.mark.parametrize(
    ("statements", "epsilon"),
    [
        (0, TENTH),
        (-1, TENTH),
        (1.5, TENTH),
        (True, TENTH),
        (None, TENTH),
        (10, None),
        (10, Fraction(0)),
        (10, 0.1),
    ],
)
def test_advanced_composition_without_what_is_fixed_is_refused(
    statements: object, epsilon: object
) -> None:
    with pytest.raises(DataError, match="fixed beforehand"):
        AdvancedComposition(statements, epsilon)  # type: ignore[arg-type]


# over a ledger


def opened(path: Path, rule: CompositionRule, epsilon: int = 3, **caps: Budget) -> Accountant:
    return Accountant(
        Ledger.open(path, LedgerIdentity("d", "p.id", "add-remove")), budget(rule, epsilon), caps
    )


def spend(accountant: Accountant, cost: Cost, analyst: str = "ada") -> int:
    return accountant.spend(Ask(cost), analyst=analyst, statement="SELECT 1").entry


@pytest.mark.parametrize(
    ("rule", "number"), [(Renyi(), 39), (AdvancedComposition(31, TENTH), 30), (Basic(), 30)]
)
def test_the_ledger_admits_what_the_filter_does_across_openings(
    tmp_path: Path, rule: CompositionRule, number: int
) -> None:
    first, second = opened(tmp_path / "l", rule), opened(tmp_path / "l", rule)
    for each in range(number):
        if each == number // 2:
            first = opened(tmp_path / "l", rule)
        assert (
            first.remaining().affordable(count())
            == second.remaining().affordable(count())
            == number - each
        )
        assert spend(first if each % 2 else second, count()) == each + 1
    for accountant in (first, second, opened(tmp_path / "l", rule)):
        with pytest.raises(BudgetExhausted):
            spend(accountant, count())
        assert accountant.remaining().affordable(count()) == 0


def test_the_tally_is_the_sum_over_all_entries_of_everybody_and_of_an_analyst(
    tmp_path: Path,
) -> None:
    cap = budget(Renyi(), 1)
    accountant = opened(tmp_path / "l", Renyi(), ada=cap)
    costs = [count(), gaussian(Fraction(1, 800)), count(Fraction(1, 5)), count(Fraction(1, 7))]
    for place, cost in enumerate(costs):
        spend(accountant, cost, "ada" if place % 2 else "bob")
    for again in (accountant, opened(tmp_path / "l", Renyi(), ada=cap)):
        total, own = again.remaining("ada").standings
        assert total.tallied == sum(again.budget.weight(cost.rounded_up()) for cost in costs) > 0
        assert own.tallied == sum(cap.weight(cost.rounded_up()) for cost in costs[1::2])
        assert (
            Renyi().order(again.budget.promise) != Renyi().order(cap.promise)
            and own.epsilon < total.epsilon
        )


def test_a_cap_is_held_by_the_same_rule(tmp_path: Path) -> None:
    accountant = opened(tmp_path / "l", Renyi(), ada=budget(Renyi(), 1))
    for _ in range(7):
        spend(accountant, count())
    with pytest.raises(BudgetExhausted, match="the cap of 'ada'"):
        spend(accountant, count())
    spend(accountant, count(), "bob")


def test_advanced_composition_says_why_it_refuses(tmp_path: Path) -> None:
    accountant = opened(tmp_path / "l", AdvancedComposition(2, TENTH))
    for cost in (count(Fraction(1, 20)), count(Fraction(1, 5)), gaussian(Fraction(1, 200))):
        with pytest.raises(
            BudgetExhausted, match=r"is pure and costs exactly ε = 0\.1, as was fixed beforehand"
        ):
            spend(accountant, cost)
    with pytest.raises(BudgetExhausted, match="undeclared group keys"):
        spend(accountant, count() + Cost(Fraction(0), Fraction(0), NANO))
    assert [spend(accountant, count()), spend(accountant, count())] == [1, 2]
    with pytest.raises(BudgetExhausted, match="all of the 2 statements that were fixed beforehand"):
        spend(accountant, count())


def test_statements_of_another_price_in_the_ledger_end_advanced_composition(tmp_path: Path) -> None:
    """An owner who names it after others were answered, or changes its ε,
    gets nothing more by it.
    """
    spend(opened(tmp_path / "l", Hybrid()), gaussian(Fraction(1, 10**6)))
    for epsilon in (TENTH, Fraction(1, 20)):
        with pytest.raises(BudgetExhausted, match="not of exactly"):
            spend(opened(tmp_path / "l", AdvancedComposition(20, epsilon)), count(epsilon))


def test_gaussian_noise_is_refused_under_basic_composition(tmp_path: Path) -> None:
    with pytest.raises(BudgetExhausted, match="an accountant that adds up zCDP"):
        spend(opened(tmp_path / "l", Basic()), gaussian(Fraction(1, 400)))


def test_a_line_that_the_tally_reads_must_stand_in_its_place(tmp_path: Path) -> None:
    import sqlite3

    from dpsql.privacy.ledger import WeightTally

    accountant = opened(tmp_path / "l", Renyi())
    for _ in range(130):
        spend(accountant, count(Fraction(1, 100)))
    connection = sqlite3.connect(tmp_path / "l")
    connection.execute("DROP TRIGGER entries_stay")
    connection.execute("DELETE FROM entries WHERE seq = 7")
    connection.commit()
    connection.close()
    with pytest.raises(LedgerError, match="entry 8"):
        spend(opened(tmp_path / "l", Renyi()), count())
    with pytest.raises(LedgerError):
        accountant.ledger.spent(tally=WeightTally({None: accountant.budget.weight}))
