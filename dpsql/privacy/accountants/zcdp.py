"""Zero-concentrated differential privacy: the sum of ρ. Proved in ``docs/proofs/rule.md``."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from dpsql.privacy.accountants.composition_rule import ChargedTotal, LedgerSums, gaussian_price
from dpsql.privacy.accountants.composition_theorem import FixedReleases, TheoremInvalid
from dpsql.privacy.measure import Cost, Guarantee, epsilon_of_rho, rho_total


@final
@dataclass(frozen=True)
class Concentrated(LedgerSums):
    """The sum of ρ (zCDP)."""

    name = "zcdp"
    needs_delta = True
    adds_pure = False

    def conversion(self, delta: Fraction, share: Fraction) -> Fraction:
        return delta * share

    def rho_total(self, promise: Guarantee) -> Fraction:
        return rho_total(promise.epsilon, promise.delta) if promise.delta else Fraction(0)

    def window_rho(self, promise: Guarantee) -> Fraction | None:
        return self.rho_total(promise)

    def holds(self, promise: Guarantee, total: ChargedTotal) -> bool:
        return total.cost.rho <= self.rho_total(promise)

    def share(self, promise: Guarantee, total: ChargedTotal) -> Fraction:
        """What is left of ρ."""
        most = self.rho_total(promise)
        return max(1 - total.cost.rho / most, Fraction(0)) if most else Fraction(0)

    def affordable(self, promise: Guarantee, total: ChargedTotal, cost: Cost) -> int:
        return max(int((self.rho_total(promise) - total.cost.rho) // cost.rho), 0)

    def largest_price(self, promise: Guarantee, total: ChargedTotal, cost: Cost) -> Fraction:
        return gaussian_price(max(self.rho_total(promise) - total.cost.rho, Fraction(0)))

    @classmethod
    def block_epsilon(cls, releases: FixedReleases, cost: Cost, delta: Fraction) -> Fraction:
        """Σρ, converted at the δ that thresholds leave."""
        if cost.delta >= delta:
            raise TheoremInvalid("zCDP is said in (ε, δ) at a δ above 0, beside what thresholds use")
        return epsilon_of_rho(cost.rho, delta - cost.delta)
