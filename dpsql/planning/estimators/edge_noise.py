"""How noise moves the ranks that are read off a noisy tree of counts (``docs/proofs/quantiles.md``)."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True, slots=True)
class Moved:
    """How noise moves the ranks of the edges between a node's children, in variances of a node's noise."""

    children: int
    fraction: float
    #: The variances of the node's own edges, and their covariance; None where its children are the topmost.
    above: tuple[float, float, float] | None = None

    def covariance(self, first: int, second: int) -> float:
        """That of two edges, the first not behind the second.

        >>> Moved(4, 0.5).covariance(1, 1), Moved(4, 1.0).covariance(1, 1), Moved(2, 0.5, (1, 1, 0.5)).covariance(1, 1)
        (1.0, 3.0, 1.25)
        """
        if self.above is None:
            low, high = 1 - self.fraction, self.fraction
            between = second - first
            return low * low * first - low * high * between + high * high * (self.children - second)
        begin, end, both = self.above
        one, two = first / self.children, second / self.children
        own = (1 - one) * (1 - two) * begin + one * two * end + ((1 - one) * two + one * (1 - two)) * both
        return own + first * (1 - two)

    def deviations(self) -> list[float]:
        """Those of all edges, from the first to the last."""
        return [sqrt(self.covariance(place, place)) for place in range(self.children + 1)]

    def below(self, child: int) -> tuple[float, float, float]:
        """What the edges between the child's own children know of it."""
        own, following = (self.covariance(place, place) for place in (child, child + 1))
        return own, following, self.covariance(child, child + 1)
