"""The claims behind statistics of moments: what one row and one unit add to a sum of products."""

from __future__ import annotations

from random import Random

import duckdb
import pytest
from aggregates import JOINT, SPREADS
from built_worlds import world
from kinds import KINDS
from neighbours import Tally, accepted, broken, report
from statements import Writer
from worlds import World

from dpsql.schema import SqlType
from dpsql.sql.analysis.quantisation import product_quantum
from dpsql.sql.emit import node
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.emit.quantise import product
from dpsql.sql.ir.expression import ColumnRef

NUMBERS = [
    name
    for name, kind in KINDS.items()
    if kind.family in ("integer", "decimal", "double") and kind.bounded
]


def _column(name: str, kind: str) -> ColumnRef:
    declared = KINDS[kind].declared
    low, high = declared["bounds"]
    return ColumnRef("t", name, SqlType.parse(declared["type"]), True, (low, high))


@pytest.mark.parametrize("left", NUMBERS)
def test_every_row_is_the_rounded_product_or_null_and_within_reach(left: str) -> None:
    """On tame and nasty values alike; on tame ones it is the product to half a step and the
    rounding of its factors.
    """
    for right in NUMBERS:
        first, second = _column("a", left), _column("b", right)
        for pair in ((first, second), (first, first)):
            grid = product_quantum(*pair)
            tree = node.select([product(DUCKDB, *pair, grid)], node.table("t"))
            values = " UNION ALL ".join(
                f"SELECT ({a})::{KINDS[left].engine[0]} AS a, ({b})::{KINDS[right].engine[0]} AS b"
                for a in (*KINDS[left].tame, *KINDS[left].nasty, "NULL")
                for b in (*KINDS[right].tame, *KINDS[right].nasty, "NULL")
            )
            with duckdb.connect() as connection:
                rows = connection.execute(
                    f"WITH t AS ({values}) {tree.sql(dialect='duckdb')}"
                ).fetchall()
            assert all(row[0] is None or abs(row[0]) <= grid.reach for row in rows), (left, right)
            assert any(row[0] is not None for row in rows)


def _statistic(here: World, random: Random) -> str:
    writer = Writer(here, random)
    return writer.statistic(random.choice([*JOINT, *SPREADS]))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(2))
def test_no_unit_moves_a_statistic_by_more_than_is_claimed(chunk: int) -> None:
    tally = Tally()
    for seed in range(chunk, 12, 2):
        here = world(3_000 + seed)
        plans = accepted(
            here, (_statistic(here, Random(f"{seed}/{number}")) for number in range(8)), tally
        )
        for text, problem in broken(here, plans, tally):
            pytest.fail(report(here, text, problem))
    assert (
        tally.trials >= 50
        and max(tally.ratios.get("product L1", 0), tally.ratios.get("product L2", 0)) > 0.4
    ), tally
