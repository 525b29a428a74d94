"""Each accountant that is listed says all that a budget, the schema and a workload ask of it."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

from dpsql.privacy.accountants import DEFAULT, RULES, THEOREMS, CompositionRule
from dpsql.privacy.accountants.advanced import AdvancedComposition
from dpsql.privacy.accountants.composition_rule import ChargedTotal
from dpsql.privacy.budget import Budget
from dpsql.privacy.measure import Cost

PAGE = Path(__file__).parents[3] / "docs" / "accountants.md"
MICRO, PRICE = Fraction("1e-6"), Fraction(1, 10)
PURE = Cost(PRICE, PRICE**2 / 2)


def made(name: str) -> CompositionRule:
    """The rule of that name, with the parameters that it needs."""
    return AdvancedComposition(20, PRICE) if name == "advanced" else RULES[name]()


def test_the_default_is_one_that_may_be_named_and_every_name_leads_to_one() -> None:
    assert RULES[DEFAULT.name]() == DEFAULT
    hints = [name for theorem in THEOREMS.values() for name in theorem.hints]
    assert len(set(hints)) == len(hints) and all(
        name == theorem.name for name, theorem in THEOREMS.items()
    )


@pytest.mark.parametrize("name", THEOREMS)
def test_the_page_of_accountants_has_each(name: str) -> None:
    rows = re.findall(r"^\| ([^|]+) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert name in [each for row in rows for each in row.split(", ")]
    assert name not in RULES or f'`"{name}"`' in rows


@pytest.mark.parametrize("name", RULES)
def test_a_rule_adds_up_what_it_looks_at(name: str) -> None:
    """What is left falls with each charge, and as many are admitted as are said:
    a weight that is forgotten shows.
    """
    rule = made(name)
    budget = Budget(Fraction(2), MICRO, rule=rule)
    promise, total, shares = budget.promise, ChargedTotal(), list[Fraction]()
    count = rule.affordable(promise, total, PURE)
    assert rule.is_tallied == (rule.weight(promise, PURE) > 0)
    for _ in range(count):
        shares.append(rule.share(promise, total))
        total = ChargedTotal(total.cost + PURE, total.weight + rule.weight(promise, PURE))
        assert rule.holds(promise, total)
    assert count > 3 and shares[0] == 1 and all(one > other for one, other in pairwise(shares))
    assert rule.affordable(promise, total, PURE) == 0
    after = ChargedTotal(total.cost + PURE, total.weight + rule.weight(promise, PURE))
    assert not rule.holds(promise, after)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_takes_no_more_of_delta_than_there_is(name: str) -> None:
    for share in (Fraction(1, 10), Fraction(1)):
        assert 0 <= made(name).conversion(MICRO, share) <= MICRO
    if not made(name).needs_delta:
        assert made(name).conversion(Fraction(0), Fraction(1, 2)) == 0


@pytest.mark.parametrize("name", RULES)
def test_a_rule_of_pure_noise_refuses_gaussian_noise(name: str) -> None:
    rule, gaussian = made(name), Cost(None, PRICE**2 / 2)
    promise = Budget(Fraction(2), MICRO, rule=rule).promise
    assert rule.adds_pure == (
        not rule.holds(promise, ChargedTotal(gaussian, rule.weight(promise, gaussian)))
    )
