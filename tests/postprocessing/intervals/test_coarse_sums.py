"""Sums of counts whose noise has few steps:
their intervals are those of the exact law of the sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pytest

from dpsql.privacy.mechanism import Laplace
from dpsql.session import Session, open_session

SCHEMA = """
name = "clinic"
source = "clinic.duckdb"
[privacy]
unit = "people.id"
epsilon = 1000
delta = 0
[tables.people]
key = "id"
max_rows_per_unit = 1
[tables.people.columns]
id = { type = "integer" }
v = { type = "integer", bounds = [0, 99] }
w = { type = "integer", bounds = [0, 49] }
"""


@pytest.fixture(autouse=True)
def _uncut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers and intervals as they are released, not cut to what can be."""
    monkeypatch.setattr(
        "dpsql.postprocessing.answer.shown_within", lambda plan, rows, found: (rows, found)
    )


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder: Path = tmp_path_factory.mktemp("clinic")
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i AS id, i % 100 AS v, i % 50 AS w FROM range(500) AS t(i)"
        )
    (folder / "clinic.toml").write_text(SCHEMA)
    opened = open_session(folder / "clinic.toml", ledger=folder / "ledger")
    opened.set("dpsql.reuse", "off")
    yield opened
    opened.close()


def inside(noise: Laplace, times: tuple[int, int], half: float) -> float:
    """The chance that two draws, each so many times as large, add up to at most that much."""
    steps = np.arange(-400, 401)
    mass = np.exp(-np.abs(steps) / float(noise.scale)) * np.tanh(1 / (2 * float(noise.scale)))
    sums = np.abs(times[0] * steps[:, None] + times[1] * steps[None])
    return float(np.sum(mass[:, None] * mass[None], where=sums <= half))


@pytest.mark.parametrize("epsilon", [1, 2, 4, 7, 20])
@pytest.mark.parametrize("times", [(1, 1), (1, -1), (1, -2), (3, 2)], ids=str)
def test_the_interval_of_a_sum_of_counts_is_that_of_its_law(
    session: Session, epsilon: int, times: tuple[int, int]
) -> None:
    session.epsilon = Fraction(epsilon)
    text = (
        f"SELECT {times[0]} * COUNT(DISTINCT v) + {times[1]} * COUNT(DISTINCT w) AS n FROM people"
    )
    (core,) = session.plan(text).cores
    noise, other = core.noises
    assert (
        noise == other
        and isinstance(noise, Laplace)
        and float(noise.scale) == pytest.approx(2 / epsilon)
    )
    result = session.execute(text)
    (((value,), (ends,)),) = zip(result.rows, result.intervals, strict=True)
    assert isinstance(value, int) and ends is not None
    low, high = (float(end) - value for end in ends)  # type: ignore[arg-type]
    assert low == -high
    assert inside(noise, times, high) >= 0.95 > inside(noise, times, high - 1), (
        "the least that holds so often"
    )


def test_the_law_of_wide_noise_would_hold_too_rarely(session: Session) -> None:
    session.epsilon = Fraction(4)
    (core,) = session.plan("SELECT COUNT(DISTINCT v) + COUNT(DISTINCT w) AS n FROM people").cores
    noise = core.noises[0]
    assert isinstance(noise, Laplace)
    assert (
        inside(
            noise, (1, 1), core.law(0.95).together(noise.half_width(0.95), noise.half_width(0.95))
        )
        < 0.93
    )
