"""Basic composition, the sum of ε; zCDP, the sum of ρ; and their hybrid, whichever still admits.

Proved in ``docs/proofs/rule.md``, the hybrid in ``docs/proofs/accountant.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, final

from dpsql.privacy.accountants.composition_rule import ChargedTotal, LedgerSums, gaussian_price
from dpsql.privacy.accountants.composition_theorem import FixedReleases, TheoremInvalid
from dpsql.privacy.measure import Cost, Guarantee, epsilon_of_rho, rho_total


@final
@dataclass(frozen=True)
class Basic(LedgerSums):
    """The sum of pure ε, and that of δ."""

    name = "basic"
    hints: ClassVar[Mapping[str, str]] = {
        "sequential": 'sequential composition is called "basic" here'
    }
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
        remaining = (
            Fraction(0) if total.cost.epsilon is None else 1 - total.cost.epsilon / promise.epsilon
        )
        return max(remaining, Fraction(0))

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
            raise TheoremInvalid(
                "zCDP is said in (ε, δ) at a δ above 0, beside what thresholds use"
            )
        return epsilon_of_rho(cost.rho, delta - cost.delta)


_PURE: Final = Basic()
_CONCENTRATED: Final = Concentrated()


@final
@dataclass(frozen=True)
class Hybrid(LedgerSums):
    """Pure ε or zCDP, whichever admits: the default."""

    name = "hybrid"
    needs_delta = False
    adds_pure = False

    def conversion(self, delta: Fraction, share: Fraction) -> Fraction:
        return _CONCENTRATED.conversion(delta, share)

    def rho_total(self, promise: Guarantee) -> Fraction:
        return _CONCENTRATED.rho_total(promise)

    def window_rho(self, promise: Guarantee) -> Fraction | None:
        """A sum of ε of at most ε is ε²/2 at most."""
        return max(self.rho_total(promise), promise.epsilon**2 / 2)

    def holds(self, promise: Guarantee, total: ChargedTotal) -> bool:
        return _PURE.holds(promise, total) or _CONCENTRATED.holds(promise, total)

    def share(self, promise: Guarantee, total: ChargedTotal) -> Fraction:
        return max(_PURE.share(promise, total), _CONCENTRATED.share(promise, total))

    def affordable(self, promise: Guarantee, total: ChargedTotal, cost: Cost) -> int:
        return max(
            _PURE.affordable(promise, total, cost), _CONCENTRATED.affordable(promise, total, cost)
        )

    def largest_price(self, promise: Guarantee, total: ChargedTotal, cost: Cost) -> Fraction:
        return max(
            _PURE.largest_price(promise, total, cost),
            _CONCENTRATED.largest_price(promise, total, cost),
        )

    @classmethod
    def block_epsilon(cls, releases: FixedReleases, cost: Cost, delta: Fraction) -> Fraction:
        """The smaller of the sum of ε and of zCDP converted, of those that hold."""
        epsilons: list[Fraction] = []
        for theorem in (_PURE, _CONCENTRATED):
            try:
                epsilons.append(theorem.block_epsilon(releases, cost, delta))
            except TheoremInvalid as error:
                refusal = error
        if not epsilons:
            raise refusal
        return min(epsilons)
