"""Joins, set operations and subqueries: where nothing binds and nothing is added,
the answer is DuckDB's.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hand_world import hand_world, tame_world
from neighbours import faults, planned
from relation_statements import JOINS, MORE, SETS, SUBQUERIES
from world_session import WorldEngine, session_on, without_noise

from dpsql.session import Session

STATEMENTS = SUBQUERIES | SETS | JOINS | MORE


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Session, WorldEngine]]:
    with pytest.MonkeyPatch.context() as patch:
        without_noise(patch)
        with session_on(tame_world(), tmp_path_factory.mktemp("ledger") / "tame.ledger") as pair:
            yield pair


def _near(ours: object, theirs: object) -> bool:
    if isinstance(theirs, str | bool) or theirs is None:
        return ours == theirs
    return abs(float(ours) - float(theirs)) < 1e-2  # type: ignore[arg-type]


@pytest.mark.parametrize("name", STATEMENTS)
def test_the_answer_is_duckdbs(name: str, opened: tuple[Session, WorldEngine]) -> None:
    session, engine = opened
    theirs = sorted(engine.plain(STATEMENTS[name]), key=repr)
    keys = {row[0] for row in theirs}
    rows = session.execute(STATEMENTS[name]).rows
    ours = sorted(
        (row for row in rows if row[0] in keys or any(row[1:]) or len(row) == 1), key=repr
    )
    assert len(ours) == len(theirs), (ours, theirs)
    assert all(
        _near(*pair)
        for one, two in zip(ours, theirs, strict=True)
        for pair in zip(one, two, strict=True)
    ), (ours, theirs)


@pytest.mark.parametrize(
    "name",
    [*(SUBQUERIES | SETS | JOINS), *(pytest.param(name, marks=pytest.mark.slow) for name in MORE)],
)
def test_the_claims_hold_on_hostile_data(name: str) -> None:
    assert faults(hand_world("all", "L2"), [STATEMENTS[name]]) == []


def test_units_of_a_full_join_are_told_apart_exactly() -> None:
    (core,) = planned(tame_world(), JOINS["full"])
    assert 'COALESCE("t0"."id", "t1"."pid") AS "unit"' in core.sql


#: Pairs with NULL as SQL has them, which DuckDB 1.5.6 does not:
#: unit 2 has a visit whose word is #: NULL.
PAIRS = {
    "SELECT COUNT(*) FROM people p WHERE (p.id, 'zz') NOT IN (SELECT pid, word FROM visits)": 5,
    "SELECT COUNT(*) FROM people p WHERE ('w0', p.id) NOT IN (SELECT word, pid FROM visits)": 3,
    "SELECT COUNT(*) FROM people p WHERE (p.id, 'zz') IN (SELECT pid, word FROM visits)": 0,
}


@pytest.mark.parametrize("text", PAIRS)
def test_a_pair_beside_the_unit_is_unknown_where_its_other_part_is(
    text: str, opened: tuple[Session, WorldEngine]
) -> None:
    session, _ = opened
    assert session.execute(text).rows == [(PAIRS[text],)]
