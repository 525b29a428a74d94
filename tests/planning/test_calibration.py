"""The sensitivity property: dropping any one unit moves no cell by more than the plan claims."""

from __future__ import annotations

import os

import pytest
from built_worlds import world
from neighbours import Tally, accepted, broken, report
from statements import statement

pytestmark = pytest.mark.slow

#: How many worlds and how many statements on each;
#: DPSQL_TRIALS=20 makes it twenty times as many #: worlds.
WORLDS = 16 * int(os.environ.get("DPSQL_TRIALS", "1"))
STATEMENTS, CHUNKS = 14, 2


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_unit_moves_a_cell_by_more_than_is_claimed(chunk: int) -> None:
    tally = Tally()
    for seed in range(chunk, WORLDS, CHUNKS):
        here = world(seed)
        plans = accepted(here, (statement(here, number) for number in range(STATEMENTS)), tally)
        for text, problem in broken(here, plans, tally):
            pytest.fail(report(here, text, problem))
    print(tally)
    assert tally.trials >= 250 and tally.answered >= tally.statements * 0.5, tally
