"""What two neighbours' exact numbers use of a claim, by hand."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pytest

from dpsql.audit.sensitivity.claim_use import _spread, size_scan_use
from dpsql.privacy.measure import Cost
from dpsql.privacy.mechanism.exponential import ConcentratedExponential
from dpsql.privacy.mechanism.sparse_vector import ClippingBoundSearch

PLACES = [0, 1, 2, 3]
WHOLE = {"a": (PLACES, [5, 5, 5, 5])}


def scan(monotone: bool, moved: int = 4) -> ClippingBoundSearch:
    return ClippingBoundSearch(4, moved, Fraction(1), concentrated=False, monotone=monotone)


def test_a_unit_with_several_rows_moves_what_is_above_each_size_one_way() -> None:
    found = size_scan_use(scan(monotone=True), WHOLE, {"a": (PLACES, [5, 5, 4, 3])})
    (use,) = found.uses
    assert (use.observed, use.broken, found.wrong) == (3, False, ())


@pytest.mark.parametrize("monotone", [True, False])
def test_a_unit_that_moves_them_both_ways_is_found_where_the_scan_is_monotone(
    monotone: bool,
) -> None:
    found = size_scan_use(scan(monotone), WHOLE, {"a": (PLACES, [5, 5, 8, 4])})
    assert (found.wrong != ()) == monotone


def test_more_than_was_claimed_is_broken() -> None:
    (use,) = size_scan_use(scan(monotone=True, moved=2), WHOLE, {"a": (PLACES, [5, 5, 4, 3])}).uses
    assert use.broken


@dataclass(frozen=True)
class HalfPaid(ConcentratedExponential):
    """A choice whose price is half of what it takes."""

    @property
    def cost(self) -> Cost:
        return Cost(None, self.rho / 2)


@pytest.mark.parametrize("rho", [Fraction(1, 100), Fraction(3)])
def test_a_choice_that_is_more_exact_than_it_is_paid_for_is_found(rho: Fraction) -> None:
    assert _spread(ConcentratedExponential(9, rho), [1, 2], "rank").wrong == ()
    assert _spread(HalfPaid(9, rho), [1, 2], "rank").wrong != ()
