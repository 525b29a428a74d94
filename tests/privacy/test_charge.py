"""A charge is made by the accountant only and used once,
and nothing that holds budget is duplicated.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from fractions import Fraction

import pytest
from asks import Ask, laplace
from forks import exit_code_of_fork

from dpsql.errors import BudgetExhausted, InternalError
from dpsql.privacy.accountant import Accountant, Charge
from dpsql.privacy.budget import Budget
from dpsql.privacy.measure import FREE


def test_a_charge_is_used_once(open_accountant: Callable[..., Accountant]) -> None:
    plan = Ask(laplace("0.1"))
    charge = open_accountant(Budget(Fraction(1))).spend(
        plan, analyst="ada", statement="SELECT 1", cells="[]"
    )
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


def test_a_fork_duplicates_neither_budget_nor_charge(
    open_accountant: Callable[..., Accountant],
) -> None:
    accountant = open_accountant(Budget(Fraction("0.3")))
    charge = accountant.spend(Ask(laplace("0.1")), analyst="ada", statement="SELECT 1")

    def spend() -> None:
        with pytest.raises(InternalError, match="another process"):
            charge.redeem()
        accountant.spend(Ask(laplace("0.1")), analyst="ada", statement="SELECT 1").redeem()

    assert exit_code_of_fork(spend) == 0
    charge.redeem()
    accountant.spend(Ask(laplace("0.1")), analyst="ada", statement="SELECT 1")
    with pytest.raises(BudgetExhausted):
        accountant.spend(Ask(laplace("0.1")), analyst="ada", statement="SELECT 1")
    assert accountant.ledger.verify() == 3


def test_caps_cannot_be_changed_from_outside(open_accountant: Callable[..., Accountant]) -> None:
    accountant = open_accountant(Budget(Fraction(1)), ada=Budget(Fraction("0.1")))
    dict(accountant.caps).clear()
    assert accountant.caps == {"ada": Budget(Fraction("0.1"))} and accountant.budget == Budget(
        Fraction(1)
    )
