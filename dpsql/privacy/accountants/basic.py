"""Basic composition: the sums of ε and of δ. Proved in ``docs/proofs/rule.md``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from dpsql.privacy.accountants.composition_rule import ChargedTotal, LedgerSums
from dpsql.privacy.accountants.composition_theorem import FixedReleases, TheoremInvalid
from dpsql.privacy.measure import Cost, Guarantee


@final
@dataclass(frozen=True)
class Basic(LedgerSums):
    """The sum of pure ε, and that of δ."""

    name = "basic"
    hints: ClassVar[Mapping[str, str]] = {"sequential": 'sequential composition is called "basic" here'}
    needs_delta = False
    adds_pure = True

    def conversion(self, delta: Fraction, share: Fraction) -> Fraction:
        return Fraction(0)

    def rho_total(self, promise: Guarantee) -> Fraction:
        return Fraction(0)

    def window_rho(self, promise: Guarantee) -> Fraction | None:
        return None

    def holds(self, promise: Guarantee, total: ChargedTotal) -> bool:
        return total.cost.epsilon is not None and total.cost.epsilon <= promise.epsilon

    def share(self, promise: Guarantee, total: ChargedTotal) -> Fraction:
        """What is left of ε."""
        left = Fraction(0) if total.cost.epsilon is None else 1 - total.cost.epsilon / promise.epsilon
        return max(left, Fraction(0))

    def affordable(self, promise: Guarantee, total: ChargedTotal, cost: Cost) -> int:
        """How often ε, or what is left of it, holds the price; never without a pure ε."""
        if cost.epsilon is None or total.cost.epsilon is None:
            return 0
        return max(int((promise.epsilon - total.cost.epsilon) // cost.epsilon), 0)

    def largest_price(self, promise: Guarantee, total: ChargedTotal, cost: Cost) -> Fraction:
        """What is left of ε, for noise that has one."""
        if cost.epsilon is None or total.cost.epsilon is None:
            return Fraction(0)
        return max(promise.epsilon - total.cost.epsilon, Fraction(0))

    @classmethod
    def block_epsilon(cls, releases: FixedReleases, cost: Cost, delta: Fraction) -> Fraction:
        """Σε."""
        if cost.epsilon is None:
            raise TheoremInvalid("Gaussian noise has no pure ε to add up")
        if cost.delta > delta:
            raise TheoremInvalid("thresholds use all of δ")
        return cost.epsilon
