"""Enclosures of exp(−x) and ln(x) for rational x; `docs/proofs/sampling.md` has the error budget."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction


def exp_bounds(exponent: Fraction, bits: int) -> tuple[int, int]:
    """Integers low <= 2^bits·exp(−exponent) <= high, at most a few units apart; exponent >= 0."""
    digits = bits * 30103 // 100000 + 12
    down, nearest, up = (_context(digits, rounding) for rounding in (ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_CEILING))
    numerator, denominator = Decimal(-exponent.numerator), Decimal(exponent.denominator)
    low = nearest.next_minus(nearest.exp(down.divide(numerator, denominator)))
    high = nearest.next_plus(nearest.exp(up.divide(numerator, denominator)))
    scale = Decimal(1 << bits)
    floor = down.multiply(low, scale).to_integral_value(ROUND_FLOOR, down)
    ceiling = up.multiply(high, scale).to_integral_value(ROUND_CEILING, up)
    return max(int(floor), 0), min(int(ceiling), 1 << bits)


def floor_exp(exponent: Fraction, bits: int, weight: int = 1) -> int:
    """The integer floor(weight·2^bits·exp(−exponent)), exactly; exponent >= 0, weight >= 1.

    >>> floor_exp(Fraction(1), 10)  # 1024/e = 376.7…
    376
    """
    if exponent == 0:
        return weight << bits
    extra = 64
    while True:  # ends: exp of a non-zero rational is irrational, so no multiple of 2^-bits hides in the enclosure
        low, high = exp_bounds(exponent, bits + extra)
        if weight * low >> extra == weight * high >> extra:
            return weight * low >> extra
        extra *= 2


def log_bounds(value: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Rationals low <= ln(value) <= high that differ by a few units of the digits-th significant place; value > 0."""
    down, nearest, up = (_context(digits, rounding) for rounding in (ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_CEILING))
    numerator, denominator = Decimal(value.numerator), Decimal(value.denominator)
    low = nearest.next_minus(nearest.ln(down.divide(numerator, denominator)))
    high = nearest.next_plus(nearest.ln(up.divide(numerator, denominator)))
    return Fraction(low), Fraction(high)


def _context(digits: int, rounding: str) -> Context:
    return Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
