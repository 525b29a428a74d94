"""Rows that meet others in a subquery are of one unit: what is answered keeps its claims wherever the tie stands."""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random

import pytest
from built_worlds import world
from draws import Draws
from neighbours import Tally, faults, planned, report
from subquery_ties import TieWriter
from worlds import World

from dpsql.errors import DatabaseError

pytestmark = pytest.mark.slow

#: How many worlds and how many statements on each; DPSQL_TRIALS=20 makes it twenty times as many worlds.
WORLDS = 16 * int(os.environ.get("DPSQL_TRIALS", "1"))
STATEMENTS, CHUNKS = 48, 4


def crowded(seed: int) -> World:
    """A world of several units, of which each may have one row: one that moves another's rows moves too much."""
    for place in range(100):
        here = world(5_000 + seed + 1_000 * place)
        if len(here.units) > 3:
            break
    one = (("max_rows_per_unit", 1),)
    tables = tuple(each if each.public else replace(each, limits=one) for each in here.tables)
    privacy = tuple((name, value) for name, value in here.privacy if name != "neighbours")
    return World(here.seed, tables, privacy)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_tie_in_a_subquery_lets_a_unit_move_the_rows_of_others(chunk: int) -> None:
    tally = Tally()
    for seed in range(chunk, WORLDS, CHUNKS):
        here, texts = crowded(seed), []
        for number in range(STATEMENTS):
            text = TieWriter(Draws(here, Random(f"{seed}/{number}"))).statement()
            tally.statements += 1
            try:
                planned(here, text)
            except DatabaseError:
                continue
            texts.append(text)
        tally.answered += len(texts)
        for text, problem in faults(here, texts, tally):
            pytest.fail(report(here, text, problem))
    assert tally.statements // 5 < tally.answered < tally.statements and tally.trials > 500, tally
