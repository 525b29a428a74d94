"""The sparse vector technique, and the size that few rows exceed, which it finds.

Proofs in `docs/proofs/sparse_vector.md` and `docs/proofs/clipping.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from dpsql.privacy.measure import Cost, pure_rho
from dpsql.privacy.mechanism.laplace import Laplace
from dpsql.privacy.rounding import confidence_tail, positive, root_below
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy

#: What the threshold's noise gets of the price, near 1 : 1 for monotone queries and 1 :
#: 2^(2/3) for #: others.
_MONOTONE_SHARE = Fraction(1, 2)
_GENERAL_SHARE = Fraction(2, 5)


@dataclass(frozen=True)
class AboveThreshold:
    """The first of a sequence of queries at or above a threshold, and nothing else of any of them.

    A unit moves each query by at most ``sensitivity``. ``monotone`` says that a unit that comes
    moves all of them one way (counts do, where no unit is replaced by another), which takes half
    the noise. ``share`` is what of ε the threshold's noise gets, None for the shares at which the
    noises of threshold and query together vary least.
    """

    sensitivity: int
    epsilon: Fraction
    monotone: bool = False
    share: Fraction | None = None

    def __post_init__(self) -> None:
        if self.share is not None and not 0 < self.share < 1:
            raise ValueError(f"the threshold's share must lie between 0 and 1, not {self.share}")
        positive(sensitivity=self.sensitivity, epsilon=self.epsilon)
        assert (
            self.threshold_noise and self.query_noise
        )  # a scale that is out of reach is refused here

    @property
    def threshold_noise(self) -> Laplace:
        """The noise that the threshold gets once."""
        return Laplace.for_epsilon(self.sensitivity, self.epsilon * self._share)

    @property
    def query_noise(self) -> Laplace:
        """The noise of each query.

        A query and the threshold may move apart by twice the sensitivity.
        """
        apart = self.sensitivity if self.monotone else 2 * self.sensitivity
        return Laplace.for_epsilon(apart, self.epsilon * (1 - self._share))

    @property
    def cost(self) -> Cost:
        """ε of a whole sequence, however long it is; ρ = ε·tanh(ε/2), rounded up."""
        return Cost(self.epsilon, pure_rho(self.epsilon))

    def draw(
        self, answers: Iterable[int], threshold: int, *, _entropy: Entropy = OPERATING_SYSTEM
    ) -> int | None:
        """The index of the first answer found at or above the threshold; None if there is none.

        No later answer is read, so answers may be made lazily. Each call costs the price anew.
        """
        border = threshold + int(self.threshold_noise.sample(1, _entropy=_entropy)[0])
        noise = self.query_noise
        for index, query_answer in enumerate(answers):
            if query_answer + int(noise.sample(1, _entropy=_entropy)[0]) >= border:
                return index
        return None

    def margin(self, queries: int, confidence: float) -> int:
        """The errors of a search over that many queries, with that confidence.

        How far beyond the threshold, at most, a passed query is, and how far below it the found
        one.
        """
        positive(queries=queries)
        half = confidence_tail(confidence) / 2
        return self.threshold_noise.half_width(1 - half) + self.query_noise.half_width(
            1 - half / queries
        )

    @property
    def _share(self) -> Fraction:
        if self.share is not None:
            return self.share
        return _MONOTONE_SHARE if self.monotone else _GENERAL_SHARE


#: The scan stops where at most so many rows of one unit, over ε, are left above:
#: less would be #: passed by chance.
LEFT = 4
#: What of the price the threshold's noise gets: one draw that all sizes share,
#: so that it is what #: runs past them all.
THRESHOLD_SHARE = Fraction(7, 10)


@dataclass(frozen=True)
class ClippingBoundSearch:
    """In each group the first of ``sizes`` ascending sizes that few rows exceed.

    One unit moves the counts of a group by at most s: the sum of s over groups is at most
    ``moved``, or the sum of s² if the scan is ``concentrated``. ``price`` is ε, or ρ for a
    concentrated one.
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
            return AboveThreshold(
                1, root_below(2 * self.price / self.moved), self.monotone, THRESHOLD_SHARE
            )
        return AboveThreshold(self.moved, self.price, self.monotone, THRESHOLD_SHARE)

    @property
    def cost(self) -> Cost:
        """ε, as of one look at all that a unit moves;
        or ρ = moved·ε²/2 with the ε of one step, rounded up.
        """
        return Cost(None, self.price) if self.concentrated else self.each.cost

    @property
    def left(self) -> int:
        """How many rows may be above the chosen size, in the steps of counts, but for noise."""
        mechanism = self.each
        return ceil(LEFT * mechanism.sensitivity / mechanism.epsilon)

    def half_width(self, confidence: float) -> int:
        """How many more or fewer than that are above it at most with that confidence."""
        return self.each.margin(self.sizes, confidence)

    def choose(
        self, places: Sequence[int], counts: Sequence[int], *, _entropy: Entropy = OPERATING_SYSTEM
    ) -> int:
        """The place of the chosen size, over one group's places and their exact counts."""
        index = self.each.draw(self._queries(places, counts), -self.left, _entropy=_entropy)
        return self.sizes - 1 if index is None else index

    def _queries(self, places: Sequence[int], counts: Sequence[int]) -> Iterator[int]:
        """Minus the number of rows above each size but the last, one after the other."""
        at = {
            index: count
            for index, count in zip(places, counts, strict=True)
            if 0 <= index < self.sizes
        }
        above = sum(at.values())
        for index in range(self.sizes - 1):
            above -= at.get(index, 0)
            yield -above
