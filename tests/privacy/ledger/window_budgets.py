"""A budget and a cap that hold in each window, and what is asked of them."""

from __future__ import annotations

import math
from fractions import Fraction

from spending import Ask

from dpsql.errors import BudgetExhausted
from dpsql.privacy.accountant import Accountant
from dpsql.privacy.budget import Budget
from dpsql.privacy.measure import Cost

MICRO = Fraction("1e-6")
TOTAL, CAP = Budget(Fraction(1), MICRO), Budget(Fraction(1, 2), MICRO)


def laplace(epsilon: str | Fraction) -> Cost:
    exact = Fraction(epsilon)
    return Cost(exact, Fraction(float(exact) * math.tanh(float(exact) / 2) * (1 + 1e-12)))


FIFTH, GAUSSIAN = laplace("0.2"), Cost(None, Fraction(1, 400))


def ask(accountant: Accountant, cost: Cost = FIFTH, analyst: str = "bob") -> bool:
    try:
        accountant.spend(Ask(cost), analyst=analyst, statement="SELECT 1")
    except BudgetExhausted:
        return False
    return True


def count(accountant: Accountant, cost: Cost = FIFTH, analyst: str = "bob") -> int:
    """How many are admitted until one is refused."""
    passed = 0
    while ask(accountant, cost, analyst):
        passed += 1
        assert passed < 50
    return passed
