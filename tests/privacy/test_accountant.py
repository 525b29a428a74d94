"""The filter never lets a budget be passed, and a charge is made by the accountant only and used once."""

from __future__ import annotations

import copy
import math
import os
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from dpsql.errors import BudgetExhausted, DataError, InternalError
from dpsql.privacy.accountant import Accountant, Charge
from dpsql.privacy.budget import Budget
from dpsql.privacy.filter import Standing, admits
from dpsql.privacy.ledger import Ledger
from dpsql.privacy.measure import FREE, GRID, Cost, epsilon_of_rho, epsilon_of_rho_standard
from dpsql.privacy.remaining import Remaining
from dpsql.privacy.rule import Advanced

MICRO = Fraction("1e-6")
WHOLE = Fraction(1)


@dataclass(frozen=True)
class Ask:
    """The least that can be charged."""

    cost: Cost


def laplace(epsilon: str | Fraction) -> Cost:
    """A COUNT under discrete Laplace noise."""
    exact = Fraction(epsilon)
    rho = Fraction(float(exact) * math.tanh(float(exact) / 2) * (1 + 1e-12))
    return Cost(exact, rho)


def gaussian(rho: str | Fraction) -> Cost:
    return Cost(None, Fraction(rho))


def admitted(budget: Budget, cost: Cost, most: int = 200) -> int:
    spent = FREE
    for count in range(most):
        if not admits(budget, spent, cost.rounded_up()):
            return count
        spent += cost.rounded_up()
    return most


@pytest.fixture
def open_accountant(tmp_path: Path) -> Iterator[Callable[..., Accountant]]:
    ledgers: list[Ledger] = []

    def open_one(budget: Budget, **caps: Budget) -> Accountant:
        ledgers.append(Ledger.open(tmp_path / "data.ledger", dataset="d", unit="p.id"))
        return Accountant(ledgers[-1], budget, caps)

    yield open_one
    for ledger in ledgers:
        ledger.close()


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


def test_the_default_split_keeps_nine_tenths_of_delta_for_conversion() -> None:
    budget = Budget(Fraction(1), MICRO)
    assert (budget.delta_conversion, budget.delta_selection) == (MICRO * 9 / 10, MICRO / 10)
    assert float(budget.rho_total / Budget(Fraction(1), MICRO, WHOLE).rho_total) == pytest.approx(0.991, abs=5e-4)


def test_delta_is_refused_where_its_share_is_spent_or_missing() -> None:
    cost = Cost(Fraction(1, 10), Fraction(1, 200), MICRO / 30)
    assert admitted(Budget(Fraction(3), MICRO), cost) == 3
    assert admitted(Budget(Fraction(3)), cost) == 0
    assert admitted(Budget(Fraction(3), MICRO, WHOLE), cost) == 0


def test_the_conversion_is_what_makes_the_difference() -> None:
    """A filter with the standard conversion would stop at 58 of the 74: the count above can fail."""
    budget = Budget(Fraction(3), MICRO, WHOLE)
    assert epsilon_of_rho_standard(Fraction(59, 400), MICRO) > 3 > epsilon_of_rho_standard(Fraction(58, 400), MICRO)
    assert epsilon_of_rho(Fraction(75, 400), MICRO) > 3 >= epsilon_of_rho(Fraction(74, 400), MICRO)
    assert budget.rho_total < Fraction(75, 400)


prices = st.fractions(min_value=Fraction(1, 50), max_value=2, max_denominator=300)
costs = st.one_of(
    prices.map(laplace),
    prices.map(lambda epsilon: gaussian(epsilon**2 / 2)),
    prices.map(lambda epsilon: Cost(epsilon, epsilon**2 / 2, MICRO / 50)),
)
budgets = st.builds(Budget, st.fractions(min_value=Fraction(1, 10), max_value=5), st.sampled_from([Fraction(0), MICRO]))


@settings(max_examples=100, deadline=None)
@given(budgets, st.lists(costs, max_size=40))
def test_the_filter_never_passes_its_budget(budget: Budget, asked: list[Cost]) -> None:
    spent = FREE
    for cost in asked:
        if admits(budget, spent, cost):
            spent += cost
            assert spent.delta <= budget.delta_selection
            assert (spent.epsilon is not None and spent.epsilon <= budget.epsilon) or spent.rho <= budget.rho_total
    if budget.delta and (spent.epsilon is None or spent.epsilon > budget.epsilon) and spent != FREE:
        assert epsilon_of_rho(spent.rho, budget.delta_conversion) <= budget.epsilon + Fraction(1, 10**20)
    if not budget.delta:
        assert spent.epsilon is not None and spent.epsilon <= budget.epsilon


