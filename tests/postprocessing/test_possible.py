"""What is shown lies where public facts let it be; sums over groups do not read what is shown."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from built_worlds import world
from databases import without_noise
from hand_world import hand_world, tame_world
from statements import Writer
from world_session import session_on

from dpsql.errors import DatabaseError
from dpsql.postprocessing import answer
from dpsql.postprocessing.possible_values import ranges
from dpsql.session import Session
from dpsql.sql.ir.interval import EVERYTHING

#: Expressions over visits, and where each lies whatever the data hold.
SHOWN = {
    "COUNT(*)": (0, None),
    "COUNT(price)": (0, None),
    "COUNT(DISTINCT pid)": (0, None),
    "COUNT(DISTINCT small)": (0, 6),
    "COUNT(DISTINCT price > 1)": (0, 2),
    "COUNT(DISTINCT word)": (0, None),
    "SUM(price)": (0, None),
    "SUM(-small)": (None, 0),
    "SUM(ABS(signed))": (0, None),
    "SUM(small - 5)": (None, 0),
    "SUM(CASE WHEN small > 1 THEN 1 ELSE 0 END)": (0, None),
    "AVG(price)": (0, 500),
    "AVG(signed)": (-5, 3),
    "AVG(CASE WHEN small > 1 THEN 1.0 ELSE 0 END)": (0, 1),
    "VAR_POP(signed)": (0, 16),
    "VAR_SAMP(small)": (0, 12.5),
    "STDDEV_POP(price)": (0, 250),
    "CORR(price, small)": (-1, 1),
    "REGR_R2(price, small)": (0, 1),
    "REGR_SXX(price, small)": (0, None),
    "REGR_COUNT(price, small)": (0, None),
    "COUNT(*) FILTER (WHERE small > 1) * 100.0 / COUNT(*)": (0, 100),
    "COUNT(*) FILTER (WHERE small > 1) / NULLIF(COUNT(*), 0)": (0, 1),
    "COALESCE(ROUND(COUNT(price) / COUNT(*), 3), 0)": (0, 1),
    "CASE WHEN COUNT(*) > 0 THEN SUM(price) FILTER (WHERE small > 1) / SUM(price) ELSE 0 END": (
        0,
        1,
    ),
    "SUM(CASE WHEN small > 1 THEN 1 ELSE 0 END) / COUNT(*)": (0, 1),
    "COUNT(*) - COUNT(price)": (0, None),
    "-COUNT(*)": (None, 0),
    "COUNT(*) * 2 + 1": (1, None),
    "CAST(COUNT(*) AS DOUBLE)": (0, None),
}
#: Of which public facts say nothing.
OPEN = (
    "COUNT(*) - COUNT(*) FILTER (WHERE small > 1) * 2",
    "SUM(signed)",
    "SUM(price - 5)",
    "COUNT(*) / SUM(signed)",
    "COUNT(*) FILTER (WHERE small > 1) - COUNT(*) FILTER (WHERE small < 1)",
)


class Seeded:
    """Reproducible bytes: SHAKE-256 of a seed and a counter."""

    def __init__(self, seed: int) -> None:
        self._seed, self._calls = seed, 0

    def read(self, n: int) -> bytes:
        self._calls += 1
        return hashlib.shake_256(f"{self._seed}/{self._calls}".encode()).digest(n)


@pytest.fixture(params=["L1", "L2"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Session]:
    """A session whose noise comes from a seed."""
    with session_on(hand_world("all", request.param), tmp_path / "ledger") as (opened, _):
        opened._execution.entropy = Seeded(14)
        opened.set("dpsql.empty_groups", "show")
        yield opened


def _priced(session: Session, number: int) -> Session:
    """A tiny price of its own for each release, so that none is given again."""
    session.epsilon = Fraction(1, 100) + Fraction(number, 10**7)
    return session


def _items(texts: Iterable[str]) -> str:
    return ", ".join(f"{text} AS c{place}" for place, text in enumerate(texts))


def test_what_is_shown_is_possible(session: Session) -> None:
    seen: dict[str, set[object]] = {text: set() for text in SHOWN}
    for number in range(8):
        _priced(session, number)
        if number >= 6:  # at a tiny price averages are NULL
            session.epsilon = Fraction(20 + number)
        result = session.execute(f"SELECT small, {_items(SHOWN)} FROM visits GROUP BY small")
        for row, intervals in zip(result.rows, result.intervals, strict=True):
            for text, value, ends in zip(SHOWN, row[1:], intervals[1:], strict=True):
                low, high = SHOWN[text]
                least, most = -math.inf if low is None else low, math.inf if high is None else high
                value = None if value != value else value  # of 0 / 0
                assert value is None or least <= value <= most, text  # type: ignore[operator]
                assert ends is None or least <= ends[0] <= ends[1] <= most, text  # type: ignore[operator]
                assert ends is None or value is None or ends[0] <= float(value) <= ends[1], text  # type: ignore[arg-type,operator]
                seen[text].add(value)
    unseen = [text for text, values in seen.items() if len(values) == 1 and values != {None}]
    assert unseen == [], "noise is seen as far as it is possible"


def test_what_may_be_of_either_sign_is_shown_as_it_is(session: Session) -> None:
    text = f"SELECT {_items(OPEN)} FROM visits"
    assert set(ranges(session.plan(text))) == {EVERYTHING}
    rows = [_priced(session, number).execute(text).rows[0] for number in range(24)]
    assert all(min(values) < 0 < max(values) for values in zip(*rows, strict=True))  # type: ignore[type-var]


def _alike(row: tuple[object, ...], shown: tuple[object, ...], rounded: float) -> bool:
    """Whether nothing is moved by more than values are rounded before they are added up: the
    average of a constant is moved to the constant. A deviation of subnormal numbers is as far off
    as their squares are rounded."""
    pairs = [(a, b) for a, b in zip(row, shown, strict=True) if repr(a) != repr(b)]
    return all(
        isinstance(a, float) and isinstance(b, float) and abs(a - b) < max(1e-280, rounded)
        for a, b in pairs
    )


def test_what_is_possible_holds_every_answer_without_noise(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On data that keep what their owner declares nothing is moved."""
    without_noise(monkeypatch)
    moved, compared, show = [], 0, answer.shown_within

    def watched(plan, rows, intervals):  # type: ignore[no-untyped-def]
        nonlocal compared
        found = show(plan, rows, intervals)
        compared += sum(len(rows) for each in ranges(plan) if each != EVERYTHING)
        rounded = max(
            (float(step) for core in plan.cores for step in core.steps if step < 1), default=0.0
        )
        moved.extend(
            (plan.text, a, b)
            for a, b in zip(rows, found[0], strict=True)
            if not _alike(a, b, rounded)
        )
        return found

    monkeypatch.setattr(answer, "shown_within", watched)
    for seed in range(5):
        here = world(seed, tame=True)
        with session_on(here, tmp_path / f"{seed}.ledger") as (opened, _):
            opened.set("dpsql.empty_groups", "show")
            for number in range(64):
                text = Writer(here, Random(f"{seed}/{number}")).statement()
                try:
                    opened.execute(text)
                except DatabaseError:
                    continue
    with session_on(tame_world(), tmp_path / "tame.ledger") as (opened, _):
        opened.execute(f"SELECT small, {_items(SHOWN)} FROM visits GROUP BY small")
    assert not moved and compared > 300, (moved[:3], compared)


