"""Parallel composition: no unit moves parts of an accepted block that cost more than was charged
for the block.
"""

from __future__ import annotations

import os
from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random

import pytest
from built_worlds import world
from chunks import in_chunks
from draws import Draws
from neighbours import plan_of, run, without
from parallel_blocks import BlockWriter
from worlds import World

from dpsql.errors import DatabaseError
from dpsql.planning.plan import Plan
from dpsql.planning.workload import Block
from dpsql.privacy.accountants.basic_and_zcdp import Hybrid
from dpsql.privacy.accountants.composition_theorem import TheoremInvalid
from dpsql.privacy.accountants.workloads import Parallel
from dpsql.privacy.measure import FREE, Cost

pytestmark = pytest.mark.slow

#: How many worlds and how many blocks on each;
#: DPSQL_TRIALS=20 makes it twenty times as many #: worlds.
WORLDS = 16 * int(os.environ.get("DPSQL_TRIALS", "1"))
BLOCKS, CHUNKS = 40, 4


def keyed(seed: int) -> World:
    """A world of several units whose own table has one row for each, which its owner declares."""
    for place in range(100):
        here = world(9_000 + seed + 1_000 * place)
        if len(here.units) > 4:
            break
    home = replace(here.home, key=here.home.of_role("unit"))
    privacy = tuple((name, value) for name, value in here.privacy if name != "neighbours")
    return World(here.seed, (home, *here.tables[1:]), privacy)


def accepted(here: World, count: int) -> tuple[int, list[tuple[tuple[Plan, ...], Cost]]]:
    """How many blocks could be planned, and those which are charged less than their sum,
    with what they are charged.
    """
    planned, found = 0, []
    for number in range(count):
        random = Random(f"{here.seed}/{number}")
        texts = BlockWriter(Draws(here, random)).block()
        try:
            plans = tuple(
                plan_of(here, text, random.choice([Fraction(1), Fraction(1), Fraction(1, 3)]))
                for text in texts
            )
        except DatabaseError:
            continue
        planned += 1
        try:
            cost = Block(plans, Parallel, here.schema).cost
        except TheoremInvalid:
            continue
        assert cost.rho < Block(plans, Hybrid, here.schema).cost.rho
        found.append((plans, cost))
    return planned, found


def moved_by(here: World, blocks: list[tuple[Plan, ...]]) -> dict[str, list[Cost]]:
    """For each unit and block, what the cores cost together of which any exact row is another
    without the unit.
    """
    cores = [core for plans in blocks for plan in plans for core in plan.cores]
    moved: dict[str, list[Cost]] = {}
    with here.connect() as connection:
        whole = [sorted(run(connection, core) or [], key=repr) for core in cores]
        for unit in here.units:
            with without(connection, here, unit):
                differs = iter(
                    [
                        sorted(run(connection, core) or [], key=repr) != rows
                        for core, rows in zip(cores, whole, strict=True)
                    ]
                )
                moved[unit] = [
                    sum((core.cost for plan in plans for core in plan.cores if next(differs)), FREE)
                    for plans in blocks
                ]
    return moved


def exceeds(one: Cost, other: Cost) -> bool:
    pure = other.epsilon is not None and (one.epsilon is None or one.epsilon > other.epsilon)
    return pure or one.rho > other.rho or one.delta > other.delta


@cache
def tried(seed: int) -> tuple[int, int, int]:
    """How many blocks of one world were planned, how many cost less than their sum,
    and how many as much as is moved.

    A core that no condition admits a unit to has the same exact rows with it and without it.
    """
    here = keyed(seed)
    planned, blocks = accepted(here, BLOCKS)
    moved, tight = moved_by(here, [plans for plans, _ in blocks]), 0
    for place, (plans, charged) in enumerate(blocks):
        costs = {unit: each[place] for unit, each in moved.items()}
        broken = {unit: cost for unit, cost in costs.items() if exceeds(cost, charged)}
        texts = "\n".join(plan.text for plan in plans)
        assert not broken, (
            f"seed {here.seed}: {broken} but {charged} was charged for\n{texts}\n{here.script()}"
        )
        tight += max(cost.rho for cost in costs.values()) == charged.rho
    return planned, len(blocks), tight


@pytest.mark.parametrize("seed", in_chunks(WORLDS, CHUNKS, __name__))
def test_no_unit_moves_more_of_a_block_than_is_charged_for_it(seed: int) -> None:
    tried(seed)


@pytest.mark.parametrize("chunk", in_chunks(CHUNKS, CHUNKS, __name__))
def test_enough_blocks_are_parted_and_charged_for_what_is_moved(chunk: int) -> None:
    planned, parted, tight = map(
        sum, zip(*(tried(seed) for seed in range(chunk, WORLDS, CHUNKS)), strict=True)
    )
    assert planned // 16 < parted < planned and tight > parted // 4, (planned, parted, tight)