@settings(max_examples=100, deadline=None)
@given(budgets, st.lists(costs, max_size=5), costs)
def test_the_forecast_is_what_the_filter_does(budget: Budget, before: list[Cost], cost: Cost) -> None:
    from dpsql.privacy.filter import Standing

    spent = FREE
    for earlier in before:
        spent += earlier.rounded_up() if admits(budget, spent, earlier.rounded_up()) else FREE
    forecast = Standing(None, budget, spent).affordable(cost)
    count = 0
    while count <= forecast and admits(budget, spent, cost.rounded_up()):
        count, spent = count + 1, spent + cost.rounded_up()
    assert count == forecast


class Spending(RuleBasedStateMachine):
    """Two analysts, one capped, over connections that come and go: the model is a list of what was admitted."""

    def __init__(self) -> None:
        super().__init__()
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        self.budget, self.cap = Budget(Fraction(2), MICRO), Budget(Fraction(1, 2), MICRO)
        self.paid: list[tuple[str, Cost]] = []
        self.open()

    def open(self) -> None:
        self.ledger = Ledger.open(Path(self.folder.name) / "l", dataset="d", unit="p.id")
        self.accountant = Accountant(self.ledger, self.budget, {"ada": self.cap})

    def spent(self, *analysts: str) -> Cost:
        return sum((cost for analyst, cost in self.paid if analyst in analysts), FREE)

    @rule(analyst=st.sampled_from(["ada", "bob"]), cost=costs)
    def ask(self, analyst: str, cost: Cost) -> None:
        cost = cost.rounded_up()
        fits = admits(self.budget, self.spent("ada", "bob"), cost)
        fits = fits and (analyst == "bob" or admits(self.cap, self.spent("ada"), cost))
        try:
            charge = self.accountant.spend(Ask(cost), analyst=analyst, statement="SELECT 1")
        except BudgetExhausted:
            assert not fits
        else:
            assert fits
            self.paid.append((analyst, cost))
            assert charge.entry == len(self.paid)

    @rule()
    def reconnect(self) -> None:
        self.ledger.close()
        self.open()

    @rule()
    def open_beside(self) -> None:
        self.ledger = Ledger.open(Path(self.folder.name) / "l", dataset="d", unit="p.id")
        self.accountant = Accountant(self.ledger, self.budget, {"ada": self.cap})

    @precondition(lambda self: self.paid)
    @rule()
    def verify(self) -> None:
        assert self.ledger.verify() == len(self.paid)

    @invariant()
    def the_ledger_holds_what_was_paid(self) -> None:
        assert self.ledger.totals("ada") == (self.spent("ada", "bob"), self.spent("ada"))

    def teardown(self) -> None:
        self.ledger.close()
        self.folder.cleanup()


Spending.TestCase.settings = settings(max_examples=15, stateful_step_count=25, deadline=None)
TestSpending = Spending.TestCase


def test_a_refusal_says_price_rest_and_whose(open_accountant: Callable[..., Accountant]) -> None:
    accountant = open_accountant(Budget(Fraction(1)), ada=Budget(Fraction("0.5")))
    accountant.spend(Ask(laplace("0.4")), analyst="ada", statement="SELECT 1")
    with pytest.raises(BudgetExhausted, match=r"costs ε = 0\.2 and the cap of 'ada' has ε = 0\.1 of 0\.5 left"):
        accountant.spend(Ask(laplace("0.2")), analyst="ada", statement="SELECT 1")
    with pytest.raises(BudgetExhausted, match=r"costs ε = 0\.7 and the budget has ε = 0\.6 of 1 left"):
        accountant.spend(Ask(laplace("0.7")), analyst="bob", statement="SELECT 1")
    with pytest.raises(BudgetExhausted, match=r"Gaussian noise needs a δ"):
        accountant.spend(Ask(gaussian("0.01")), analyst="bob", statement="SELECT 1")
    with pytest.raises(BudgetExhausted, match=r"keys cost δ = 1e-9 and the budget has δ = 0 left"):
        accountant.spend(
            Ask(Cost(Fraction("0.1"), Fraction("0.005"), Fraction("1e-9"))), analyst="bob", statement="SELECT 1"
        )
    assert accountant.ledger.verify() == 1


