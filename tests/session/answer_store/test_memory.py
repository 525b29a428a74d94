"""What a database remembers: the same answers at once, and never another's,
an older price's or older data's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest
from databases import clinic

from dpsql.session.database import TOOLS, Database, open_database
from dpsql.session.plan_cache import LRUCache

BY_SEX = "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex ORDER BY sex"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(clinic(tmp_path, parquet=True))
    yield opened
    opened.close()


def test_a_result_that_is_asked_again_needs_no_sandbox(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = database.session("ada").execute(BY_SEX)
    monkeypatch.setattr(
        "dpsql.postprocessing.sandbox.Sandbox.execute",
        lambda *_: pytest.fail("the sandbox was used"),
    )
    again = database.session("bob").execute(BY_SEX)
    assert (again.rows, again.intervals, again.price.stored) == (first.rows, first.intervals, True)


def test_a_result_belongs_to_who_got_it(database: Database) -> None:
    session = database.session("ada")
    first = session.execute(BY_SEX)
    expected = list(first.rows)
    first.rows.clear()
    second = session.execute(BY_SEX)
    second.rows.append(("x", 1))
    assert session.execute(BY_SEX).rows == expected


def test_data_that_changed_are_read_again(database: Database, tmp_path: Path) -> None:
    session = database.session("ada")
    session.execute(BY_SEX)
    os.utime(tmp_path / "clinic" / "patients.parquet")
    assert not session.execute(BY_SEX).price.stored


def test_public_rows_that_changed_are_read_again(database: Database, tmp_path: Path) -> None:
    session, file = database.session("ada"), tmp_path / "clinic" / "places.parquet"
    assert session.execute("SELECT region FROM places ORDER BY 1").rows == [("north",), ("south",)]
    duckdb.connect().execute(
        f"COPY (SELECT 'ward' AS place, 'east' AS region) TO '{file}.new' (FORMAT parquet)"
    )
    Path(f"{file}.new").replace(file)
    assert session.execute("SELECT region FROM places ORDER BY 1").rows == [("east",)]
    session.execute("SET dpsql.empty_groups = show")
    assert (
        session.execute(
            "SELECT region, COUNT(*) FROM visits JOIN places USING (place) GROUP BY region"
        ).rows[0][0]
        == "east"
    )


def test_plans_differ_where_values_prices_and_manners_do(database: Database) -> None:
    session = database.session("ada")
    text = "SELECT COUNT(*) + 1, COUNT(*) FROM patients WHERE weight > ?"
    plans = [session.plan(text, (value,)) for value in (1, 1.0, Decimal("1"), Decimal("1.0"), 2)]
    session.epsilon = Fraction(1, 7)
    plans.append(session.plan(text, (1,)))
    session = database.session("ada", TOOLS)
    session.epsilon = Fraction(1, 7)
    plans.append(session.plan(text, (1,)))
    assert len({id(plan) for plan in plans}) == len(plans)
    assert plans[-1] is session.plan(text, (1,))


def test_what_was_used_longest_ago_is_forgotten() -> None:
    recent = LRUCache[str, int](100, lambda size: size)
    for name in "abcdefghij":
        recent.keep(name, 10)
    assert recent.find("a") == 10
    recent.keep("k", 9)
    recent.keep("l", 2)
    assert recent.find("b") is None and recent.find("a") == 10
    recent.keep("large", 11)
    assert recent.find("large") is None and recent.find("k") == 9
