"""Directed rounding: enclosures of exp(−x) and ln(x), rounded roots and fractions, and checks.

``docs/proofs/sampling.md`` has the error budget of the enclosures;
the rest is proved in ``docs/proofs/mechanism.md``.

Proved in ``docs/proofs/sampling.md`` and ``docs/proofs/mechanism.md``.
"""

from __future__ import annotations

from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    ROUND_HALF_EVEN,
    Context,
    Decimal,
)
from fractions import Fraction
from math import isqrt


def exp_bounds(exponent: Fraction, bits: int) -> tuple[int, int]:
    """Integers low <= 2^bits·exp(−exponent) <= high, at most a few units apart; exponent >= 0."""
    digits = bits * 30103 // 100000 + 12
    down, nearest, up = (
        _context(digits, rounding) for rounding in (ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_CEILING)
    )
    numerator = Decimal(-exponent.numerator)
    denominator = Decimal(exponent.denominator)
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
    # ends: exp of a non-zero rational is irrational,
    # so no multiple of 2^-bits hides in the # enclosure
    while True:
        low, high = exp_bounds(exponent, bits + extra)
        if weight * low >> extra == weight * high >> extra:
            return weight * low >> extra
        extra *= 2


def log_bounds(value: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Rationals low <= ln(value) <= high that differ by a few units of a digit; value > 0.

    The digit is the digits-th significant one.
    """
    down, nearest, up = (
        _context(digits, rounding) for rounding in (ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_CEILING)
    )
    numerator = Decimal(value.numerator)
    denominator = Decimal(value.denominator)
    low = nearest.next_minus(nearest.ln(down.divide(numerator, denominator)))
    high = nearest.next_plus(nearest.ln(up.divide(numerator, denominator)))
    return Fraction(low), Fraction(high)


def _context(digits: int, rounding: str) -> Context:
    return Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])


def positive(**parameters: Fraction | int) -> None:
    """Refuse a parameter that is not positive, by name."""
    for name, value in parameters.items():
        if not value > 0:
            raise ValueError(f"{name} must be positive, not {value}")


def rounded_up(value: Fraction) -> Fraction:
    """The least multiple of 2^-192 that is not below value; keeps denominators of sums short."""
    return Fraction(-(-(value.numerator << 192) // value.denominator), 1 << 192)


def root_below(square: Fraction) -> Fraction:
    """√square, rounded down to about 64 bits."""
    bits = max(64 + (square.denominator.bit_length() - square.numerator.bit_length()) // 2, 0)
    return Fraction(isqrt((square.numerator << 2 * bits) // square.denominator), 1 << bits)


def confidence_tail(confidence: float) -> float:
    """1 − confidence, for a confidence strictly between 0 and 1."""
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence must lie strictly between 0 and 1, not {confidence}")
    return 1 - confidence
