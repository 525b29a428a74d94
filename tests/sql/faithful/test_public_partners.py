"""Rows that meet several public rows: a unit within its limits counts in full, and claims hold.

The limits are just what units have, so that an answer without noise is another than DuckDB's if a
factor is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random

import duckdb
import pytest
from databases import clinic
from neighbours import faults, plan_of
from public_worlds import public_world
from world_session import WorldEngine, session_on, without_noise

from dpsql.planning.assumptions import joins_said
from dpsql.schema import loads
from dpsql.session import Session, open_session
from dpsql.session.database import open_database
from dpsql.sql.analysis.contribution import held_rows

#: Sources with the columns that stand for keys, numbers, and distinct values there.
SOURCES = {
    "people p CROSS JOIN places q": ("q.region", "q.code", "p.small", "q.level"),
    "places q, people p": ("q.level", "p.grade", "p.small", "q.code"),
    "people p JOIN places q ON p.word = q.code": ("q.region", "p.grade", "p.small", "q.level"),
    "people p LEFT JOIN places q ON p.small < q.level": (
        "p.grade",
        "p.grade",
        "p.small",
        "q.region",
    ),
    "places q LEFT JOIN people p ON p.word = q.code": ("q.region", "q.level", "p.small", "p.small"),
    "people p JOIN places q ON q.region = 'south'": ("q.code", "q.level", "p.small", "p.grade"),
    "people p, places q, places r WHERE q.region = r.region": (
        "q.code",
        "r.level",
        "p.small",
        "r.code",
    ),
    "months m JOIN stays p ON m.month BETWEEN p.came AND p.went": (
        "m.month",
        "m.season",
        "p.price",
        "m.season",
    ),
    "stays p JOIN months m ON m.month > p.came WHERE m.season <> 'b'": (
        "m.season",
        "m.month",
        "p.price",
        "m.month",
    ),
    "stays p JOIN rates r ON p.came >= r.first AND p.came < r.last AND r.currency <> 'eur'": (
        "r.first",
        "r.currency",
        "p.price",
        "r.first",
    ),
    "stays p JOIN months m ON p.came BETWEEN m.month - INTERVAL 40 DAY AND m.month WHERE m.season <> 'd'": (
        "m.month",
        "m.season",
        "p.price",
        "m.season",
    ),
    "people p LEFT JOIN (VALUES (0, 3, 'a'), (3, 5, 'b')) v(a, b, t) ON p.small BETWEEN v.a AND v.b": (
        "p.grade",
        "p.grade",
        "p.small",
        "v.t",
    ),
    "stays p JOIN rates r ON p.came BETWEEN r.first AND r.last": (
        "r.currency",
        "r.first",
        "p.price",
        "r.currency",
    ),
    "people t JOIN stays p ON p.pid = t.id, places q": ("q.code", "t.grade", "p.price", "q.region"),
    "people p CROSS JOIN places q LEFT JOIN stays s ON s.pid = p.id": (
        "q.region",
        "p.grade",
        "s.price",
        "q.code",
    ),
    "people p, (VALUES (1, 'a'), (2, 'a'), (2, 'b')) v(n, t)": ("v.n", "v.t", "p.small", "v.t"),
    "people p JOIN GENERATE_SERIES(0, 5) g(n) ON g.n <= p.small": (
        "g.n",
        "p.grade",
        "p.small",
        "g.n",
    ),
    "people p, UNNEST([2, 3, 3]) u(n) WHERE p.small >= u.n": ("u.n", "p.grade", "p.small", "u.n"),
    "(SELECT p.id, p.small, q.region, q.code FROM people p CROSS JOIN places q) s": (
        "s.region",
        "s.code",
        "s.small",
        "s.code",
    ),
    "(SELECT p.id, q.region, p.small FROM people p, places q UNION ALL SELECT id, word, small FROM people) s": (
        "s.region",
        "s.region",
        "s.small",
        "s.region",
    ),
    "(SELECT p.id, q.region, COUNT(*) AS n, SUM(p.small) AS s FROM people p, places q GROUP BY 1, 2) s": (
        "s.region",
        "s.region",
        "s.n",
        "s.region",
    ),
    "(SELECT p.pid, COUNT(*) AS n FROM stays p JOIN months m ON m.month BETWEEN p.came AND p.went GROUP BY 1) s": (
        "s.n",
        "s.n",
        "s.n",
        "s.n",
    ),
    "people p JOIN (SELECT region, MIN(code) AS code FROM places GROUP BY region) q ON q.code = p.word": (
        "q.region",
        "q.code",
        "p.small",
        "q.region",
    ),
    "people p, (SELECT grade AS g, COUNT(*) AS n FROM people GROUP BY grade) c WHERE p.small < c.n": (
        "c.g",
        "p.grade",
        "p.small",
        "c.g",
    ),
    "(SELECT p.id, q.level, p.small FROM people p, places q UNION ALL SELECT id, small AS t, small FROM people) s": (
        "s.level",
        "s.level",
        "s.small",
        "s.level",
    ),
}
AGGREGATES = (
    "COUNT(*)",
    "SUM({number})",
    "AVG({number})",
    "COUNT(DISTINCT {distinct})",
    "COUNT({distinct})",
)
PROMISES = ("L1 with delta", "L2", "replace")


def statements(seed: int) -> Iterator[str]:
    """A statement over each source: no key, one, two of them, totals, or a condition on the key."""
    random = Random(seed)
    for source, (one, two, number, distinct) in SOURCES.items():
        keys = random.choice([(), (one,), (two,), (one, two), (one, two)])
        chosen = random.sample(AGGREGATES, 2)
        if source.startswith("places q LEFT"):  # rows without a partner are nobody's
            keys, chosen = (one,), [each for each in chosen if each != "COUNT(*)"]
        items = [f"{key} AS k{place}" for place, key in enumerate(keys)]
        items += [each.format(number=number, distinct=distinct) for each in chosen]
        text = f"SELECT {', '.join(items)} FROM {source}"
        by = random.choice(["{}", "{}", "ROLLUP ({})"]) if chosen[0] == "COUNT(*)" else "{}"
        yield text + (f" GROUP BY {by.format(', '.join(keys))}" if keys else "")


Opened = dict[str, tuple[Session, WorldEngine]]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        without_noise(patch)
        ledgers = tmp_path_factory.mktemp("ledgers")
        yield {
            f"{promise} {limits}": stack.enter_context(
                session_on(public_world(promise, limits), ledgers / f"{promise}{limits}.ledger")
            )
            for promise in PROMISES
            for limits in ("rows", "groups")
        }


def _near(ours: object, theirs: object) -> bool:
    if theirs is None:
        return True  # an empty sum is 0 here
    if isinstance(ours, str) or not hasattr(ours, "__float__"):
        return ours == theirs
    return abs(float(ours) - float(theirs)) < 1e-2 + 1e-4 * abs(float(theirs))  # type: ignore[arg-type]


def differences(session: Session, engine: WorldEngine, text: str) -> list[object]:
    """The rows that DuckDB has and the session has not."""
    ours = session.execute(text).rows
    return [
        row
        for row in engine.plain(text)
        if not any(all(map(_near, mine, row)) and len(mine) == len(row) for mine in ours)
    ]


#: The norm of a unit's counts of rows under L1, and its square under L2.
NORMS = {
    "SELECT COUNT(*) FROM people CROSS JOIN places": (5, 25),
    "SELECT code, COUNT(*) FROM people CROSS JOIN places GROUP BY 1": (
        5,
        10,
    ),  # two rows of one code
    "SELECT code, level, COUNT(*) FROM people CROSS JOIN places GROUP BY 1, 2": (5, 5),
    "SELECT month, COUNT(*) FROM months JOIN stays ON month BETWEEN came AND went GROUP BY 1": (
        36,
        108,
    ),
    "SELECT season, COUNT(*) FROM months JOIN stays ON month BETWEEN came AND went GROUP BY 1": (
        36,
        324,
    ),
    "SELECT COUNT(*) FROM people, places WHERE level = 2": (2, 4),
    "SELECT COUNT(*) FROM people JOIN places ON word = code": (2, 4),
    "SELECT COUNT(*) FROM people JOIN places ON word = code AND level = 1": (1, 1),
    "SELECT COUNT(*) FROM stays JOIN months ON came = month": (3, 9),
    "SELECT COUNT(*) FROM stays JOIN rates ON came BETWEEN first AND last": (
        6,
        36,
    ),  # of two currencies
    "SELECT COUNT(*) FROM stays JOIN rates ON first <= came AND last > came WHERE currency = 'eur'": (
        3,
        9,
    ),
    "SELECT currency, COUNT(*) FROM stays JOIN rates ON came >= first AND came <= last GROUP BY 1": (
        6,
        18,
    ),
    "SELECT COUNT(*) FROM stays JOIN rates ON came >= first AND went <= last": (
        72,
        5184,
    ),  # of two values
    "SELECT COUNT(*) FROM stays JOIN months ON came BETWEEN month - INTERVAL 40 DAY AND month": (
        6,
        36,
    ),
    "SELECT COUNT(*) FROM stays CROSS JOIN months WHERE month >= '2020-10-01' AND season <> 'b'": (
        9,
        81,
    ),
    "SELECT COUNT(*) FROM people JOIN (VALUES (1, 3), (3, 5)) v(a, b) ON small BETWEEN a AND b": (
        2,
        4,
    ),
    "SELECT COUNT(*) FROM people JOIN (VALUES (1, 3), (3, 5)) v(a, b) ON small >= a AND small < b": (
        1,
        1,
    ),
    "SELECT COUNT(*) FROM people JOIN (VALUES (1, 3), (3, 5)) v(a, b) ON small > a AND small <= b": (
        1,
        1,
    ),
    "SELECT COUNT(*) FROM people JOIN (VALUES (1, 3), (2, 5)) v(a, b) ON small > a AND small < b": (
        2,
        4,
    ),
    "SELECT COUNT(*) FROM people LEFT JOIN (VALUES (1, 3), (3, 5)) v(a, b) ON small > a AND small < b": (
        1,
        1,
    ),
    "SELECT COUNT(*) FROM people JOIN (VALUES (1, 2), (3, 4)) v(a, b) ON small + a BETWEEN a AND b": (
        2,
        4,
    ),
    "SELECT COUNT(*) FROM people JOIN (VALUES (1), (2), (3)) v(n) ON n > small WHERE n <> 2": (
        2,
        4,
    ),
    "SELECT COUNT(*) FROM people, months WHERE REGEXP_MATCHES(season, 'a')": (
        12,
        144,
    ),  # patterns narrow nothing
    "SELECT COUNT(*) FROM people, (SELECT code, MIN(level) FROM places GROUP BY 1) q WHERE q.code = 'x'": (
        2,
        4,
    ),
    "SELECT COUNT(*) FROM people, (SELECT level, MIN(code) FROM places GROUP BY 1) q WHERE 3 = q.level": (
        2,
        4,
    ),
    "SELECT COUNT(DISTINCT level) FROM (SELECT p.id, q.level FROM people p, places q UNION ALL "
    "SELECT id, small FROM people) s": (6, 36),  # five of places, and one more
    "SELECT COUNT(*) FROM people WHERE EXISTS (SELECT 1 FROM places WHERE level > small)": (1, 1),
    "SELECT COUNT(*) FROM people WHERE word IN (SELECT code FROM places)": (1, 1),
}


@pytest.mark.parametrize("text", NORMS)
@pytest.mark.parametrize("promise", ["L1", "L2"])
def test_the_norm_is_that_of_the_rows_a_unit_may_have(promise: str, text: str) -> None:
    (core,) = plan_of(public_world(promise), text).cores
    bounded = core.cells[0].contribution
    assert bounded.limit == NORMS[text][promise == "L2"] * bounded.fine ** (1 + (promise == "L2"))


@pytest.mark.parametrize("promise", ["L1", "L2"])
def test_units_above_the_limit_of_a_join_have_more_rows_than_their_tables_allow(
    promise: str,
) -> None:
    (core,) = plan_of(
        public_world(promise), "SELECT code, COUNT(*) FROM stays, places GROUP BY 1"
    ).cores
    assert held_rows(core.core, core.norm) == 3 * 5


#: How many rows of which table a row meets, and how many rows of the join a unit has,
#: as EXPLAIN #: says it.
SAID = {
    "SELECT COUNT(*) FROM people CROSS JOIN places": ("5 rows of places", 5),
    "SELECT COUNT(*) FROM stays, places, (VALUES (1), (2)) v(n)": (
        "5 rows of places and 2 rows of VALUES",
        30,
    ),
    "SELECT AVG(n) FROM (SELECT pid, COUNT(*) AS n FROM stays, months GROUP BY 1)": (
        "12 rows of months",
        36,
    ),
    "SELECT COUNT(*) FROM people, (SELECT grade, COUNT(*) FROM people GROUP BY 1) g": (
        "3 rows of a subquery",
        3,
    ),
    "SELECT COUNT(*) FROM stays JOIN months ON came = month": None,
}


@pytest.mark.parametrize("text", SAID)
def test_explain_names_the_public_rows_that_a_row_meets(text: str) -> None:
    said = joins_said(plan_of(public_world("L2"), text))
    if SAID[text] is None:
        assert said == ()
    else:
        met, rows = SAID[text]
        counts = f"a unit counts with up to {rows} rows of the join"
        assert said == (f"join: each row meets up to {met}, and counts as often; {counts}",)


@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize("seed", range(3))
def test_units_within_their_limits_count_in_full(promise: str, seed: int, opened: Opened) -> None:
    session, engine = opened[f"{promise} rows"]
    different = {text: differences(session, engine, text) for text in statements(seed)}
    assert {text: rows for text, rows in different.items() if rows} == {}


@pytest.mark.parametrize("promise", PROMISES)
def test_so_they_do_where_groups_and_rows_in_each_are_limited(promise: str, opened: Opened) -> None:
    session, engine = opened[f"{promise} groups"]
    asked = [
        "SELECT COUNT(*) FROM months m JOIN stays p ON m.month BETWEEN p.came AND p.went",
        "SELECT month, COUNT(*), SUM(price) FROM months JOIN stays ON month BETWEEN came AND went GROUP BY 1",
        "SELECT q.code, COUNT(*), AVG(price) FROM stays CROSS JOIN places q GROUP BY 1",
    ]
    for text in asked:
        assert differences(session, engine, text) == [], text


@pytest.mark.parametrize("promise", PROMISES)
def test_the_claims_hold(promise: str) -> None:
    assert faults(public_world(promise), list(statements(10))) == []


#: Statements whose limits follow from something that the sources above do not have.
SINGLE = {
    "a LEFT JOIN may add a group": "SELECT v.t, COUNT(DISTINCT s.pid) FROM stays s LEFT JOIN (VALUES (1, 'a'), "
    "(1, 'b')) v(n, t) ON v.n = 1 AND s.came > '2020-05-01' GROUP BY v.t",
    "a value of joined rows": "SELECT SUM((SELECT COUNT(*) FROM stays s JOIN months m ON m.month BETWEEN s.came "
    "AND s.went WHERE s.pid = p.id)) FROM people p",
    "equated with a later table": "SELECT COUNT(*) FROM people p, places q, places r WHERE q.level = r.level",
    "totals in a derived table": "SELECT COUNT(*) FROM people p JOIN (SELECT code, level, COUNT(*) AS n FROM places "
    "GROUP BY ROLLUP (code, level)) q ON q.code = p.word",
}


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize("promise", PROMISES)
def test_what_single_statements_ask_is_counted_in_full(
    promise: str, name: str, opened: Opened
) -> None:
    session, engine = opened[f"{promise} rows"]
    assert differences(session, engine, SINGLE[name]) == []


@pytest.mark.parametrize("condition", ["", " WHERE region <> ''"])
def test_public_rows_that_are_replaced_are_counted_again(
    condition: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_noise(monkeypatch)
    opened, file = (
        open_database(clinic(tmp_path, parquet=True)),
        tmp_path / "clinic" / "places.parquet",
    )
    text = f"SELECT COUNT(*) FROM patients CROSS JOIN places{condition}"
    try:
        session = opened.session("ada")
        ((before,),) = session.execute(text).rows
        duckdb.connect().execute(f"COPY (FROM '{file}', range(3)) TO '{file}.new' (FORMAT parquet)")
        Path(f"{file}.new").replace(file)
        ((after,),) = session.execute(text).rows
    finally:
        opened.close()
    assert after == 3 * before > 0


def test_ends_that_a_double_cannot_tell_apart_are_met_together(tmp_path: Path) -> None:
    """2^53 and 2^53 + 1 are one number for a value of type DOUBLE: it lies in both ranges."""
    rows = (
        "CREATE TABLE units AS SELECT i AS id, 9007199254740992::DOUBLE AS x FROM range(50) t(i); "
        "CREATE TABLE ranges AS SELECT 9007199254740992 + i AS low, 9007199254740992 + i AS high FROM range(2) t(i)"
    )
    schema = f"""
name = "ends"
source = "{(tmp_path / "ends.duckdb").as_posix()}"
[privacy]
unit = "units.id"
epsilon = 1e9
delta = 0
query_epsilon = 1e4
[tables.units]
max_rows_per_unit = 1
[tables.units.columns]
id = {{ type = "integer" }}
x = {{ type = "double", bounds = [0, 1e16] }}
[tables.ranges]
public = true
[tables.ranges.columns]
low = {{ type = "integer" }}
high = {{ type = "integer" }}
"""
    with duckdb.connect(tmp_path / "ends.duckdb") as connection:
        connection.execute(rows)
        text = "SELECT COUNT(*) FROM units JOIN ranges ON x BETWEEN low AND high"
        expected = connection.execute(text).fetchall()
    session = open_session(loads(schema), ledger=tmp_path / "ledger")
    assert session.execute(text).rows == expected == [(100,)]
    session.close()
