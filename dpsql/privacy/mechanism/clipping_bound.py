"""A size that few rows exceed, found by the sparse vector technique; proof in `docs/proofs/clipping.md`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from dpsql.privacy.measure import Cost
from dpsql.privacy.mechanism import AboveThreshold
from dpsql.privacy.rounding import positive, root_below
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy

#: The scan stops where at most so many rows of one unit, over ε, are left above: less would be passed by chance.
LEFT = 8
#: What of the price the threshold's noise gets: one draw that all sizes share, so that it is what runs past them all.
THRESHOLD_SHARE = Fraction(7, 10)


@dataclass(frozen=True)
class ClippingBoundSearch:
    """In each group the first of ``sizes`` ascending sizes that few rows exceed.

    One unit moves the counts of a group by at most s: the sum of s over groups is at most ``moved``, or the sum of s²
    where the scan is ``concentrated``. ``price`` is ε, or ρ for a concentrated one.
    """

    sizes: int
    moved: int
    price: Fraction
    concentrated: bool
    monotone: bool

    def __post_init__(self) -> None:
        positive(sizes=self.sizes, moved=self.moved, price=self.price)
        assert self.each  # noise that is out of reach is refused here

    @property
    def each(self) -> AboveThreshold:
        """What looks at one group; of a concentrated scan, for counts that move by one step."""
        if self.concentrated:
            return AboveThreshold(1, root_below(2 * self.price / self.moved), self.monotone, THRESHOLD_SHARE)
        return AboveThreshold(self.moved, self.price, self.monotone, THRESHOLD_SHARE)

    @property
    def cost(self) -> Cost:
        """ε, as of one look at all that a unit moves; or ρ = moved·ε²/2 with the ε of one step, rounded up."""
        return Cost(None, self.price) if self.concentrated else self.each.cost

    @property
    def left(self) -> int:
        """How many rows may be above the chosen size, in the steps of counts, but for noise."""
        each = self.each
        return ceil(LEFT * each.sensitivity / each.epsilon)

    def half_width(self, confidence: float) -> int:
        """How many more or fewer than that are above it at most with that confidence."""
        return self.each.margin(self.sizes, confidence)

    def choose(self, places: Sequence[int], counts: Sequence[int], *, _entropy: Entropy = OPERATING_SYSTEM) -> int:
        """The place of the chosen size, over one group's places and their exact counts."""
        found = self.each.draw(self._queries(places, counts), -self.left, _entropy=_entropy)
        return self.sizes - 1 if found is None else found

    def _queries(self, places: Sequence[int], counts: Sequence[int]) -> Iterator[int]:
        """Minus the number of rows above each size but the last, one after the other."""
        at = {place: count for place, count in zip(places, counts, strict=True) if 0 <= place < self.sizes}
        above = sum(at.values())
        for place in range(self.sizes - 1):
            above -= at.get(place, 0)
            yield -above
