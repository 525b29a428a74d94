"""Reports of one of a few public values: randomized response and unary encodings.

Proofs in `docs/proofs/local.md`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from dpsql.privacy.measure import Cost, exact, pure_rho
from dpsql.privacy.mechanism.randomized_response import RandomizedResponse
from dpsql.privacy.rounding import exp_bounds, log_bounds, rounded_up
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy
from dpsql.privacy.sampling.entropy import uniform_below

#: Probabilities are multiples of 2^-60.
BITS = 60
#: No encoding of a value has more bits.
MOST_VALUES = 1 << 20


def randomized_response(
    value: Hashable,
    values: Sequence[Hashable],
    epsilon: object,
    *,
    _entropy: Entropy = OPERATING_SYSTEM,
) -> Hashable:
    """The report of one value by k-ary randomized response: the value itself,
    or by chance another of ``values``.

    >>> randomized_response("yes", ["yes", "no"], 1.0) in ("yes", "no")
    True
    """
    return RandomizedCategories.for_epsilon(values, epsilon).perturb([value], _entropy=_entropy)[0]


def unary_encoding(
    value: Hashable,
    values: Sequence[Hashable],
    epsilon: object,
    *,
    optimal: bool = True,
    _entropy: Entropy = OPERATING_SYSTEM,
) -> str:
    """The report of one value as a text of 0 and 1, one bit for each of ``values``.

    Each bit is flipped by chance.

    Args:
        optimal: Whether the two sides of a bit are flipped with the probabilities of least
            variance, as optimized unary encoding does; otherwise both alike, as basic RAPPOR does.

    >>> len(unary_encoding("b", ["a", "b", "c"], 1.0))
    3
    """
    encoding = UnaryEncoding.optimal if optimal else UnaryEncoding.symmetric
    return encoding(values, epsilon).perturb([value], _entropy=_entropy)[0]


@dataclass(frozen=True)
class RandomizedCategories:
    """k-ary randomized response: the true value with ``truth``, any other with ``other``."""

    is_unary: ClassVar[bool] = False
    values: tuple[Hashable, ...]
    truth: Fraction

    def __post_init__(self) -> None:
        _require_values(self.values)
        assert self.response

    @classmethod
    def for_epsilon(cls, values: Sequence[Hashable], epsilon: object) -> RandomizedCategories:
        """The one that costs at most epsilon and tells the truth most often."""
        _require_values(values)
        return cls(tuple(values), RandomizedResponse.for_epsilon(len(values), exact(epsilon)).truth)

    @cached_property
    def response(self) -> RandomizedResponse:
        """The mechanism over the places of the values."""
        return RandomizedResponse(len(self.values), self.truth)

    @property
    def other(self) -> Fraction:
        """The probability with which a report is a value that is not the true one."""
        return self.response.other

    @property
    def cost(self) -> Cost:
        """What one report costs."""
        return self.response.cost

    def perturb(
        self, values: Sequence[Hashable], *, _entropy: Entropy = OPERATING_SYSTEM
    ) -> list[Hashable]:
        """A report for each value, independently."""
        places = [_index_of(self.values, value) for value in values]
        return [self.values[index] for index in self.response.draw(places, _entropy=_entropy)]

    def estimate(self, reports: Sequence[Hashable]) -> dict[Hashable, float]:
        """How many of the clients have each value, without bias; it may be below 0."""
        counts = self.response.estimate([_index_of(self.values, report) for report in reports])
        return dict(zip(self.values, counts, strict=True))


@dataclass(frozen=True)
class UnaryEncoding:
    """A bit for each public value: 1 with ``truth`` for the true one, with ``other`` for others."""

    is_unary: ClassVar[bool] = True
    values: tuple[Hashable, ...]
    truth: Fraction
    other: Fraction

    def __post_init__(self) -> None:
        _require_values(self.values)
        if not 0 < self.other < self.truth < 1:
            raise ValueError(
                "a bit must be 1 more often for the true value than for another, and neither never nor always"
            )
        if max(self.truth.denominator, self.other.denominator) > 1 << 62:
            raise ValueError(
                "the probabilities of a bit must be fractions with denominators of at most 2^62"
            )

    @classmethod
    def symmetric(cls, values: Sequence[Hashable], epsilon: object) -> UnaryEncoding:
        """Each bit is kept with e^(ε/2)/(e^(ε/2) + 1), rounded down: basic RAPPOR with one hash."""
        truth = _logistic(exact(epsilon) / 2)
        return cls(tuple(values), truth, 1 - truth)

    @classmethod
    def optimal(cls, values: Sequence[Hashable], epsilon: object) -> UnaryEncoding:
        """A 1 is kept with ½ and a 0 becomes 1 with 1/(e^ε + 1), rounded up:
        the least variance of rare values.
        """
        return cls(tuple(values), Fraction(1, 2), 1 - _logistic(exact(epsilon)))

    @property
    def cost(self) -> Cost:
        """ε = ln(truth·(1 − other)/(other·(1 − truth))), rounded up:
        two values differ in two bits.
        """
        _, log = log_bounds(self.truth * (1 - self.other) / (self.other * (1 - self.truth)), 80)
        epsilon = rounded_up(log)
        return Cost(epsilon, pure_rho(epsilon))

    def perturb(
        self, values: Sequence[Hashable], *, _entropy: Entropy = OPERATING_SYSTEM
    ) -> list[str]:
        """A text of 0 and 1 for each value, independently."""
        places = [_index_of(self.values, value) for value in values]
        width = len(self.values)
        bits = (
            uniform_below(self.other.denominator, width * len(places), _entropy)
            < self.other.numerator
        )
        table = bits.reshape(len(places), width)
        true = uniform_below(self.truth.denominator, len(places), _entropy) < self.truth.numerator
        table[np.arange(len(places)), places] = true
        return ["".join("1" if bit else "0" for bit in row) for row in table.tolist()]

    def estimate(self, reports: Sequence[str]) -> dict[Hashable, float]:
        """How many of the clients have each value, without bias; it may be below 0."""
        n = len(reports)
        gain = self.truth - self.other
        ones = [
            sum(report[index] == "1" for report in reports) for index in range(len(self.values))
        ]
        return {
            value: float((count - n * self.other) / gain)
            for value, count in zip(self.values, ones, strict=True)
        }


def _logistic(exponent: Fraction) -> Fraction:
    """e^x/(e^x + 1), rounded down to a multiple of 2^-60."""
    _, high = exp_bounds(exponent, 160)
    return Fraction((1 << 160 + BITS) // ((1 << 160) + high), 1 << BITS)


def _index_of(values: tuple[Hashable, ...], value: Hashable) -> int:
    try:
        return values.index(value)
    except ValueError:
        raise ValueError(f"{value!r} is not one of the {len(values)} public values") from None


def _require_values(values: Sequence[Hashable]) -> None:
    if not 2 <= len(values) <= MOST_VALUES or len(set(values)) < len(values):
        raise ValueError("reports need at least two public values, each once")
