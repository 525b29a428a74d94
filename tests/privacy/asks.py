"""What tests ask an accountant to pay for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st

from dpsql.privacy.measure import Cost

MICRO = Fraction("1e-6")


@dataclass(frozen=True)
class Ask:
    """The least that can be charged."""

    cost: Cost


def laplace(epsilon: str | Fraction) -> Cost:
    """A COUNT under discrete Laplace noise."""
    exact = Fraction(epsilon)
    rho = Fraction(float(exact) * math.tanh(float(exact) / 2) * (1 + 1e-12))
    return Cost(exact, rho)


def gaussian(rho: str | Fraction) -> Cost:
    return Cost(None, Fraction(rho))


prices = st.fractions(min_value=Fraction(1, 50), max_value=2, max_denominator=300)
costs = st.one_of(
    prices.map(laplace),
    prices.map(lambda epsilon: gaussian(epsilon**2 / 2)),
    prices.map(lambda epsilon: Cost(epsilon, epsilon**2 / 2, MICRO / 50)),
)
