"""How much of a claim two neighbours use, in exact integers.

Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpsql.privacy.mechanism import Gaussian, Laplace


@dataclass(frozen=True)
class Use:
    """What was seen of one claim; both figures are squares where ``squared``. It is private: figures of the data."""

    kind: str
    observed: int
    claimed: int
    squared: bool = False

    @property
    def broken(self) -> bool:
        """Whether more was seen than is claimed."""
        return self.observed > self.claimed

    @property
    def ratio(self) -> Fraction:
        """The part of the claim that was used, a square where the figures are."""
        return Fraction(self.observed, self.claimed)


@dataclass(frozen=True)
class Compared:
    """The claims that two neighbours use, and in words what no claim allows at all."""

    uses: tuple[Use, ...] = ()
    wrong: tuple[str, ...] = ()

    def __add__(self, more: Compared) -> Compared:
        return Compared(self.uses + more.uses, self.wrong + more.wrong)

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong, in words that hold no figure of the data."""
        broken = dict.fromkeys(f"{use.kind}: one unit changes more than is claimed" for use in self.uses if use.broken)
        return (*self.wrong, *broken)


def distance(kind: str, mechanism: Laplace | Gaussian, change: Sequence[int]) -> Use:
    """How far the vectors are apart in the mechanism's own norm, and how far it claims they may be."""
    if isinstance(mechanism, Gaussian):
        return Use(kind, sum(each * each for each in change), mechanism.l2_squared, squared=True)
    return Use(kind, sum(abs(each) for each in change), mechanism.l1)