def test_a_gaussian_price_is_said_in_epsilon(open_accountant: Callable[..., Accountant]) -> None:
    accountant = open_accountant(Budget(Fraction(1), MICRO))
    with pytest.raises(
        BudgetExhausted, match=r"costs ε = 0\.5 \(ρ = 0\.125\) and the budget has ε = 1 of 1 \(ρ = 0\.02"
    ):
        accountant.spend(Ask(gaussian("0.125")), analyst="bob", statement="SELECT 1")


def test_a_delta_that_an_accountant_set_aside_and_another_does_not_is_said_to_be_used() -> None:
    """As where the schema's accountant was basic, which leaves all of δ to thresholds, and is another one now."""
    spent, budget = Cost(Fraction(1, 10), Fraction(1, 200), Fraction("5e-7")), Budget(Fraction(3), Fraction("1e-6"))
    with pytest.raises(BudgetExhausted, match="have used δ = 5e-7 and the budget now sets δ = 1e-7 aside"):
        Standing(None, budget, spent).require(Cost(Fraction(1, 10), Fraction(1, 200)))
    assert Standing(None, budget, spent).affordable(Cost(Fraction(1, 10), Fraction(1, 200))) == 0
    fixed = Budget(Fraction(3), Fraction("1e-6"), rule=Advanced(9, Fraction(1, 10)))
    with pytest.raises(BudgetExhausted, match="statements in its ledger that are not of exactly"):
        Standing(None, fixed, spent, Fraction(10)).require(Cost(Fraction(1, 10), Fraction(1, 200)))


def test_what_remains_is_of_the_tighter_budget(open_accountant: Callable[..., Accountant]) -> None:
    accountant = open_accountant(Budget(Fraction(3), MICRO), ada=Budget(Fraction(1), MICRO))
    assert accountant.remaining("ada").budget.epsilon == 1
    accountant.spend(Ask(laplace("0.25")), analyst="ada", statement="SELECT 1")
    left = accountant.remaining("ada")
    assert isinstance(left, Remaining)
    assert 1 > left.share >= Fraction("0.75") and left.epsilon == left.share
    assert left.spent.epsilon == Fraction("0.25") and left.delta == MICRO / 10
    assert repr(left).startswith("Remaining(epsilon=0.75")
    total = accountant.remaining()
    assert total.epsilon > Fraction("2.5") and accountant.remaining("bob") == total
    assert total.rho_total == Budget(Fraction(3), MICRO).rho_total
    assert left.affordable(laplace("0.25")) == 3


def test_what_remains_never_falls_below_nothing() -> None:
    """An owner who lowers the budget under what is spent leaves nothing, and nothing more is admitted."""
    from dpsql.privacy.filter import Standing

    for budget in (Budget(Fraction(1)), Budget(Fraction(1), MICRO)):
        standing = Standing(None, budget, Cost(Fraction(9), Fraction(40), MICRO))
        assert (standing.share, standing.epsilon, standing.delta) == (0, 0, 0)
        assert standing.affordable(laplace("0.01")) == 0


@pytest.mark.parametrize("epsilon", [0.5, math.nan, 0, -1, True, "1", None, Fraction(0), Fraction(-1)])
def test_a_budget_that_cannot_be_is_refused(epsilon: object) -> None:
    with pytest.raises(DataError):
        Budget(epsilon)  # type: ignore[arg-type]


@pytest.mark.parametrize("delta", [0.5, math.nan, 0, -1, None, Fraction(1), Fraction(-1, 2)])
def test_a_delta_that_cannot_be_is_refused(delta: object) -> None:
    with pytest.raises(DataError):
        Budget(Fraction(1), delta)  # type: ignore[arg-type]
    with pytest.raises(DataError):
        Budget(Fraction(1), MICRO, delta if delta != Fraction(1) else Fraction(2))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "cost",
    [FREE, Cost(Fraction(0), Fraction(0), MICRO / 100), laplace(Fraction(1, 2**42)), gaussian(Fraction(1, 2**86))],
)
def test_next_to_nothing_is_not_sold(open_accountant: Callable[..., Accountant], cost: Cost) -> None:
    accountant = open_accountant(Budget(Fraction(1), MICRO))
    with pytest.raises(DataError, match="below"):
        accountant.spend(Ask(cost), analyst="bob", statement="SELECT 1")
    with pytest.raises(DataError, match="below"):
        accountant.remaining().affordable(cost)
    assert accountant.ledger.verify() == 0


