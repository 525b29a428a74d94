"""The noise of a cube's sums beyond so many groups, where it is bounded:
never less than what it is.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from test_cube import STATEMENTS, _noisy, _world
from world_session import session_on

from dpsql.release.grouping_sets import cube_table
from dpsql.release.grouping_sets.released_table import CubeTable

#: Statements of which at least one coarser level has several groups in a group of a still coarser
#: one.
SEVERAL = ("rollup", "cube", "cube of three", "sets", "keys together", "nested")


def made(promise: str, name: str, ledger: Path) -> CubeTable:
    text = STATEMENTS[name].replace("{}", "COUNT(*) AS n")
    with session_on(_world(promise), ledger) as (session, engine):
        plan = session.plan(text)
        exact = [engine._connection.execute(core.sql).fetchall() for core in plan.cores]
    tables = [_noisy(core, rows, None) for core, rows in zip(plan.cores, exact, strict=True)]
    return cube_table(plan.cubes[0], tables, 0.95)


@pytest.mark.parametrize("promise", ["L1", "L2"])
@pytest.mark.parametrize("name", SEVERAL)
def test_the_noise_of_many_groups_is_bounded_by_no_less_than_it_is(
    promise: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same cube as if it had more groups than are computed exactly;
    three times the variance is the most.
    """
    exact = made(promise, name, tmp_path / "exact.ledger")
    monkeypatch.setattr("dpsql.release.grouping_sets.totals.DENSE", 0)
    bounded = made(promise, name, tmp_path / "bounded.ledger")
    assert bounded.keys == exact.keys
    for (_, more), (_, less) in zip(bounded.groups, exact.groups, strict=True):
        assert less.variances[0] * (1 - 1e-9) <= more.variances[0] <= 3 * less.variances[0] + 1e-9
        assert more.halves[0] >= less.halves[0] * 0.999
