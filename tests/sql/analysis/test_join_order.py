"""In which order sources are joined, however the statement has them."""

from __future__ import annotations

import pytest
from hand_world import hand_world
from neighbours import planned

from dpsql.sql.analysis.work.join_order import join_order
from dpsql.sql.ir.relation import Scan


@pytest.mark.parametrize(
    ("joined", "tables"),
    [
        ("people", ["people"]),
        ("visits v JOIN people p ON p.id = v.pid", ["visits", "people"]),
        ("people p JOIN visits v ON p.id = v.pid", ["visits", "people"]),
        ("places c JOIN visits v ON c.code = v.word", ["visits", "places"]),
        ("places c JOIN visits v ON c.code = v.word JOIN people p ON p.id = v.pid", ["visits", "people", "places"]),
    ],
)
def test_the_source_with_most_rows_of_a_unit_comes_first_and_public_ones_last(joined: str, tables: list[str]) -> None:
    (plan,) = planned(hand_world(), f"SELECT COUNT(*) FROM {joined}")
    order = join_order(plan.core.relation)
    assert [step.source.table for step in order.steps if isinstance(step.source, Scan)] == tables
    assert [step.kind for step in order.steps] == ["first", *["inner"] * (len(tables) - 1)]
