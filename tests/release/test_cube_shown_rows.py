"""Rows of grouping sets that are shown because their noise was high have intervals that allow for
that.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

from dpsql.session import Session, open_session

KINDS = [f"k{number:03}" for number in range(300)]
SCHEMA = f"""
name = "shop"
source = "data"
ledger = "shop.ledger"
[privacy]
unit = "sales.id"
epsilon = 1e10
delta = {{delta}}
query_epsilon = 0.25
[tables.sales]
key = "id"
max_rows_per_unit = 1
[tables.sales.columns]
id = {{{{ type = "integer" }}}}
kind = {{{{ type = "text", values = {KINDS} }}}}
size = {{{{ type = "integer", bounds = [0, 100] }}}}
"""
#: 240 kinds of 6 to 17 rows, which noise seldom shows, and 60 of 60 rows.
ROWS = """SELECT row_number() OVER () AS id, printf('k%03d', k) AS kind, (i * 7) % 100 AS size
    FROM range(300) AS t(k), range(60) AS u(i) WHERE i < CASE WHEN k < 240 THEN 6 + k % 12 ELSE 60 END"""
ROLLUP = """SELECT kind, COUNT(*) AS n, SUM(size) AS s, 2 * COUNT(*) AS twice, AVG(size) AS a
    FROM sales GROUP BY ROLLUP (kind)"""
#: Prices at which noise chooses a few of the kinds with few rows.
PRICES = {"0": Fraction(9, 10), "1e-6": Fraction(1, 4)}


@pytest.fixture(scope="module", params=PRICES, ids=["Laplace", "Gaussian"])
def session(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Session]:
    home: Path = tmp_path_factory.mktemp("shop")
    (home / "data").mkdir()
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({ROWS}) TO '{home}/data/sales.parquet'")
    (home / "shop.toml").write_text(SCHEMA.format(delta=request.param), encoding="utf-8")
    with closing(open_session(home / "shop.toml")) as opened:
        opened.set("dpsql.reuse", "off")
        opened.set("dpsql.empty_groups", "hide")
        opened.epsilon = PRICES[request.param]
        yield opened


def test_the_interval_of_a_row_that_its_noise_has_shown_holds_its_count(session: Session) -> None:
    """A row with so few that noise alone shows it is in its interval,
    and would seldom be in an ordinary one.
    """
    (finest,) = [core for core in session.plan(ROLLUP).cores if core.core.keys]
    assert finest.presence is not None
    least = float(finest.presence.threshold(300) * finest.steps[finest.presence.cell])
    chosen, price = 0, session.epsilon
    for number in range(4):
        session.epsilon = price * (1 + Fraction(number, 10**6))  # another price is another release
        result = session.execute(ROLLUP)
        for row, bars in zip(result.rows, result.intervals, strict=True):
            true = 6 + int(row[0][1:]) % 12 if row[0] is not None else least
            if row[0] is None or row[0] >= "k240" or true > 0.6 * least or row[1] > 1.15 * least:
                continue
            chosen += 1
            (low, high), twice, mean = bars[1], bars[3], bars[4]
            assert low == 0 and true <= high and twice[0] == 0, (least, row, bars)
            assert mean[0] <= row[4] <= mean[1]
    session.epsilon = price
    assert chosen, "noise chooses some"


def test_rows_that_are_there_for_certain_have_their_ordinary_interval(session: Session) -> None:
    session.epsilon, price = Fraction(8), session.epsilon
    result = session.execute(ROLLUP)
    session.epsilon = price
    certain = [
        bars[1]
        for row, bars in zip(result.rows, result.intervals, strict=True)
        if row[0] and row[0] >= "k240"
    ]
    assert len(certain) == 60 and all(low > 10 for low, _ in certain)
    assert len({round(high - low, 6) for low, high in certain}) == 1
