"""In which order sources are joined, however the statement has them."""

from __future__ import annotations

from pathlib import Path

import pytest
from databases import without_noise
from hand_world import hand_world, tame_world
from neighbours import planned
from world_session import session_on

from dpsql.errors import Refused
from dpsql.sql.analysis.work import join_order as order_of_joins
from dpsql.sql.analysis.work.join_order import join_order
from dpsql.sql.ir.relation import Scan


@pytest.mark.parametrize(
    ("joined", "tables"),
    [
        ("people", ["people"]),
        ("visits v JOIN people p ON p.id = v.pid", ["visits", "people"]),
        ("people p JOIN visits v ON p.id = v.pid", ["visits", "people"]),
        ("places c JOIN visits v ON c.code = v.word", ["visits", "places"]),
        (
            "places c JOIN visits v ON c.code = v.word JOIN people p ON p.id = v.pid",
            ["visits", "people", "places"],
        ),
    ],
)
def test_the_source_with_most_rows_of_a_unit_comes_first_and_public_ones_last(
    joined: str, tables: list[str]
) -> None:
    (plan,) = planned(hand_world(), f"SELECT COUNT(*) FROM {joined}")
    order = join_order(plan.core.relation)
    assert [step.source.table for step in order.steps if isinstance(step.source, Scan)] == tables
    assert [step.kind for step in order.steps] == ["first", *["inner"] * (len(tables) - 1)]


#: Outer joins whose rows without a partner fail a condition behind them,
#: and one of which they do #: not.
VOID = {
    "people p LEFT JOIN visits v ON v.pid = p.id JOIN visits w ON w.pid = v.pid AND w.small > 2": [
        "inner",
        "inner",
    ],
    "people p RIGHT JOIN visits v ON v.pid = p.id JOIN visits w ON w.pid = p.id": [
        "inner",
        "inner",
    ],
    "people p LEFT JOIN visits v ON v.pid = p.id JOIN visits w ON w.pid = v.pid AND w.small = p.above": [
        "inner",
        "inner",
    ],
    "people p LEFT JOIN visits v ON v.pid = p.id AND v.small > 2, visits w WHERE w.pid = v.pid": [
        "inner",
        "inner",
    ],
    "people p LEFT JOIN visits v ON v.pid = p.id LEFT JOIN people q ON q.id = v.pid JOIN visits w ON w.pid = q.id": [
        "inner",
        "inner",
        "inner",
    ],
    "people p JOIN visits w ON w.pid = p.id LEFT JOIN visits v ON v.pid = p.id AND v.small > 2": [
        "inner",
        "left",
    ],
    "people p LEFT JOIN visits v ON v.pid = p.id AND v.small > 2 JOIN visits w ON w.pid = p.id": [
        "inner",
        "left",
    ],
}


@pytest.mark.parametrize("joined", VOID)
def test_a_left_join_whose_rows_without_a_partner_are_left_out_is_an_inner_join(
    joined: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of people meet those of their own alone in each step,
    and the answer is that of plain DuckDB.
    """
    (plan,) = planned(hand_world(), f"SELECT COUNT(*) FROM {joined}")
    steps = join_order(plan.core.relation).steps
    assert [step.kind for step in steps] == ["first", *VOID[joined]] and all(
        step.on_unit for step in steps
    )
    without_noise(monkeypatch)
    with session_on(tame_world(), tmp_path / "ledger") as (session, engine):
        text = f"SELECT COUNT(*), COUNT(w.small), COUNT(DISTINCT w.small) FROM {joined}"
        assert [tuple(map(float, row)) for row in session.execute(text).rows] == [
            tuple(map(float, row)) for row in engine.plain(text)
        ]


@pytest.mark.parametrize(
    "joined",
    [
        "people p FULL JOIN visits v ON v.pid = p.id JOIN visits w ON w.pid = p.id",
        "visits v FULL JOIN people p ON p.id = v.pid JOIN visits w ON w.pid = v.pid",
    ],
)
def test_a_side_of_a_full_join_identifies_its_unit_where_it_is_there(
    joined: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_noise(monkeypatch)
    with session_on(tame_world(), tmp_path / "ledger") as (session, engine):
        text = f"SELECT COUNT(*), COUNT(v.pid), COUNT(p.id) FROM {joined}"
        assert [tuple(map(float, row)) for row in session.execute(text).rows] == [
            tuple(map(float, row)) for row in engine.plain(text)
        ]


@pytest.mark.parametrize("joined", list(VOID)[:5])
def test_private_rows_that_would_meet_those_of_others_are_refused(
    joined: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order_of_joins, "_without_void_outer_joins", lambda *parts: parts)
    with pytest.raises(Refused, match="would meet those of other people"):
        planned(hand_world(), f"SELECT COUNT(*) FROM {joined}")
