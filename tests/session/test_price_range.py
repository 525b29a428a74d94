"""Prices from a millionth to a billion, for every kind of statement, noise and accountant:
nothing fails when paid.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from databases import clinic

from dpsql.errors import DatabaseError
from dpsql.planning.estimators.least_squares import (
    LEAST_SHARE,
    MeasuredLevel,
    comparable,
    consistent,
    spreads,
)
from dpsql.session import Session, open_session

AGGREGATES = (
    "COUNT(*)",
    "COUNT(weight)",
    "SUM(weight)",
    "AVG(weight)",
    "SUM(ward)",
    "AVG(ward)",
    "COUNT(DISTINCT patient)",
    "COUNT(DISTINCT name)",
    "COUNT(DISTINCT sex)",
    "MIN(weight)",
    "MAX(ward)",
    "MEDIAN(weight)",
    "HISTOGRAM(sex)",
    "QUANTILE_DISC(weight, [0.1, 0.5, 0.9])",
    "QUANTILE_CONT(weight, 0.01)",
    "MODE(sex)",
    "APPROX_TOP_K(sex, 1)",
    "STDDEV(weight)",
    "VAR_POP(ward)",
    "CORR(weight, ward)",
    "REGR_SLOPE(weight, ward)",
    "COUNT_IF(ward > 1)",
    "BOOL_OR(ward > 1)",
    "BOOL_AND(ward > 1)",
    "SUM(weight * ward)",
    "SUM(weight) / SUM(ward)",
    "1 / COUNT(*)",
    "COUNT(*) FILTER (WHERE ward = 2)",
    "MAX(DATE '2020-01-01' + ward)",
    "LN(COUNT(*))",
    "ROUND(AVG(weight), 2)",
)
KEYS = (
    "",
    "sex",
    "name",
    "sex, ward",
    "ROLLUP (sex, ward)",
    "CUBE (sex, ward)",
    "ROLLUP (name, sex)",
    "GROUPING SETS ((sex), (ward), ())",
)
OTHERS = (
    "SELECT region, SUM(cost), AVG(cost), COUNT(*) FROM visits JOIN places USING (place) GROUP BY ROLLUP (region)",
    "SELECT AVG(x), MAX(x), SUM(x) FROM (SELECT patient, SUM(cost) AS x FROM visits GROUP BY patient) AS s",
    "SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)",
    "SELECT MAX(n), AVG(n), COUNT(*) FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) AS t",
    "SELECT sex, n, SUM(n) OVER (ORDER BY sex) FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) AS t",
    "SELECT note, COUNT(DISTINCT v.patient), MEDIAN(cost) FROM visits AS v GROUP BY note",
)
#: δ, accountant, whether limits and bounds are wide, and neighbours.
BUDGETS = (
    ("1e-6", "hybrid", False, "add-remove"),
    ("0", "basic", True, "add-remove"),
    ("1e-6", "rdp", True, "replace"),
    ("1e-6", "zcdp", False, "replace"),
    ("0", "hybrid", False, "add-remove"),
)
WIDE = {
    "max_rows_per_unit = 3": "max_rows_per_unit = 100000\nmax_groups_per_unit = 5",
    "[-10, 16]": "[-1e9, 1e12]",
    "[0, 500]": "[0, 9999999999.99]",
    "[0, 4]": "[-1000000, 1000000]",
}


@pytest.fixture(scope="module", params=BUDGETS, ids=lambda each: "-".join(map(str, each)))
def session(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Session]:
    opened = open_session(schema_of(tmp_path_factory.mktemp("clinic"), *request.param))
    yield opened
    opened.close()


def schema_of(folder: Path, delta: str, accountant: str, wide: bool, neighbours: str) -> Path:
    """A clinic with next to no end of budget, so that the price alone decides."""
    file = clinic(folder, epsilon="1e12", delta=delta)
    text = file.read_text().replace(
        "[privacy]", f'[privacy]\naccountant = "{accountant}"\nneighbours = "{neighbours}"'
    )
    for old, new in WIDE.items() if wide else ():
        text = text.replace(old, new)
    file.write_text(text)
    return file


def statement(chance: random.Random) -> str:
    if chance.random() < 0.3:
        return chance.choice(OTHERS)
    asked = ", ".join(
        f"{each} AS a{place}" for place, each in enumerate(chance.sample(AGGREGATES, 3))
    )
    keys = chance.choice(KEYS)
    return f"SELECT {asked} FROM patients" + (f" GROUP BY {keys}" if keys else "")


def test_no_price_makes_a_statement_fail_after_its_charge(session: Session) -> None:
    chance, answers = random.Random(repr(session.schema.privacy)), 0
    gaussian = bool(session.schema.privacy.delta) and not session.schema.privacy.adds_pure
    session.set("dpsql.most_epsilon", "1000000000000")
    for _ in range(60):
        price = float(f"{10 ** chance.uniform(-6, 9):.3g}")
        session.set(
            "dpsql.mechanism", chance.choice(["laplace", "gaussian"] if gaussian else ["laplace"])
        )
        session.set("dpsql.clipping", chance.choice(["silent", "report"]))
        text, before = statement(chance), session.remaining.spent
        try:
            session.epsilon = price
            result = session.execute(text)
            assert len(result.intervals) == len(result.rows)
            answers += 1
        except DatabaseError as error:
            assert session.remaining.spent == before, f"{text} at {price}: {error}"
    assert answers > 3


@pytest.mark.parametrize("price", ["1000", "30000", "1000000", "30000000", "1000000000"])
def test_a_rollup_of_which_some_levels_have_next_to_no_noise_is_answered(
    tmp_path: Path, price: str
) -> None:
    """Levels whose noise is all but 0 stand beside others: their variances differ by 10^98,
    and are put together.
    """
    session = open_session(schema_of(tmp_path, "0", "hybrid", False, "add-remove"))
    session.set("dpsql.most_epsilon", "1000000000000")
    session.set("dpsql.epsilon", price)
    result = session.execute(
        "SELECT sex, ward, COUNT(*), SUM(cost), AVG(weight), COUNT(DISTINCT note) FROM visits JOIN patients USING "
        "(patient) GROUP BY ROLLUP (sex, ward)"
    )
    assert result.rows and len(result.intervals) == len(result.rows)
    session.close()


@pytest.mark.parametrize("finest", [1e-100, 1e-60, 1e-9, 1.0, 1e9, 1e30])
@pytest.mark.parametrize("coarser", [1e-100, 1e-60, 1e-9, 1.0, 1e9, 1e30])
def test_levels_of_any_two_variances_are_put_together(finest: float, coarser: float) -> None:
    """The numbers stay near what was measured,
    and the spread that is told is no smaller than the true one.
    """
    group, parts = np.array([0, 0, 1, 1]), np.array([3.0, 5.0, 7.0, 2.0]) * 1e6
    levels = [
        MeasuredLevel(group, np.array([8e6, 9e6]), coarser),
        MeasuredLevel(group * 0, np.array([17e6 + 1]), coarser),
    ]
    found = consistent(parts, finest, levels)
    assert np.isfinite(found).all() and abs(found - parts).max() <= 1.001
    spread = spreads(4, finest, levels)([0, 1])
    assert 0 < spread.variance < np.inf and 0 < spread.single <= 1
    used, _ = comparable(finest, levels)
    units = [
        consistent(
            np.eye(4)[place],
            finest,
            [MeasuredLevel(each.group, each.numbers * 0, each.variance) for each in levels],
        )
        for place in range(4)
    ]
    own = sum(float(unit[:2].sum()) ** 2 for unit in units) * finest
    assert own <= spread.variance * 1.001 and used >= finest
    assert used == max(finest, LEAST_SHARE * coarser)


def test_hundreds_of_aggregates_share_one_price(tmp_path: Path) -> None:
    """The length of a statement and of its SQL bounds how many there are;
    each is as exact as its part of the price.
    """
    text = (
        "SELECT "
        + ", ".join(f"COUNT(weight + {number})" for number in range(200))
        + " FROM patients"
    )
    with closing(open_session(clinic(tmp_path))) as session:
        one, many = session.plan("SELECT COUNT(weight) FROM patients"), session.plan(text)
        assert many.cost == one.cost
        halves = [float(plan.cores[0].half_widths(0.95)[0]) for plan in (one, many)]
        assert 12 < halves[1] / halves[0] < 260
        result = session.execute(text)
        assert len(result.rows[0]) == 200 and all(
            interval is not None for interval in result.intervals[0]
        )
