"""Record and replay: with the mechanisms' outputs frozen, neighbours give the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from built_worlds import world
from statements import statement
from world_session import FrozenNoise, session_on
from worlds import World

from dpsql.errors import DatabaseError
from dpsql.planning.plan import Plan
from dpsql.session import Session

pytestmark = pytest.mark.slow

#: What is put behind a statement so that the shell has something to do.
SHELLS = ("", " ORDER BY 1", " ORDER BY 1 DESC LIMIT 3", " LIMIT 2 OFFSET 1")


def _answer(session: Session, noise: FrozenNoise, plan: Plan) -> tuple[str, list[str]]:
    """Everything that leaves dpsql but the rows, and the rows with their intervals."""
    noise.start(plan)
    before = session.remaining.spent
    try:
        result = session.answer(plan)
    except DatabaseError as error:
        return f"{type(error).__name__} {error}", []
    spent = session.remaining.spent
    rest = f"{result.columns} {spent.rho - before.rho} {spent.epsilon} {spent.delta - before.delta} {plan.cost}"
    return rest, [repr(pair) for pair in zip(result.rows, result.intervals, strict=True)]


def _compare(whole: World, lacking: World, noise: FrozenNoise, folder: Path) -> int:
    compared = 0
    with (
        session_on(whole, folder / f"{whole.seed}.ledger") as (one, _),
        session_on(lacking, folder / f"{whole.seed}b.ledger") as (other, _),
    ):
        for seed in range(12):
            text = statement(whole, seed)
            text += SHELLS[seed % len(SHELLS)] if "GROUP BY" in text else ""
            try:
                plan = one.plan(text)
            except DatabaseError as error:
                with pytest.raises(type(error)) as again:
                    other.plan(text)
                assert str(again.value) == str(error)
                continue
            assert other.plan(text) == plan
            rest, rows = _answer(one, noise, plan)
            rest_again, rows_again = _answer(other, noise, plan)
            assert rest == rest_again, (whole.seed, text)
            if not noise.same_for_all_rows:
                assert rows == rows_again, (whole.seed, text)
            elif "LIMIT" not in text:
                order = iter(rows)
                assert all(row in order for row in rows_again), (whole.seed, text, rows, rows_again)
            compared += 1
    return compared


@pytest.mark.parametrize("chunk", range(2))
def test_frozen_outputs_give_the_same_release_on_neighbours(
    chunk: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    noise = FrozenNoise(monkeypatch)
    compared = 0
    for seed in range(500 + chunk, 504, 2):
        here = world(seed)
        for unit in here.units[:2]:
            compared += _compare(here, here.without(unit).shuffled(seed), noise, tmp_path)
    assert compared > 12
