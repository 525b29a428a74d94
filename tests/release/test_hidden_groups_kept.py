"""The groups that a released table hides: their cells stand among the others,
and what noise leaves open is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from untouched import planning_session

from dpsql.engines.exact_rows import ExactRows
from dpsql.planning.plan import CorePlan
from dpsql.privacy.mechanism import Gaussian, Laplace
from dpsql.release.hidden_groups import OpenGroups, open_groups, with_hidden_groups
from dpsql.release.noise_addition import release
from dpsql.release.released_tables import ReleasedTable
from dpsql.session import Session

AGES = "SELECT age, COUNT(*) AS n, SUM(followup_days) AS d FROM patients GROUP BY age"
BOTH = "SELECT age, male, COUNT(*) AS n FROM patients GROUP BY age, male"


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    """Noise is 0 by luck; blocks of groups would show more of them."""
    for mechanism in (Laplace, Gaussian):
        monkeypatch.setattr(mechanism, "perturb", lambda _, values, *, _entropy: list(values))
    return planning_session("nafld", tmp_path / "ledger")


def _core(session: Session, text: str) -> CorePlan:
    (core,) = session.plan(text).cores
    assert core.presence is not None and core.presence.released
    return replace(core, presence=replace(core.presence, blocks=False))


def _released(core: CorePlan, rows: Mapping[tuple[object, ...], int]) -> ReleasedTable:
    """What is released of groups of such sizes; all other cells are ten times as large."""
    fine = [cell.contribution.fine for cell in core.cells]
    exact = [
        (*key, rows[key] * fine[0], *(10 * rows[key] * each for each in fine[1:]))
        for key in reversed(rows)
    ]
    return release(ExactRows([exact]), [core], 0.95).tables[0]


def _least(core: CorePlan, groups: int) -> int:
    assert core.presence is not None
    return int(core.presence.threshold(groups) * core.steps[core.presence.cell]) + 1


def test_all_groups_are_there_in_the_order_of_their_keys(session: Session) -> None:
    core = _core(session, AGES)
    many = 10 * _least(core, 4)
    sizes = {(30,): many, (31,): 3, (32,): 2 * many, (33,): 0}
    released = _released(core, sizes)
    assert [*released.keys] == [(30,), (32,)]
    table = with_hidden_groups(released, 0.95)
    assert table is not None and table.hidden is None
    assert [*table.keys] == [*sizes] and table.marks == [True, False, True, False]
    assert [cells[0] for cells in table.cells] == [*sizes.values()]
    half = core.half_widths(0.95)[0]
    for (n, _), (bar, _), size in zip(
        table.aggregates, table.intervals, sizes.values(), strict=True
    ):
        assert (
            n == size
            and bar is not None
            and bar[0] <= n <= bar[1] == pytest.approx(n + float(half), abs=1)
        )
    assert [row[1] for row in table.aggregates[::2]] == [row[1] for row in released.aggregates]
    assert [*table.curves] == [(None, None)] * 4


def test_what_is_not_kept_is_not_there(session: Session) -> None:
    core = _core(session, AGES)
    released = _released(core, {(30,): 10 * _least(core, 2), (31,): 0})
    assert with_hidden_groups(replace(released, hidden=None), 0.95) is None
    assert open_groups(replace(released, hidden=None), 0.95) == OpenGroups(
        left_out=True, gaps=True, shown=True
    )
    without = replace(core, presence=None)
    assert open_groups(replace(released, plan=without), 0.95) == OpenGroups()
    assert with_hidden_groups(replace(released, plan=without), 0.95) == replace(
        released, plan=without
    )


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([9, 9, 9], OpenGroups()),
        ([9, 9, 0], OpenGroups(left_out=True)),
        ([9, 0, 9], OpenGroups(left_out=True, gaps=True)),
        ([0, 9, 9], OpenGroups(left_out=True, gaps=True)),
        ([0, 0, 0], OpenGroups(left_out=True)),
    ],
)
def test_what_noise_leaves_open_is_told(
    session: Session, sizes: list[int], expected: OpenGroups
) -> None:
    core = _core(session, AGES)
    least = _least(core, 3)
    assert (
        open_groups(
            _released(core, {(30 + n,): size * least for n, size in enumerate(sizes)}), 0.95
        )
        == expected
    )


def test_hidden_groups_of_two_keys_may_lie_in_any_gap(session: Session) -> None:
    core = _core(session, BOTH)
    many = 2 * _least(core, 3)
    sizes = {(30, False): many, (31, False): many, (31, True): 0}
    assert open_groups(_released(core, sizes), 0.95) == OpenGroups(left_out=True, gaps=True)
    assert open_groups(_released(core, dict.fromkeys(sizes, many)), 0.95) == OpenGroups()


def test_blocks_may_show_a_group_that_has_no_rows(session: Session) -> None:
    core = _core(session, AGES)
    assert core.presence is not None
    core = replace(core, presence=replace(core.presence, blocks=True))
    sizes = {(30 + n,): _least(core, 16) * (n != 7) * 3 // 4 for n in range(16)}
    assert open_groups(_released(core, sizes), 0.95).shown


def test_nothing_is_open_where_one_row_would_show(session: Session) -> None:
    core = _core(session, AGES)
    assert core.presence is not None
    silent = replace(core, presence=replace(core.presence, noise=Laplace(1, Fraction(1, 10**9))))
    assert open_groups(_released(silent, {(30,): 1, (31,): 0, (32,): 1}), 0.95) == OpenGroups()