def test_sums_over_groups_do_not_read_what_is_shown(session: Session) -> None:
    """No visit costs more than 600: over its 7 groups the noise has the mean 0,
    and what is shown of it has not.
    """
    inner = (
        "SELECT small, COUNT(*) AS n FROM visits WHERE price > 600 AND price < 700 GROUP BY small"
    )
    sums, shown = [], []
    for number in range(60):
        priced = _priced(session, number)
        ((total,),) = priced.execute(f"SELECT SUM(n) AS total FROM ({inner}) t").rows
        sums.append(float(total))
        shown.append(sum(row[1] for row in priced.execute(inner).rows))
    deviation = math.sqrt(sum(each**2 for each in sums) / len(sums))
    limit = 6.2 * deviation / math.sqrt(len(sums))  # passed with a probability below 1e-9
    assert abs(sum(sums) / len(sums)) < limit < sum(shown) / len(shown)
    assert min(sums) < 0, "a total is shown as it was added up"


def test_conditions_and_arithmetic_read_what_was_released(session: Session) -> None:
    text = """SELECT n, n < 0 AS below, n + 0.0 - SUM(n) OVER () AS rest, SUM(n) OVER () AS total, x AS again
    FROM (SELECT n, n AS x FROM (SELECT small, COUNT(*) AS n FROM visits GROUP BY small) s ORDER BY n DESC) t"""
    rows = [row for number in range(3) for row in _priced(session, number).execute(text).rows]
    released = [float(rest) + float(total) for _, _, rest, total, _ in rows]
    assert min(released) < -1 and [below for _, below, *_ in rows] == [
        each < -0.5 for each in released
    ]
    shown = [max(0, round(each)) for each in released]
    assert shown == [row[0] for row in rows] == [row[-1] for row in rows]


def test_intervals_of_small_groups_hold(session: Session) -> None:
    """Of 120 intervals of 95 % more than 25 miss with a probability below 1e-9."""
    texts = [
        "COUNT(*)",
        "SUM(price)",
        "COUNT(DISTINCT small)",
        "COUNT(*) FILTER (WHERE small = 5) / COUNT(*)",
    ]
    items, missed = _items(texts), [0] * len(texts)
    with pytest.MonkeyPatch.context() as patch:
        without_noise(patch)
        session.epsilon = Fraction(1)
        truth = session.execute(f"SELECT {items} FROM visits").rows[0]
    for number in range(120):
        found = _priced(session, number).execute(f"SELECT {items} FROM visits").intervals[0]
        for place, (value, ends) in enumerate(zip(truth, found, strict=True)):
            missed[place] += (
                ends is not None and not ends[0] - 1e-9 <= float(value) <= ends[1] + 1e-9
            )  # type: ignore[operator]
    assert max(missed) <= 25, missed
