"""The bounds property: where columns keep their declared bounds,
an expression keeps the interval derived from them.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from built_worlds import world
from neighbours import planned
from statements import Writer

from dpsql.errors import DatabaseError
from dpsql.sql.analysis.bounds import bounds, is_nullable
from dpsql.sql.emit import node
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.emit.relation import from_clause
from dpsql.sql.emit.scalar import double
from dpsql.sql.ir.core import ClampedSum

#: A double may round beyond the exact end of its interval by this part of it.
SLACK = Fraction(1, 2**40)


@pytest.mark.parametrize("chunk", range(4))
def test_values_within_bounds_stay_within_the_derived_interval(chunk: int) -> None:
    checked = 0
    for seed in range(chunk, 40, 4):
        here = world(seed, tame=True)
        with here.connect() as connection:
            for number in range(25):
                text = Writer(here, Random(f"{seed}/{number}")).number(3)
                try:
                    (core,) = planned(here, text)
                except DatabaseError:
                    continue
                (total,) = [cell.contribution.cell for cell in core.cells]
                assert isinstance(total, ClampedSum)
                source, joins, conditions = from_clause(DUCKDB, core.core.relation)
                value = node.aliased(double(DUCKDB, total.argument), "value")
                sql = node.select([value], source, joins, node.conjoined(conditions)).sql(
                    dialect="duckdb"
                )
                values = [row[0] for row in connection.execute(sql).fetchall()]
                interval = bounds(total.argument)
                assert interval.low is not None and interval.high is not None
                slack = SLACK * max(abs(interval.low), abs(interval.high))
                # an overflow may make NaN, which is no number and is clamped to the upper end
                outside = [
                    each
                    for each in values
                    if each is not None
                    and each == each
                    and not interval.low - slack <= Fraction(each) <= interval.high + slack
                ]
                assert not outside, (text, interval, outside[:3])
                assert is_nullable(total.argument) or None not in values, text
                checked += len(values)
    assert checked > 1_000