def test_awkward_prices_do_not_grow_the_totals(open_accountant: Callable[..., Accountant]) -> None:
    accountant = open_accountant(Budget(Fraction(100), MICRO))
    for prime in (10007, 10009, 10037, 10039, 10061, 10067, 10069, 10079):
        accountant.spend(Ask(laplace(Fraction(1, prime))), analyst="bob", statement="SELECT 1")
    spent = accountant.remaining().spent
    assert spent.epsilon is not None
    assert max(spent.epsilon.denominator, spent.rho.denominator) <= GRID


def test_a_group_is_promised_less() -> None:
    pure, mixed = Budget(Fraction(1)), Budget(Fraction(1), MICRO)
    assert pure.group(3).epsilon == 3 and pure.group(3).delta == 0
    assert mixed.group(1).epsilon == 1 and mixed.group(1).delta == MICRO
    assert float(mixed.group(3).delta) == pytest.approx(1e-6 * (1 + math.e + math.e**2), rel=1e-9)
    assert mixed.group(3).delta > MICRO * Fraction("11.1073")
    assert mixed.group(100).delta == 1 and Budget(Fraction(900), MICRO).group(2).delta == 1
    zcdp = mixed.group(3, thresholds=False)
    assert zcdp.delta == mixed.delta_conversion
    assert zcdp.epsilon == max(Fraction(3), epsilon_of_rho(9 * mixed.rho_total, mixed.delta_conversion)) > 3
    for size in (0, -1, True, 1.5):
        with pytest.raises(DataError):
            mixed.group(size)  # type: ignore[arg-type]


def test_the_whole_ledger_promises_a_group(open_accountant: Callable[..., Accountant]) -> None:
    assert open_accountant(Budget(Fraction(1))).group(2).epsilon == 2


def test_a_charge_is_used_once(open_accountant: Callable[..., Accountant]) -> None:
    plan = Ask(laplace("0.1"))
    charge = open_accountant(Budget(Fraction(1))).spend(plan, analyst="ada", statement="SELECT 1", cells="[]")
    assert (charge.plan, charge.entry, charge.cost) == (plan, 1, plan.cost.rounded_up())
    assert charge.redeem() is plan
    with pytest.raises(InternalError, match="already used"):
        charge.redeem()


def test_only_the_accountant_makes_a_charge() -> None:
    with pytest.raises(InternalError, match="only the accountant"):
        Charge(object(), Ask(FREE), FREE, 1)
    with pytest.raises(TypeError):
        type("Forged", (Charge,), {})
    with pytest.raises(TypeError):
        type("Generous", (Accountant,), {})


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_nothing_that_holds_budget_is_duplicated(
    open_accountant: Callable[..., Accountant], duplicate: Callable[[object], object]
) -> None:
    accountant = open_accountant(Budget(Fraction(1)))
    charge = accountant.spend(Ask(laplace("0.1")), analyst="ada", statement="SELECT 1")
    for single in (accountant, charge, accountant.ledger):
        with pytest.raises(TypeError, match="cannot be copied or pickled"):
            duplicate(single)


def test_a_fork_duplicates_neither_budget_nor_charge(open_accountant: Callable[..., Accountant]) -> None:
    accountant = open_accountant(Budget(Fraction("0.3")))
    charge = accountant.spend(Ask(laplace("0.1")), analyst="ada", statement="SELECT 1")
    child = os.fork()
    if not child:
        status = 1
        try:
            with pytest.raises(InternalError, match="another process"):
                charge.redeem()
            accountant.spend(Ask(laplace("0.1")), analyst="ada", statement="SELECT 1").redeem()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    charge.redeem()
    accountant.spend(Ask(laplace("0.1")), analyst="ada", statement="SELECT 1")
    with pytest.raises(BudgetExhausted):
        accountant.spend(Ask(laplace("0.1")), analyst="ada", statement="SELECT 1")
    assert accountant.ledger.verify() == 3


def test_caps_cannot_be_changed_from_outside(open_accountant: Callable[..., Accountant]) -> None:
    accountant = open_accountant(Budget(Fraction(1)), ada=Budget(Fraction("0.1")))
    dict(accountant.caps).clear()
    assert accountant.caps == {"ada": Budget(Fraction("0.1"))} and accountant.budget == Budget(Fraction(1))
