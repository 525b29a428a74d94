"""Exact places of units on ladders → the rungs that are found: each by a scan of its own, half a number by a count.

Proved in ``docs/proofs/tune.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from dpsql.engines.exact_rows import CoreRows, ExactRows
from dpsql.planning.tuning import Asked, Question, TuningPlan, scans_of
from dpsql.privacy.mechanism.sparse_vector import ClippingBoundSearch
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy


def scan(exact: ExactRows, plan: TuningPlan, *, _entropy: Entropy = OPERATING_SYSTEM) -> dict[Question, Fraction]:
    """The rung that is found for each question of the plan; all of them are released: public from here on."""
    found = dict[Question, Fraction]()
    for asked, rows in zip(plan.tables, exact.reveal(), strict=True):
        found |= _found(asked, rows, plan, _entropy)
    return found


def _found(asked: Asked, rows: CoreRows, plan: TuningPlan, entropy: Entropy) -> dict[Question, Fraction]:
    """The rungs of one table's questions."""
    counts = _counts(asked, rows)
    half = 0
    if asked.counts_units:
        place = next(place for place, question in enumerate(asked.questions) if question.of_half)
        fine = asked.core.histograms[place].contribution.fine
        (units,) = plan.count.perturb([sum(counts[place].values()) // fine], _entropy=entropy)
        half = max(units, 0) * fine // 2
    return {
        question: question.ladder.rungs[
            _rung(own, max(half, scan.left) if question.of_half else scan.left, scan, entropy)
        ]
        for question, own, scan in zip(asked.questions, counts, scans_of(asked), strict=True)
    }


def _rung(counts: Mapping[int, int], left: int, scan: ClippingBoundSearch, entropy: Entropy) -> int:
    """The first place above which at most about ``left`` are, in the steps of counts; the last where none is found."""
    place = scan.each.draw(_negated_counts_above(counts, scan.sizes), -left, _entropy=entropy)
    return scan.sizes - 1 if place is None else place


def _negated_counts_above(counts: Mapping[int, int], rungs: int) -> Iterator[int]:
    """Minus the number of units above each rung but the last, in rising order."""
    above = sum(counts.values())
    for place in range(rungs - 1):
        above -= counts.get(place, 0)
        yield -above


def _counts(asked: Asked, rows: CoreRows) -> list[dict[int, int]]:
    """For each question the exact number of units in each place, in the steps of its histogram."""
    (lists,) = rows
    found = []
    for question, own in zip(asked.questions, lists, strict=True):
        assert own is None or isinstance(own, tuple | list)
        places, counts = own or ((), ())
        last = len(question.ladder.rungs) - 1
        exact = dict[int, int]()
        for place, count in zip(places, counts, strict=True):
            held = min(max(int(place), 0), last)
            exact[held] = exact.get(held, 0) + int(count)
        found.append(exact)
    return found
