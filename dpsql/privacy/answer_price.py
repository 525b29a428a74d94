"""The price of a statement, for an owner who says how many of them the budget shall pay for.

It comes from the declared budget alone. That no more is spent is the filter's doing, whatever the price:
``docs/proofs/accountant.md``.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor, log10

from dpsql.privacy.accountants.composition_rule import ChargedTotal, CompositionRule
from dpsql.privacy.measure import Cost, Guarantee

#: The part of δ that a budget gives to the conversion of zCDP where its rule takes no other one.
CONVERSION_SHARE = Fraction(9, 10)
#: Significant digits of a price, which is rounded down to them.
DIGITS = 3
#: Prices below 2**-40 of a budget are refused by it.
_STEPS = 38


def price_for(answers: int, epsilon: Fraction, delta: Fraction, rule: CompositionRule, *, gaussian: bool) -> Fraction:
    """The largest price, of three digits, at which a whole budget admits so many plain counts, with one noise.

    ValueError where no price is that small.
    """
    promise = Guarantee(epsilon, rule.conversion(delta, CONVERSION_SHARE))

    def admitted(price: Fraction) -> bool:
        rho = price**2 / 2
        cost = Cost(None, rho) if gaussian else Cost(price, rho)
        return rule.affordable(promise, ChargedTotal(), cost.rounded_up()) >= answers

    if admitted(epsilon):
        return epsilon
    low, high = Fraction(0), epsilon
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if admitted(middle) else (low, middle)
    price = _rounded_down(low) if low else low
    if not price or not admitted(price):
        raise ValueError(f"the budget cannot be split into {answers} answers; ask for fewer")
    return price


def _rounded_down(number: Fraction) -> Fraction:
    unit = Fraction(10) ** (floor(log10(number)) - DIGITS + 1)
    return number // unit * unit
