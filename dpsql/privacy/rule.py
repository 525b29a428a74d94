"""By which theorem a budget adds up what was spent: the accountants that an owner may name.

Each is proved, with the condition under which it holds, in ``docs/proofs/rule.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import ClassVar, TypeAlias

from dpsql.errors import DataError
from dpsql.privacy.measure import PLACES, Cost
from dpsql.privacy.rounding import exp_bounds, log_bounds

#: More statements than this nobody fixes beforehand.
MOST_STATEMENTS = 10**9


@dataclass(frozen=True)
class Hybrid:
    """Pure ε or zCDP, whichever admits: the default."""

    name: ClassVar[str] = "hybrid"


@dataclass(frozen=True)
class Basic:
    """The sum of pure ε, and that of δ."""

    name: ClassVar[str] = "basic"


@dataclass(frozen=True)
class Concentrated:
    """The sum of ρ (zCDP)."""

    name: ClassVar[str] = "zcdp"


@dataclass(frozen=True)
class Renyi:
    """The sum of Rényi divergences of the one order that the promise gives: the moments accountant."""

    name: ClassVar[str] = "rdp"


@dataclass(frozen=True)
class Advanced:
    """Advanced composition of at most ``statements`` statements, each pure and of exactly this ε."""

    statements: int
    epsilon: Fraction
    name: ClassVar[str] = "advanced"

    def __post_init__(self) -> None:
        known = isinstance(self.statements, int) and not isinstance(self.statements, bool)
        if not known or not 1 <= self.statements <= MOST_STATEMENTS:
            raise DataError(f"advanced composition needs a number of statements from 1 to {MOST_STATEMENTS}, fixed "
                            "beforehand")  # fmt: skip
        if not isinstance(self.epsilon, Fraction) or self.epsilon <= 0:
            raise DataError("advanced composition needs the epsilon of a statement, fixed beforehand")

    def affordable(self, epsilon: Fraction, delta: Fraction) -> int:
        """How many of the statements stay within (ε, δ)."""
        low, high = 0, self.statements
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if advanced(middle, self.epsilon, delta) <= epsilon else (low, middle - 1)
        return low

    def is_price(self, cost: Cost) -> bool:
        """Whether a cost is the one that was fixed for every statement."""
        return cost.delta == 0 and cost.epsilon == Cost(self.epsilon, self.epsilon).rounded_up().epsilon


#: A closed union; workloads have more (`connection.workload`), which are no filters.
Rule: TypeAlias = Hybrid | Basic | Concentrated | Renyi | Advanced
#: What is used where none is named.
DEFAULT: Rule = Hybrid()


@lru_cache(maxsize=4096)
def advanced(count: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """ε√(2k ln(1/δ)) + kε(e^ε − 1), of Dwork, Rothblum and Vadhan (2010), or kε where that is less; rounded up.

    >>> round(float(advanced(100, Fraction(1, 10), Fraction(1, 10**6))), 4)
    6.3082
    """
    basic = count * epsilon
    if not delta:
        return basic
    one, grid = 1 << 512, 10**PLACES
    inside = 2 * count * -log_bounds(delta, 70)[0]
    root = Fraction(isqrt(inside.numerator * grid**2 // inside.denominator) + 1, grid)
    shrunk, _ = exp_bounds(epsilon, 512)
    if not shrunk:
        return basic
    bound = min(basic, epsilon * root + count * epsilon * (Fraction(one, shrunk) - 1))
    return Fraction(-(-bound.numerator * grid // bound.denominator), grid)
