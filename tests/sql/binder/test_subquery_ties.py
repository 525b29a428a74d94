"""Rows that meet others in a subquery are of one unit:
what is answered keeps its claims wherever the tie stands.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from random import Random

import pytest
from built_worlds import world
from chunks import in_chunks
from draws import Draws
from neighbours import Tally, accepted, broken, report
from subquery_ties import TieWriter
from worlds import World

pytestmark = pytest.mark.slow

#: How many worlds and how many statements on each;
#: DPSQL_TRIALS=20 makes it twenty times as many #: worlds.
WORLDS = 8 * int(os.environ.get("DPSQL_TRIALS", "1"))
STATEMENTS, CHUNKS = 48, 2


def crowded(seed: int) -> World:
    """A world of several units, of which each may have one row:
    one that moves another's rows moves too much.
    """
    for place in range(100):
        here = world(5_000 + seed + 1_000 * place)
        if len(here.units) > 3:
            break
    one = (("max_rows_per_unit", 1),)
    tables = tuple(each if each.public else replace(each, limits=one) for each in here.tables)
    privacy = tuple((name, value) for name, value in here.privacy if name != "neighbours")
    return World(here.seed, tables, privacy)


@cache
def tried(seed: int) -> Tally:
    """One world with its statements, each of which keeps its claims or is refused."""
    here, tally = crowded(seed), Tally()
    texts = (
        TieWriter(Draws(here, Random(f"{seed}/{number}"))).statement()
        for number in range(STATEMENTS)
    )
    for text, problem in broken(here, accepted(here, texts, tally), tally):
        pytest.fail(report(here, text, problem))
    return tally


@pytest.mark.parametrize("seed", in_chunks(WORLDS, CHUNKS, __name__))
def test_no_tie_in_a_subquery_lets_a_unit_move_the_rows_of_others(seed: int) -> None:
    tried(seed)


@pytest.mark.parametrize("chunk", in_chunks(CHUNKS, CHUNKS, __name__))
def test_enough_ties_are_answered_and_enough_refused(chunk: int) -> None:
    tallies = [tried(seed) for seed in range(chunk, WORLDS, CHUNKS)]
    statements, answered = (
        sum(each.statements for each in tallies),
        sum(each.answered for each in tallies),
    )
    assert statements // 5 < answered < statements and sum(each.trials for each in tallies) > 500
