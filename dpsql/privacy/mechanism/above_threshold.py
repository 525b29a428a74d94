"""The sparse vector technique; proof in `docs/proofs/above_threshold.md`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from dpsql.privacy.measure import Cost, pure_rho
from dpsql.privacy.mechanism.laplace import Laplace
from dpsql.privacy.rounding import confidence_tail, positive
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy

#: What the threshold's noise gets of the price, near 1 : 1 for monotone queries and 1 : 2^(2/3) for others.
_MONOTONE_SHARE, _GENERAL_SHARE = Fraction(1, 2), Fraction(2, 5)


@dataclass(frozen=True)
class AboveThreshold:
    """The first of a sequence of queries that is at or above a threshold, and nothing else of any of them.

    A unit moves each query by at most ``sensitivity``. ``monotone`` says that a unit that comes moves all of them
    one way (counts do, where no unit is replaced by another), which takes half the noise. ``share`` is what of ε the
    threshold's noise gets, None for the shares at which the noises of threshold and query together vary least.
    """

    sensitivity: int
    epsilon: Fraction
    monotone: bool = False
    share: Fraction | None = None

    def __post_init__(self) -> None:
        if self.share is not None and not 0 < self.share < 1:
            raise ValueError(f"the threshold's share must lie between 0 and 1, not {self.share}")
        positive(sensitivity=self.sensitivity, epsilon=self.epsilon)
        assert self.threshold_noise and self.query_noise  # a scale that is out of reach is refused here

    @property
    def threshold_noise(self) -> Laplace:
        """The noise that the threshold gets once."""
        return Laplace.priced(self.sensitivity, self.epsilon * self._share)

    @property
    def query_noise(self) -> Laplace:
        """The noise that each query gets: a query and the threshold may move apart by twice the sensitivity."""
        apart = self.sensitivity if self.monotone else 2 * self.sensitivity
        return Laplace.priced(apart, self.epsilon * (1 - self._share))

    @property
    def cost(self) -> Cost:
        """ε of a whole sequence, however long it is; ρ = ε·tanh(ε/2), rounded up."""
        return Cost(self.epsilon, pure_rho(self.epsilon))

    def draw(self, answers: Iterable[int], threshold: int, *, _entropy: Entropy = OPERATING_SYSTEM) -> int | None:
        """The place of the first answer found at or above the threshold, None where there is none.

        No answer after that is read, so that each may be made when it is wanted. Each call costs the price anew.
        """
        border = threshold + int(self.threshold_noise.sample(1, _entropy=_entropy)[0])
        noise = self.query_noise
        for place, answer in enumerate(answers):
            if answer + int(noise.sample(1, _entropy=_entropy)[0]) >= border:
                return place
        return None

    def margin(self, queries: int, confidence: float) -> int:
        """How far beyond the threshold, with that confidence, none that was passed is, and how far below it at most
        the one that was found is, among that many queries.
        """
        positive(queries=queries)
        half = confidence_tail(confidence) / 2
        return self.threshold_noise.half_width(1 - half) + self.query_noise.half_width(1 - half / queries)

    @property
    def _share(self) -> Fraction:
        if self.share is not None:
            return self.share
        return _MONOTONE_SHARE if self.monotone else _GENERAL_SHARE
