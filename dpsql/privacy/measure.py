"""What a release costs, and how costs add up."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Cost:
    """The privacy loss of one release, in every measure that the accountant keeps.

    ``epsilon`` is the pure-DP loss, or None where the mechanism has none (Gaussian noise); ``rho`` the zCDP loss;
    ``delta`` the probability mass on which neither is promised. All three are exact and compose by addition.
    """

    epsilon: Fraction | None
    rho: Fraction
    delta: Fraction = Fraction(0)

    def __add__(self, other: Cost) -> Cost:
        pure = None if self.epsilon is None or other.epsilon is None else self.epsilon + other.epsilon
        return Cost(pure, self.rho + other.rho, self.delta + other.delta)


#: The cost of releasing nothing.
FREE = Cost(Fraction(0), Fraction(0))
