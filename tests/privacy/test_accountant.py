"""The accountant takes what the budget and the analyst's cap both admit,
and says what is left and why it refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from asks import MICRO, Ask, costs, gaussian, laplace
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from dpsql.errors import BudgetExhausted, DataError
from dpsql.privacy.accountant import Accountant
from dpsql.privacy.budget import Budget
from dpsql.privacy.filter import RemainingBudget, admits
from dpsql.privacy.ledger import Ledger, LedgerIdentity
from dpsql.privacy.measure import FREE, GRID, Cost


class Spending(RuleBasedStateMachine):
    """Two analysts, one capped, over connections that come and go:
    the model is a list of what was admitted.
    """

    def __init__(self) -> None:
        super().__init__()
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        self.budget, self.cap = Budget(Fraction(2), MICRO), Budget(Fraction(1, 2), MICRO)
        self.paid: list[tuple[str, Cost]] = []
        self.open()

    def open(self) -> None:
        self.ledger = Ledger.open(
            Path(self.folder.name) / "l", LedgerIdentity("d", "p.id", "add-remove")
        )
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
        self.ledger = Ledger.open(
            Path(self.folder.name) / "l", LedgerIdentity("d", "p.id", "add-remove")
        )
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


Spending.TestCase.settings = settings(max_examples=15, stateful_step_count=25)


TestSpending = Spending.TestCase


def test_a_refusal_says_price_rest_and_whose(open_accountant: Callable[..., Accountant]) -> None:
    accountant = open_accountant(Budget(Fraction(1)), ada=Budget(Fraction("0.5")))
    accountant.spend(Ask(laplace("0.4")), analyst="ada", statement="SELECT 1")
    with pytest.raises(
        BudgetExhausted, match=r"costs ε = 0\.2 and the cap of 'ada' has ε = 0\.1 of 0\.5 left"
    ):
        accountant.spend(Ask(laplace("0.2")), analyst="ada", statement="SELECT 1")
    with pytest.raises(
        BudgetExhausted, match=r"costs ε = 0\.7 and the budget has ε = 0\.6 of 1 left"
    ):
        accountant.spend(Ask(laplace("0.7")), analyst="bob", statement="SELECT 1")
    with pytest.raises(BudgetExhausted, match=r"Gaussian noise needs a δ"):
        accountant.spend(Ask(gaussian("0.01")), analyst="bob", statement="SELECT 1")
    with pytest.raises(BudgetExhausted, match=r"keys cost δ = 1e-9 and the budget has δ = 0 left"):
        accountant.spend(
            Ask(Cost(Fraction("0.1"), Fraction("0.005"), Fraction("1e-9"))),
            analyst="bob",
            statement="SELECT 1",
        )
    assert accountant.ledger.verify() == 1


def test_a_gaussian_price_is_said_in_epsilon(open_accountant: Callable[..., Accountant]) -> None:
    accountant = open_accountant(Budget(Fraction(1), MICRO))
    with pytest.raises(
        BudgetExhausted,
        match=r"costs ε = 0\.5 \(ρ = 0\.125\) and the budget has ε = 1 of 1 \(ρ = 0\.02",
    ):
        accountant.spend(Ask(gaussian("0.125")), analyst="bob", statement="SELECT 1")


def test_what_remains_is_of_the_tighter_budget(open_accountant: Callable[..., Accountant]) -> None:
    accountant = open_accountant(Budget(Fraction(3), MICRO), ada=Budget(Fraction(1), MICRO))
    assert accountant.remaining("ada").budget.epsilon == 1
    accountant.spend(Ask(laplace("0.25")), analyst="ada", statement="SELECT 1")
    left = accountant.remaining("ada")
    assert isinstance(left, RemainingBudget)
    assert 1 > left.share >= Fraction("0.75") and left.epsilon == left.share
    assert left.spent.epsilon == Fraction("0.25") and left.delta == MICRO / 10
    assert repr(left).startswith("Remaining(epsilon=0.75")
    total = accountant.remaining()
    assert total.epsilon > Fraction("2.5") and accountant.remaining("bob") == total
    assert total.rho_total == Budget(Fraction(3), MICRO).rho_total
    assert left.affordable(laplace("0.25")) == 3


@pytest.mark.parametrize(
    "cost",
    [
        FREE,
        Cost(Fraction(0), Fraction(0), MICRO / 100),
        laplace(Fraction(1, 2**42)),
        gaussian(Fraction(1, 2**86)),
    ],
)
def test_next_to_nothing_is_not_sold(
    open_accountant: Callable[..., Accountant], cost: Cost
) -> None:
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


def test_the_whole_ledger_promises_a_group(open_accountant: Callable[..., Accountant]) -> None:
    assert open_accountant(Budget(Fraction(1))).group(2).epsilon == 2
