"""Exact places of units on ladders → noisy counts of units on each, which are released.

Proved in ``docs/proofs/tune.md``.
"""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.engines.exact_rows import CoreRows, ExactRows
from dpsql.planning.tuning import Asked, NoisyCounts, Question, TuningPlan, counts_of, noisy_counts
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy


def count(
    exact: ExactRows, plan: TuningPlan, *, _entropy: Entropy = OPERATING_SYSTEM
) -> dict[Question, NoisyCounts]:
    """The noisy counts of each question of the plan.

    All of them are released: public from here on.
    """
    released = dict[Question, NoisyCounts]()
    for asked, rows in zip(plan.tables, exact.reveal(), strict=True):
        for question, histogram, mechanism, counts in zip(
            asked.questions,
            asked.core.histograms,
            counts_of(asked),
            _exact(asked, rows),
            strict=True,
        ):
            noisy = mechanism.node.perturb(counts, _entropy=_entropy)
            released[question] = noisy_counts(histogram, noisy)
    return released


def _exact(asked: Asked, rows: CoreRows) -> Iterator[list[int]]:
    """For each question the exact number of units in each place, in the steps of its histogram."""
    (lists,) = rows
    for question, list_ in zip(asked.questions, lists, strict=True):
        assert list_ is None or isinstance(list_, tuple | list)
        places, counts = list_ or ((), ())
        exact = [0] * len(question.ladder.rungs)
        for index, number in zip(places, counts, strict=True):
            exact[min(max(int(index), 0), len(exact) - 1)] += int(number)
        yield exact
