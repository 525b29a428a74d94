"""Quantiles that were chosen by rank: their values and their intervals (``docs/proofs/quantiles.md``).

Everything here is computed from released bins and from the plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dpsql.planning.estimators.histogram import target
from dpsql.planning.estimators.quantiles import Curve
from dpsql.privacy.mechanism import Laplace
from dpsql.privacy.mechanism.rank_choice import Chosen, Target
from dpsql.sql.analysis.bins import Bins
from dpsql.sql.ir.relation import Ranks

#: The law of which a quantile is drawn again; its scale does not matter, as its interval is stretched to the ends.
DRAWN = Laplace(1, Fraction(1000))


class ChosenQuantiles:
    """One group's quantiles; a greater rank has no smaller value."""

    def __init__(self, chosen: Mapping[Target, Chosen], bins: Bins, confidence: float) -> None:
        self._bins, self._confidence = bins, confidence
        order = sorted(chosen, key=lambda each: each.part)
        places = sorted(chosen[each].place for each in order)
        self._places = dict(zip(order, places, strict=True))
        self._ends = {each: found.ends for each, found in chosen.items()}

    @property
    def axis(self) -> str:
        """What a point of the distribution counts: numbers, days or seconds."""
        return self._bins.axis

    def values(self, ranks: Ranks) -> tuple[Fraction, ...]:
        """The value at each rank, always within the bounds: the middle of a bin that is more than one."""
        return tuple(self._value(fraction, ranks) for fraction in ranks.fractions)

    def curve(self, ranks: Ranks) -> Curve | None:
        """The first of the values with the ends of its interval, None where it has no interval.

        It is drawn so that its ends are as likely to be passed as those of its interval are.
        """
        found = _target(ranks.fractions[0], ranks)
        ends = self._ends[found]
        if ends is None:
            return None
        low, high = min(ends[0], self._places[found]), max(ends[1], self._places[found])
        points = (float(self._end(low, 0)), float(self._value(ranks.fractions[0], ranks)), float(self._end(high, 1)))
        return Curve(DRAWN, 1 / max(DRAWN.half_width(self._confidence), 1), 1.0, points)

    def _value(self, fraction: Fraction, ranks: Ranks) -> Fraction:
        place = self._places[_target(fraction, ranks)]
        return self._bins.value(place) if self._bins.are_values else self._bins.position(place, Fraction(1, 2))

    def _end(self, place: int, end: int) -> Fraction:
        return self._bins.value(place) if self._bins.are_values else self._bins.position(place, Fraction(end))


def _target(fraction: Fraction, ranks: Ranks) -> Target:
    found = target(fraction, ranks)
    assert found is not None
    return found
