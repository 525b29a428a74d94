"""A budget: what it sets aside of δ, what it promises to a group, and what can be none."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from asks import MICRO

from dpsql.errors import DataError
from dpsql.privacy.budget import Budget
from dpsql.privacy.measure import epsilon_of_rho


def test_the_default_split_keeps_nine_tenths_of_delta_for_conversion() -> None:
    budget = Budget(Fraction(1), MICRO)
    assert (budget.delta_conversion, budget.delta_selection) == (MICRO * 9 / 10, MICRO / 10)
    assert float(
        budget.rho_total / Budget(Fraction(1), MICRO, Fraction(1)).rho_total
    ) == pytest.approx(0.991, abs=5e-4)


@pytest.mark.parametrize(
    "epsilon", [0.5, math.nan, 0, -1, True, "1", None, Fraction(0), Fraction(-1)]
)
def test_a_budget_that_cannot_be_is_refused(epsilon: object) -> None:
    with pytest.raises(DataError):
        Budget(epsilon)  # type: ignore[arg-type]


@pytest.mark.parametrize("delta", [0.5, math.nan, 0, -1, None, Fraction(1), Fraction(-1, 2)])
def test_a_delta_that_cannot_be_is_refused(delta: object) -> None:
    with pytest.raises(DataError):
        Budget(Fraction(1), delta)  # type: ignore[arg-type]
    with pytest.raises(DataError):
        Budget(Fraction(1), MICRO, delta if delta != Fraction(1) else Fraction(2))  # type: ignore[arg-type]


def test_a_group_is_promised_less() -> None:
    pure, mixed = Budget(Fraction(1)), Budget(Fraction(1), MICRO)
    assert pure.group(3).epsilon == 3 and pure.group(3).delta == 0
    assert mixed.group(1).epsilon == 1 and mixed.group(1).delta == MICRO
    assert float(mixed.group(3).delta) == pytest.approx(1e-6 * (1 + math.e + math.e**2), rel=1e-9)
    assert mixed.group(3).delta > MICRO * Fraction("11.1073")
    assert mixed.group(100).delta == 1 and Budget(Fraction(900), MICRO).group(2).delta == 1
    zcdp = mixed.group(3, thresholds=False)
    assert zcdp.delta == mixed.delta_conversion
    assert (
        zcdp.epsilon
        == max(Fraction(3), epsilon_of_rho(9 * mixed.rho_total, mixed.delta_conversion))
        > 3
    )
    for size in (0, -1, True, 1.5):
        with pytest.raises(DataError):
            mixed.group(size)  # type: ignore[arg-type]
