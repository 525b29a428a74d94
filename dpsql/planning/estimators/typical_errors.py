"""The expected error of an average or a statistic of moments in a typical group.

It is known before anything is measured. Proved in ``docs/proofs/moments.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from dpsql.planning.estimators.estimate import MeanEstimate, interval
from dpsql.planning.estimators.linear_forms import NoiseLaw
from dpsql.planning.estimators.moments import CentredVariable, MomentEstimate

#: For groups of how many rows EXPLAIN tells the error.
EXAMPLES: Final = (1_000, 100_000)
#: An interval that is at least so wide, as a part of the one of a single row, says nothing.
SAYS_NOTHING: Final = 0.95


def errors_in_groups(
    estimate: MeanEstimate | MomentEstimate, halves: Sequence[Fraction], law: NoiseLaw
) -> str:
    """Half the width of the interval in groups of `EXAMPLES` rows, in words."""
    errors = [_error(estimate, halves, law, rows) for rows in EXAMPLES]
    first, *others = (
        f"{error} with {rows:,}" for error, rows in zip(errors, EXAMPLES, strict=True)
    )
    return ", ".join([f"{first} rows", *others])


def _error(
    estimate: MeanEstimate | MomentEstimate, halves: Sequence[Fraction], law: NoiseLaw, rows: int
) -> str:
    half = even_half_width(estimate, halves, law, rows)
    widest = even_half_width(estimate, halves, law, 1)
    if not math.isfinite(half) or half >= SAYS_NOTHING * widest:
        return "nothing is told"
    return f"± {half:.2g}" if half < 100 else f"± {half:.0f}"


def even_half_width(
    estimate: MeanEstimate | MomentEstimate, halves: Sequence[Fraction], law: NoiseLaw, rows: int
) -> float:
    """Half the interval in a group of so many rows whose values spread evenly within the bounds.

    Pairs have a correlation of one half.
    """
    sums = [Fraction(0)] * len(halves)
    sums[estimate.count] = Fraction(rows)
    if isinstance(estimate, MomentEstimate):
        for variable in filter(None, (estimate.x, estimate.y)):
            if variable.squares is not None:
                sums[variable.squares] = rows * _even_square(variable)
        if estimate.products is not None:
            y, x = estimate.pair
            sums[estimate.products] = rows * (y.reach * x.reach / 6 - estimate.product_middle)
    ends = interval(estimate, list(zip(sums, halves, strict=True)), law=law)
    assert ends is not None
    return (ends[1] - ends[0]) / 2


def _even_square(variable: CentredVariable) -> Fraction:
    """What a row adds to the cell of squares on average if values spread evenly.

    That is a third of the reach squared.
    """
    return variable.reach**2 / 3 - variable.square_middle
