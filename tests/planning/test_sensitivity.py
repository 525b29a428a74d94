"""The sensitivity property: dropping any one unit moves no cell by more than the plan claims."""

from __future__ import annotations

import os

import pytest
from built_worlds import world
from neighbours import Tally, faults, planned, report
from statements import statement
from worlds import World

from dpsql.errors import DatabaseError

pytestmark = pytest.mark.slow

#: How many worlds and how many statements on each; DPSQL_TRIALS=20 makes it twenty times as many worlds.
WORLDS = 72 * int(os.environ.get("DPSQL_TRIALS", "1"))
STATEMENTS, CHUNKS = 14, 8


def accepted(here: World, count: int, tally: Tally) -> list[str]:
    """Generated statements that dpsql plans; what it refuses it refuses in its own words."""
    texts = []
    for seed in range(count):
        text = statement(here, seed)
        tally.statements += 1
        try:
            planned(here, text)
        except DatabaseError:
            continue
        texts.append(text)
    tally.answered += len(texts)
    return texts


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_unit_moves_a_cell_by_more_than_is_claimed(chunk: int) -> None:
    tally = Tally()
    for seed in range(chunk, WORLDS, CHUNKS):
        here = world(seed)
        for text, problem in faults(here, accepted(here, STATEMENTS, tally), tally):
            pytest.fail(report(here, text, problem))
    print(tally)
    assert tally.trials >= 250 and tally.answered >= tally.statements * 0.5, tally
