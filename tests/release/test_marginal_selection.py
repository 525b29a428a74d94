"""Marginals are measured with the noise that was paid for,
and chosen by scores that one unit moves as claimed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from databases import clinic, without_noise
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from seeded_entropy import Seeded

from dpsql.engines.exact_rows import ExactRows
from dpsql.planning.synthetic.plan import SyntheticPlan
from dpsql.privacy.measure import FREE, Cost
from dpsql.privacy.mechanism import ConcentratedExponential, ExponentialMechanism, Gaussian, Laplace
from dpsql.release import marginal_selection
from dpsql.release.marginal_selection import MeasuredMarginal, measure
from dpsql.session import Session, open_session
from dpsql.session.request import named_statement

TEXT = "CREATE SYNTHETIC TABLE twins AS SELECT {columns} FROM {table} PRICE {price}"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Any:
    opened = open_session(clinic(tmp_path_factory.mktemp("clinic")))
    yield opened
    opened.close()


def planned(
    session: Session, columns: str, table: str = "patients", price: str = "1"
) -> SyntheticPlan:
    text = TEXT.format(columns=columns, table=table, price=price)
    maker = session._named_statements._makers["synthetic table"]
    return maker._draft(named_statement(text), text, (), session.settings).plan  # type: ignore[attr-defined, no-any-return]


@cache
def three_columns(session: Session) -> SyntheticPlan:
    return planned(session, "sex, ward, weight")


def grids(
    plan: SyntheticPlan, rows: Sequence[Sequence[int]], step: int
) -> list[list[tuple[object, ...]]]:
    """What an engine would return of rows of places: for each core a full grid of counts,
    in steps.
    """
    found = []
    for marginal in [(place,) for place in range(len(plan.columns))] + list(plan.pairs):
        counts = np.zeros([plan.columns[each].size for each in marginal], np.int64)
        for row in rows:
            counts[tuple(row[each] for each in marginal)] += step
        keys = [list(plan.columns[each]._places) for each in marginal]
        found.append(
            [
                (*(keys[at][place] for at, place in enumerate(cell)), int(count))
                for cell, count in np.ndenumerate(counts)
            ]
        )
    return found


def independent(plan: SyntheticPlan, seen: list[Sequence[MeasuredMarginal]] | None = None) -> Any:
    def approximate(measured: Sequence[MeasuredMarginal]) -> list[Any]:
        if seen is not None:
            seen.append(tuple(measured))
        return [np.full(plan.cells(pair), 1.0) for pair in plan.pairs]

    return approximate


def everything(plan: SyntheticPlan) -> Any:
    return lambda chosen: [True] * len(plan.pairs)


ROW = st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 4))


@given(rows=st.lists(ROW, max_size=12), more=st.lists(ROW, min_size=1, max_size=3))
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
def test_one_unit_moves_counts_and_scores_by_no_more_than_claimed(
    session: Session, rows: list[Any], more: list[Any]
) -> None:
    """A unit comes or goes: each score moves by at most its number of rows,
    two of them apart by twice that.
    """
    plan = three_columns(session)
    without, with_unit = (
        [
            marginal_selection._counts(plan, pair, core)
            for pair, core in zip(plan.pairs, found[3:], strict=True)
        ]
        for found in (
            grids(plan, [at(plan, row) for row in listed], 1) for listed in (rows, rows + more)
        )
    )
    estimates = [np.full(plan.cells(pair), 1.0) * 0 + 1.4 for pair in plan.pairs]
    assert plan.together is not None
    one, other = (
        marginal_selection._scores(plan, each, estimates, plan.together)
        for each in (without, with_unit)
    )
    moved = [before - after for before, after in zip(one, other, strict=True)]
    counts = [int(np.abs(a - b).sum()) for a, b in zip(without, with_unit, strict=True)]
    assert max(counts) <= len(more) and max(map(abs, moved)) <= len(more)
    assert max(moved) - min(moved) <= 2 * len(more)


@pytest.mark.parametrize("made", [np.nan, np.inf, -np.inf, 1e300, -1e300, 2.0**62, -(2.0**63)])
@pytest.mark.parametrize("everywhere", [False, True])
def test_whatever_the_model_makes_one_row_moves_a_score_by_one(
    session: Session, made: float, everywhere: bool
) -> None:
    """What a package fits may be no number; a cast of that would wrap around,
    and one unit would decide the choice.
    """
    plan = three_columns(session)
    assert plan.together is not None
    sizes = [plan.cells(pair) for pair in plan.pairs]
    estimates = [np.full(size, made if everywhere else 1.4) for size in sizes]
    for estimate in estimates:
        estimate[0] = made
    for rows in (0, 1, 5):
        counts = [np.full(size, rows * 2048, np.int64) for size in sizes]
        more = [each.copy() for each in counts]
        for each in more:
            each[0] += 1
        one, other = (
            marginal_selection._scores(plan, each, estimates, plan.together)
            for each in (counts, more)
        )
        assert all(abs(before - after) == 1 for before, after in zip(one, other, strict=True))
        assert all(abs(score) < 2**63 for score in one)


def at(plan: SyntheticPlan, row: tuple[int, ...]) -> list[int]:
    return [min(place, column.size - 1) for place, column in zip(row, plan.columns, strict=True)]


def test_the_mechanisms_are_made_for_what_a_unit_moves(session: Session) -> None:
    """A unit of the clinic has up to three visits: 3 rows in steps of 1/2048,
    6 between two scores.
    """
    gaussian = planned(session, "cost", "visits")
    assert gaussian.step * 2048 == 1 and gaussian.alone == Gaussian.for_rho(
        (3 * 2048) ** 2, gaussian.cost.rho
    )
    session.mechanism = "laplace"
    try:
        laplace = planned(session, "cost", "visits")
        assert (
            isinstance(laplace.alone, Laplace)
            and laplace.alone.l1 == 3 * 2048
            and laplace.cost.epsilon == 1
        )
    finally:
        session.mechanism = None


def test_each_pair_is_chosen_once_and_all_that_is_drawn_is_paid_for(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = wide(three_columns(session))
    drawn: list[Cost] = []
    for kind in (Gaussian, Laplace):
        own = kind.perturb
        monkeypatch.setattr(
            kind,
            "perturb",
            lambda self, values, own=own, **more: (
                drawn.append(self.cost),
                own(self, values, **more),
            )[1],
        )
    for choice in (ConcentratedExponential, ExponentialMechanism):
        mine = choice.draw
        monkeypatch.setattr(
            choice,
            "draw",
            lambda self, *given, own=mine, **more: (
                drawn.append(self.cost),
                own(self, *given, **more),
            )[1],
        )
    seen: list[Sequence[MeasuredMarginal]] = []
    exact = ExactRows(grids(plan, [[0, 1, 2]] * 50, 2048))
    measured = measure(exact, plan, independent(plan, seen), everything(plan), _entropy=Seeded(1))
    chosen = [each.columns for each in measured]
    assert chosen[:3] == [(0,), (1,), (2,)] and len(set(chosen)) == len(chosen) == 3 + plan.measured
    assert sum(drawn, FREE) == plan.cost
    for known in seen:  # the model sees what is released, and nothing else
        assert all(each in measured for each in known)


def test_no_count_and_no_sum_of_counts_is_the_exact_one(session: Session) -> None:
    """In steps of 1/2048 of a row noise hits a whole number in one draw of thousands."""
    plan = wide(three_columns(session))
    measured = measure(
        ExactRows(grids(plan, [[0, 1, 2]] * 50, 2048)),
        plan,
        independent(plan),
        everything(plan),
        _entropy=Seeded(2),
    )
    for each in measured:
        assert sum(each.counts) != 50
        assert sum(count % 1 == 0 for count in each.counts) <= 1


def test_the_worst_pair_is_chosen_and_counts_are_those_of_the_rows(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:

    without_noise(monkeypatch)
    plan = wide(three_columns(session))
    rows = [[0, 1, 2]] * 3000 + [[2, 4, 0]] * 5000

    def approximate(measured: Sequence[MeasuredMarginal]) -> list[Any]:
        """Right about all pairs but the last."""
        found = [
            np.array([count / 2048 for *_, count in core]) for core in grids(plan, rows, 2048)[3:]
        ]
        return [*found[:-1], found[-1] * 0]

    measured = measure(
        ExactRows(grids(plan, rows, 2048)), plan, approximate, everything(plan), _entropy=Seeded(1)
    )
    assert measured[3].columns == plan.pairs[-1]
    for each in measured:
        counts = np.array(each.counts).reshape([plan.columns[place].size for place in each.columns])
        for row in ([0, 1, 2], [2, 4, 0]):
            assert counts[tuple(row[place] for place in each.columns)] == rows.count(row)
        assert counts.sum() == 8000


def wide(plan: SyntheticPlan) -> SyntheticPlan:
    """The plan with choices of two pairs of three, at the price of its own noise."""
    assert plan.together is not None
    choice = ConcentratedExponential((2 * 2048) ** 2, plan.together.cost.rho)
    return SyntheticPlan(
        plan.reading, plan.columns, plan.pairs, (1, 1), plan.alone, plan.together, choice, plan.step
    )
