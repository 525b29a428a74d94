"""What limits on the rows of a unit cost in error, said to the owner before they are chosen.

Proved in ``docs/proofs/accuracy.md``.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dpsql.planning.calibration import mechanism
from dpsql.schema import Privacy
from dpsql.session.pricing.noise_choice import noise_of_full_budget
from dpsql.sql.analysis.contribution import Norm, counted_once

#: What a count and a sum of an average have of its price each.
AVERAGE_SHARE = Fraction(1, 2)


def count_error(privacy: Privacy, rows: int) -> float:
    """Half the interval of COUNT(*) at the price of a statement, where so many rows of a unit count."""
    return error_in_groups(privacy, rows, None, None)


def error_in_groups(
    privacy: Privacy, rows: int, groups: int | None, rows_per_group: int | None, share: Fraction = Fraction(1)
) -> float:
    """Half the interval of a count of rows by groups, at a share of the price of a statement.

    A unit has at most so many rows, touches at most so many groups, and has at most so many rows in one of them.
    """
    norm: Norm = "l2" if noise_of_full_budget(privacy) == "gaussian" else "l1"
    most = rows if norm == "l1" else rows**2
    if rows_per_group is not None:
        touched = min(rows, groups or rows)
        most = min(most, touched * (rows_per_group if norm == "l1" else rows_per_group**2))
    once = counted_once(norm)
    limited = replace(once, limit=once.limit * most, rows=rows)
    noise = mechanism(limited, norm, privacy.neighbours, privacy.query_epsilon, share)
    return float(noise.half_width(float(privacy.confidence)) * limited.step)
