"""Where numbers can lie at all, by what the schema declares of the values that they are made of."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hand_world import hand_world
from world_session import session_on

from dpsql.postprocessing.possible_values import ranges


@pytest.mark.parametrize(
    ("aggregate", "low", "high"),
    [("COUNT(*)", 0, None), ("COUNT(DISTINCT grade)", 0, 3), ("COUNT(DISTINCT above)", 0, 11)],
)
def test_counts_of_different_values_end_at_how_many_are_declared(
    aggregate: str, low: int, high: int | None, tmp_path: Path
) -> None:
    with session_on(hand_world(), tmp_path / "ledger") as (session, _):
        (found,) = ranges(session.plan(f"SELECT {aggregate} AS n FROM people"))
    assert (found.low, found.high) == (Fraction(low), high if high is None else Fraction(high))
