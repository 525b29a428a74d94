"""Derived key domains: every key of data that keep their declarations,
none of data that break them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal

import duckdb
import pytest

from dpsql.planning.budget_split import plan_cores
from dpsql.planning.plan import CorePlan
from dpsql.schema import Schema
from dpsql.schema.load import validated
from dpsql.sql.binder.bind import bind
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.emit.measurement.key_domain import domain_select
from dpsql.sql.parser.parse import parse

_COLUMNS = {
    "id": {"type": "integer", "bounds": [0, 900]},
    "day": {"type": "date", "bounds": [date(1995, 1, 5), date(1998, 8, 2)]},
    "soon": {"type": "date", "bounds": [date(2020, 1, 30), date(2020, 3, 2)], "nullable": True},
    "born": {"type": "date"},
    "seen": {"type": "timestamp", "bounds": [datetime(2020, 1, 1, 3), datetime(2020, 12, 31, 12)]},
    "age": {"type": "integer", "bounds": [0, 70]},
    "level": {"type": "integer", "bounds": [-5, 5], "nullable": True},
    "far": {"type": "integer", "bounds": [-7000, 7000]},
    "bmi": {"type": "decimal(5,2)", "bounds": [10, 80]},
    "price": {"type": "double", "bounds": [-4, 300], "nullable": False},
    "discount": {"type": "decimal(15,2)", "bounds": [0, Decimal("0.1")]},
    "grade": {"type": "text", "values": ["ab", "ac", "bc"]},
    "mark": {"type": "text", "values": ["ab", "ac", "bc"], "nullable": True},
    "word": {"type": "text"},
    "flag": {"type": "boolean", "nullable": True},
}
#: A day that is counted from another.
_AFAR = "DATE '2000-01-01' + far * INTERVAL 1 DAY"
_DATA = """
CREATE TABLE source.main.people AS SELECT
    n AS id, DATE '1995-01-05' + (n % 1306)::INTEGER AS "day",
    CASE WHEN n % 34 < 33 THEN DATE '2020-01-30' + (n % 34)::INTEGER END AS soon,
    DATE '1900-01-01' + n::INTEGER AS born, TIMESTAMP '2020-01-01 03:00:00' + INTERVAL 1 MINUTE * (n * 38) AS seen,
    (n % 71)::INTEGER AS age, CASE WHEN n % 12 < 11 THEN n % 12 - 5 END AS "level", n - 7000 AS far,
    (10 + (n % 7001) / 100.0)::DECIMAL(5,2) AS bmi,
    ((n * 7) % 30401) / 100.0::DOUBLE - 4 AS price, ((n // 3) % 11 / 100.0)::DECIMAL(15,2) AS discount,
    ['ab', 'ac', 'bc'][(n // 5) % 3 + 1] AS grade, ['ab', 'ac', 'bc'][(n // 7) % 4 + 1] AS mark,
    ['a', 'b', 'c'][(n // 11) % 3 + 1] AS word, [true, false, NULL][(n // 2) % 3 + 1] AS flag
FROM range(14001) AS t(n);
UPDATE source.main.people SET price = 300 WHERE id = 1;
UPDATE source.main.people SET seen = TIMESTAMP '2020-12-31 11:59:59' WHERE seen > TIMESTAMP '2020-12-31 12:00:00';
"""
_WILD = """
INSERT INTO source.main.people VALUES
    (-1, DATE '2030-01-01', DATE 'infinity', DATE '2030-01-01', TIMESTAMP 'infinity', -7, 99, 99999, 999.99, 'nan',
     12.34, 'CANARY', 'CANARY', 'CANARY', NULL),
    (-2, NULL, DATE '4714-01-01 (BC)', NULL, TIMESTAMP '1999-01-01', NULL, -99, NULL, NULL, 'inf', NULL, NULL, 'Ä',
     'CANARY', NULL),
    (-3, DATE '-infinity', NULL, NULL, NULL, 71, NULL, -7001, 9.99, '-inf', -0.01, 'AB', NULL, NULL, NULL);
"""
#: Exactly the keys of all data that keep the declarations.
EXACT = [
    "EXTRACT(YEAR FROM day)",
    "YEAR(day), MONTH(day)",
    "YEAR(seen), QUARTER(seen), MONTH(seen)",
    "DATE_TRUNC('month', day)",
    "DATE_TRUNC('month', seen)",
    "DATE_TRUNC('week', seen)",
    "DATE_TRUNC('day', seen)",
    "CAST(seen AS DATE)",
    "HOUR(seen)",
    "soon",
    "DATE_TRUNC('week', soon)",
    "FLOOR(age / 10) * 10",
    "FLOOR(bmi / 10) * 10",
    "ROUND(bmi, -1)",
    "ROUND(bmi)",
    "ROUND(bmi, 1)",
    "CEIL(bmi / 7)",
    "CAST(bmi AS INTEGER)",
    "discount",
    "TRUNC(price / 100)",
    "FLOOR(price)",
    "ROUND(price)",
    "age // 10",
    "far // 1000",
    "CASE WHEN word = 'a' THEN grade ELSE 'other' END",
    "CASE WHEN age > 50 THEN 'old' WHEN word = 'b' THEN 'b' END",
    "CASE word WHEN 'a' THEN 1 WHEN 'b' THEN 2 ELSE 0 END",
    "COALESCE(mark, 'none')",
    "UPPER(grade)",
    "LEFT(grade, 1)",
    "grade || '-' || mark",
    "word = 'a'",
    "flag",
    "mark",
    "NULLIF(grade, 'ab')",
    f"YEAR({_AFAR})",
    "level, ABS(level)",
    "level % 3",
    "DATE_TRUNC('month', day) + INTERVAL 1 MONTH",
    "CAST(YEAR(day) AS TEXT) || '-' || CAST(QUARTER(day) AS TEXT)",
    "YEAR(day) * 100 + MONTH(day), QUARTER(day)",
    "IF(flag, age // 35, -1)",
    "GREATEST(age, 60)",
    "LENGTH(mark)",
]
#: Every key of such data, and some that only other data would have.
WIDER = [
    "MONTH(born)",
    "EXTRACT(HOUR FROM seen), EXTRACT(DAY FROM seen)",
    "FLOOR(price / (age + 1))",
    "DATE_DIFF('month', soon, seen)",
    "CASE WHEN flag THEN 1 WHEN word = 'a' THEN 2 ELSE 0 END, flag",
]
#: Exactly the keys that fulfil the condition.
NARROWED = [
    ("day >= DATE '1995-02-01' AND day < DATE '1995-04-01'", "day"),
    ("DATE '1996-01-01' <= day", "DATE_TRUNC('month', day)"),
    ("seen >= '2020-03-01' AND seen < '2020-04-01'", "CAST(seen AS DATE)"),
    ("YEAR(seen) = 2020 AND MONTH(seen) = 3", "MONTH(seen), DATE_TRUNC('week', seen)"),
    ("mark <> 'ab'", "mark"),
    ("mark IS NOT NULL", "mark, flag"),
    ("far BETWEEN 1 AND 9", "far"),
    ("far IN (3, 4)", "far"),
    ("born > '1901-01-01' AND born < '1901-01-05'", "born, DAYOFWEEK(born)"),
    ("word = 'a'", "word = 'a', flag"),
    (f"{_AFAR} >= '2001-03-01' AND {_AFAR} < '2003-01-01'", f"DATE_TRUNC('month', {_AFAR})"),
    ("day + INTERVAL 5 HOUR < '1996-01-01'", "YEAR(day + INTERVAL 5 HOUR)"),
    (f"{_AFAR} >= '2001-03-01' AND {_AFAR} < '2001-05-01'", _AFAR),
    (
        "seen >= '2020-03-01' AND seen < '2020-03-03'",
        "DATE_TRUNC('hour', seen) + INTERVAL '5 minutes' * FLOOR(EXTRACT(MINUTE FROM seen) / 60)",
    ),
    ("age < 20 AND bmi > 40 AND bmi < 80", "FLOOR(age / 10), FLOOR(bmi / 20)"),
    ("bmi > 10.01 AND bmi < 10.05", "bmi"),
    ("bmi > 10.015 AND bmi < 10.045", "bmi"),
    ("10 < age AND 13 >= age", "age"),
    ("age > 10.5 AND age < 13", "age, age // 4"),
    ("7 = age", "age * 2"),
    ("level IS NOT NULL AND level <= -3", "level"),
    ("level >= 4", "level, ABS(level)"),
    ("born > '1901-01-01' AND born <= DATE '1901-01-03'", "born"),
    ("born IN (DATE '1901-01-01', DATE '1901-01-04', DATE '1901-01-02')", "born"),
    (
        "seen > '2020-03-01' AND seen <= TIMESTAMP '2020-03-02 23:59:59'",
        "CAST(seen AS DATE), HOUR(seen) > 11",
    ),
    ("seen > DATE '2020-05-30' AND DATE '2020-06-02' > seen", "DATE_TRUNC('day', seen)"),
    ("NOT (age < 68)", "age"),
    ("grade IN ('ab', 'bc') AND NOT mark = 'ac'", "grade, mark"),
    ("flag", "flag, word = 'a'"),
    ("flag IS NULL", "flag"),
    ("price BETWEEN 10 AND 11.49", "FLOOR(price * 2)"),
    ("grade = 'ab' AND grade = 'bc'", "grade"),
    ("grade = 'ab' AND grade = 'bc'", "grade IN ('ab', 'cd'), flag"),
    ("age < 20 AND age > 30", "age // 10"),
]
#: Not to be told from the schema: these keys need a threshold.
UNKNOWN = [
    "day",
    "born",
    "YEAR(born)",
    "word",
    "bmi",
    "price",
    "far",
    "DATE_TRUNC('hour', seen)",
    "LENGTH(word)",
    "COALESCE(mark, word)",
    "CASE WHEN flag THEN word ELSE 'x' END",
    "far % 5000",
    "FLOOR(price / age)",
]


def _schema() -> Schema:
    table = {"columns": _COLUMNS, "max_rows_per_unit": 3}
    visits = {
        "columns": {"pid": {"type": "integer", "bounds": [0, 900]}},
        "max_rows_per_unit": 3,
        "references": {"pid": "people.id"},
    }
    privacy = {"unit": "people.id", "epsilon": 10, "delta": Decimal("1e-6"), "query_epsilon": 1}
    return validated(
        {
            "name": "w",
            "source": "w.duckdb",
            "privacy": privacy,
            "tables": {"people": table, "visits": visits},
        },
        "w",
    )


SCHEMA = _schema()


@contextmanager
def people(*scripts: str) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(":memory:") as connection:
        connection.execute("ATTACH ':memory:' AS source")
        if connection.execute(
            "FROM duckdb_settings() WHERE name = 'error_on_division_by_zero'"
        ).fetchone():
            connection.execute("SET error_on_division_by_zero = false")
        for script in scripts:
            connection.execute(script)
        yield connection


@pytest.fixture(scope="module")
def tame() -> Iterator[duckdb.DuckDBPyConnection]:
    with people(_DATA) as connection:
        yield connection


@pytest.fixture(scope="module")
def wild() -> Iterator[duckdb.DuckDBPyConnection]:
    with people(_DATA, _WILD) as connection:
        yield connection


def _core(keys: str, where: str = "true") -> CorePlan:
    query = bind(
        parse(f"SELECT {keys}, COUNT(*) FROM people WHERE {where} GROUP BY ALL"),
        SCHEMA,
        (),
        lambda *_: [],
    )
    (core,) = plan_cores(
        query,
        DUCKDB,
        SCHEMA.privacy,
        SCHEMA.privacy.query_epsilon,
        SCHEMA.privacy.query_epsilon / 10**7,
    )
    return core


def _shown(connection: duckdb.DuckDBPyConnection, core: CorePlan) -> dict[str, int]:
    """The keys and how many rows each has, clipped or not."""
    rows = connection.execute(core.sql).fetchall()
    assert len({_spelt(row[:-1]) for row in rows}) == len(rows)
    return {_spelt(row[:-1]): row[-1] for row in rows}


def _plain(connection: duckdb.DuckDBPyConnection, keys: str, where: str = "true") -> set[str]:
    text = f"SELECT {keys}, COUNT(*) FROM source.main.people WHERE {where} GROUP BY ALL"
    return {_spelt(row[:-1]) for row in connection.execute(text).fetchall()}


def _spelt(key: tuple[object, ...]) -> str:
    """A key so that 1, 1.0 and a date and its midnight are one:
    the types of truncated dates differ by version.
    """
    return " ".join(
        str(float(part) + 0.0)
        if isinstance(part, int | float | Decimal) and not isinstance(part, bool)
        else str(datetime.fromisoformat(str(part)))
        if isinstance(part, date)
        else str(part)
        for part in key
    )


@pytest.mark.parametrize("keys", EXACT)
def test_keys_are_those_of_data_that_keep_the_declarations(
    keys: str, tame: duckdb.DuckDBPyConnection
) -> None:
    core = _core(keys)
    assert core.selection is None
    shown = _shown(tame, core)
    assert shown.keys() == _plain(tame, keys)
    assert all(shown.values())


@pytest.mark.parametrize("keys", WIDER)
def test_no_key_of_such_data_is_missing(keys: str, tame: duckdb.DuckDBPyConnection) -> None:
    core = _core(keys)
    assert core.selection is None
    shown, plain = _shown(tame, core), _plain(tame, keys)
    assert plain <= shown.keys()
    assert {key for key, rows in shown.items() if rows} == plain


@pytest.mark.parametrize(("where", "keys"), NARROWED)
def test_conditions_narrow_the_keys(where: str, keys: str, tame: duckdb.DuckDBPyConnection) -> None:
    core = _core(keys, where)
    assert core.selection is None
    assert _shown(tame, core).keys() == _plain(tame, keys, where)


@pytest.mark.parametrize("keys", [*EXACT, *WIDER])
def test_keys_are_the_same_whatever_the_data_hold(
    keys: str, tame: duckdb.DuckDBPyConnection, wild: duckdb.DuckDBPyConnection
) -> None:
    core = _core(keys)
    with people(_DATA, "DELETE FROM source.main.people") as nobody:
        assert _shown(tame, core).keys() == _shown(wild, core).keys() == _shown(nobody, core).keys()


def test_a_subquery_of_private_rows_is_a_condition_like_others() -> None:
    exists = "EXISTS (SELECT 1 FROM visits v WHERE v.pid = people.id)"
    for core in (_core(f"{exists} AS visited"), _core("age // 10", exists)):
        assert core.core.domain is not None
        assert "visits" not in domain_select(DUCKDB, core.core).sql(dialect="duckdb")


@pytest.mark.parametrize("keys", UNKNOWN)
def test_other_keys_need_a_threshold(keys: str) -> None:
    assert _core(keys).selection is not None
