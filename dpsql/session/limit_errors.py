"""What a limit on the rows of a unit costs in error, said to the owner before it is chosen.

Proved in ``docs/proofs/accuracy.md``.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dpsql.planning.calibration import mechanism
from dpsql.schema import Privacy
from dpsql.session.pricing.noise_choice import noise_of_full_budget
from dpsql.sql.analysis.contribution import Norm, counted_once


def count_error(privacy: Privacy, rows: int) -> float:
    """Half the interval of COUNT(*) at the price of a statement, where so many rows of a unit count."""
    norm: Norm = "l2" if noise_of_full_budget(privacy) == "gaussian" else "l1"
    once = counted_once(norm)
    limited = replace(once, limit=once.limit * (rows if norm == "l1" else rows**2), rows=rows)
    noise = mechanism(limited, norm, privacy.neighbours, privacy.query_epsilon, Fraction(1))
    return float(noise.half_width(float(privacy.confidence)) * limited.step)
