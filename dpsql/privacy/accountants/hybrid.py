"""The hybrid of basic composition and zCDP: whichever still admits.

Proved in ``docs/proofs/accountant.md``; ``docs/proofs/rule.md`` has the other rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

from dpsql.privacy.accountants.basic import Basic
from dpsql.privacy.accountants.composition_rule import ChargedTotal, LedgerSums
from dpsql.privacy.accountants.composition_theorem import FixedReleases, TheoremInvalid
from dpsql.privacy.accountants.zcdp import Concentrated
from dpsql.privacy.measure import Cost, Guarantee

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
        return max(_PURE.affordable(promise, total, cost), _CONCENTRATED.affordable(promise, total, cost))

    def largest_price(self, promise: Guarantee, total: ChargedTotal, cost: Cost) -> Fraction:
        return max(_PURE.largest_price(promise, total, cost), _CONCENTRATED.largest_price(promise, total, cost))

    @classmethod
    def block_epsilon(cls, releases: FixedReleases, cost: Cost, delta: Fraction) -> Fraction:
        """The smaller of the sum of ε and of zCDP converted, of those that hold."""
        found: list[Fraction] = []
        for each in (_PURE, _CONCENTRATED):
            try:
                found.append(each.block_epsilon(releases, cost, delta))
            except TheoremInvalid as error:
                refusal = error
        if not found:
            raise refusal
        return min(found)
