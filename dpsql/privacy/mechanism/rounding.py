"""Checks and directed rounding that the mechanisms share.

Proved in ``docs/proofs/mechanism.md``.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt


def positive(**parameters: Fraction | int) -> None:
    """Refuse a parameter that is not positive, by name."""
    for name, value in parameters.items():
        if not value > 0:
            raise ValueError(f"{name} must be positive, not {value}")


def rounded_up(value: Fraction) -> Fraction:
    """The least multiple of 2^-192 that is not below value: sums of such numbers keep short denominators."""
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
