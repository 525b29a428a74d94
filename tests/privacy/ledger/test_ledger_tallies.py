"""Accountants with a sum of their own admit what fits and no more,
however many processes ask at once.
"""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path

import pytest
from places import Place, reopen
from spending import other

from dpsql.privacy.accountant import Accountant
from dpsql.privacy.accountants.advanced import AdvancedComposition
from dpsql.privacy.accountants.composition_rule import CompositionRule
from dpsql.privacy.accountants.renyi import Renyi
from dpsql.privacy.budget import Budget
from dpsql.privacy.filter import admits
from dpsql.privacy.measure import FREE, Cost

COST = Cost(Fraction(1, 10), Fraction(1, 200))


def affordable(budget: Budget) -> int:
    count, tallied = 0, Fraction(0)
    while admits(budget, FREE, COST, tallied):
        count, tallied = count + 1, tallied + budget.weight(COST)
    return count


@pytest.mark.parametrize(
    "rule", [Renyi(), AdvancedComposition(26, Fraction(1, 10))], ids=lambda rule: rule.name
)
def test_processes_that_race_get_exactly_what_is_left(
    place: Place, path: Path, rule: CompositionRule
) -> None:
    """Three of them, each with a tally of its own, on a ledger that none has seen before."""
    budget, go = Budget(Fraction(3), Fraction("1e-6"), rule=rule), path.with_name("go")
    code = f"""
    from dpsql.privacy.accountants.advanced import AdvancedComposition
    from dpsql.privacy.accountants.renyi import Renyi
    mine, passed = accountant(3, delta=Fraction("1e-6"), rule={rule!r}), 0
    print("ready", flush=True)
    while not Path({str(go)!r}).exists():
        time.sleep(0.001)
    try:
        while True:
            spend(mine)
            passed += 1
    except BudgetExhausted:
        print(passed)
    """
    processes = [other(place, code) for _ in range(3)]
    for process in processes:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    time.sleep(0.01)
    go.touch()
    passed = [int(process.communicate(timeout=120)[0]) for process in processes]
    assert sum(passed) == affordable(budget) == reopen(place).verify() > 20
    left = Accountant(reopen(place), budget).remaining()
    assert left.affordable(COST) == 0
