"""NaN is NULL: where a table is read, and wherever arithmetic of infinite numbers makes it."""

from __future__ import annotations

import math
from pathlib import Path

import duckdb
import pytest
from ordinary import read
from world_session import without_noise

import dpsql
from dpsql.schema import SqlType
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.emit.scalar import double, key, native
from dpsql.sql.functions import FUNCTIONS
from dpsql.sql.functions.not_a_number import may_be_nan

_DOUBLES = ("inf", "-inf", "0", "-0.0", "1", "-2.5", "1e308", "-1e308", "5e-324")
_ROWS = ", ".join(
    f"('{x}'::DOUBLE, '{y}'::DOUBLE, 3, 1.5::DECIMAL(12,2), 'nan')"
    for x in _DOUBLES
    for y in _DOUBLES
)
_EXAMPLES = [
    example for entry in FUNCTIONS.values() for example in entry.examples if "x" in example
]
#: Arithmetic that makes NaN of infinite numbers or of a text, and what is made of it again.
_MAKING = (
    "x - y",
    "x + y",
    "x * y",
    "x / y",
    "x % y",
    "FMOD(x, y)",
    "FDIV(x, y)",
    "x % 2",
    "x // y",
    "POWER(x, 0.5)",
    "POWER(x, y)",
    "s::DOUBLE",
    "-(x - y) * 2",
    "ABS(x * y + 1)",
    "(x - y) / (x + y)",
    "(x - y) % 3",
    "GREATEST(x - y, x)",
    "COALESCE(x - y, 7)",
    "CASE WHEN i = 3 THEN x * y END",
    "NULLIF(x - y, 3)",
    "FLOOR(x - y)",
    "ROUND(x - y, 1)",
    "SQRT(ABS(x - y))",
    "SIGN(x - y)",
    "EXP(x - y)",
    "SIN(x * y)",
    "LN(x - y)",
)


@pytest.fixture(name="connection", scope="module")
def _connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t AS SELECT * FROM (VALUES {_ROWS}) AS v(x, y, i, m, s)")
    connection.execute("ALTER TABLE t ADD COLUMN d DATE DEFAULT DATE '2020-01-01'")
    connection.execute(
        "ALTER TABLE t ADD COLUMN ts TIMESTAMP DEFAULT TIMESTAMP '2020-01-01 12:00:00'"
    )
    connection.execute("ALTER TABLE t ADD COLUMN b BOOLEAN DEFAULT true")
    connection.execute("ALTER TABLE t ADD COLUMN i2 BIGINT DEFAULT 4")
    return connection


def _columns() -> dict[str, object]:
    from ordinary import COLUMNS

    plain = {
        name: column.__class__(column.relation, name, column.type, True)
        for name, column in COLUMNS.items()
    }
    return plain | {"y": COLUMNS["x"].__class__("t", "y", SqlType("double"), True)}


@pytest.mark.parametrize("text", [*_MAKING, *_EXAMPLES])
def test_no_expression_is_nan(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    expression = read(text, _columns())  # type: ignore[arg-type]
    if expression.type.kind != "double":
        return
    for build in (native, key, double):
        sql = build(DUCKDB, expression).sql(dialect="duckdb")
        assert connection.execute(f"SELECT count(*) FROM t WHERE isnan({sql})").fetchone() == (
            0,
        ), sql


@pytest.mark.parametrize(
    "text", ["x * 2", "x + 1", "x / 3", "m * m", "i / m", "x * 1.5 - 2", "SQRT(x)", "POWER(x, 2)"]
)
def test_what_is_never_nan_is_left_as_it_is(text: str) -> None:
    assert not may_be_nan(read(text, _columns()))  # type: ignore[arg-type]


def test_arithmetic_is_made_null_once_however_long_it_is() -> None:
    sum_of_many = " + ".join(["x", "y"] * 20)
    assert native(DUCKDB, read(sum_of_many, _columns())).sql(dialect="duckdb").count("NULLIF") == 1  # type: ignore[arg-type]


_SCHEMA = """
name = "d"
source = "{source}"
ledger = "{folder}/ledger"
[privacy]
unit = "p.id"
epsilon = 1000
delta = 1e-6
query_epsilon = 1
[tables.p]
max_rows_per_unit = 1
[tables.p.columns]
id = {{ type = "integer" }}
v = {{ type = "double", bounds = [0, 100] }}
f = {{ type = "double", bounds = [0, 100] }}
"""
_STATEMENTS = (
    "SELECT COUNT(*) FROM p",
    "SELECT COUNT(v) FROM p",
    "SELECT SUM(v) FROM p",
    "SELECT AVG(v) FROM p",
    "SELECT AVG(f) FROM p",
    "SELECT COUNT(*) FROM p WHERE v > 1",
    "SELECT COUNT(*) FROM p WHERE NOT v > 1",
    "SELECT COUNT(*) FROM p WHERE v IS NULL",
    "SELECT VAR_POP(v) FROM p",
    "SELECT SUM(COALESCE(v, 50)) FROM p",
    "SELECT COUNT(*) FROM p WHERE v = v",
    "SELECT SUM(LEAST(v, 1)) FROM p",
    "SELECT COUNT(CAST(v AS INTEGER)) FROM p",
    "SELECT COUNT(*) FROM p WHERE v::TEXT = 'nan'",
    "SELECT COUNT(v + f) FROM p",
    "SELECT CAST(v AS INTEGER), COUNT(*) FROM p GROUP BY 1",
)


@pytest.mark.parametrize("kind", ["duckdb", "parquet", "csv"])
def test_nan_is_left_out_like_null_in_every_source(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_noise(monkeypatch)
    value = "CASE WHEN i % 10 = 0 THEN 'nan'::DOUBLE ELSE i % 3 END"
    rows = f"SELECT i AS id, {value} AS v, v::FLOAT AS f FROM range(300) t(i)"
    source = tmp_path / ("data.duckdb" if kind == "duckdb" else "data")
    with duckdb.connect(str(source) if kind == "duckdb" else ":memory:") as connection:
        connection.execute(f"CREATE TABLE p AS {rows}")
        if kind != "duckdb":
            source.mkdir()
            connection.execute(f"COPY p TO '{source}/p.{kind}'")
    with duckdb.connect() as connection:
        known = ", ".join(
            f"CASE WHEN NOT isnan({column}) THEN {column} END AS {column}" for column in "vf"
        )
        connection.execute(f"CREATE TABLE p AS SELECT id, {known} FROM ({rows})")
        schema = tmp_path / "schema.toml"
        schema.write_text(_SCHEMA.format(source=source, folder=tmp_path), encoding="utf-8")
        with dpsql.connect(schema) as session:
            for statement in _STATEMENTS:
                mine = sorted(session.sql(statement).rows, key=repr)
                theirs = sorted(connection.execute(statement).fetchall(), key=repr)
                assert len(mine) == len(theirs), statement
                pairs = [
                    pair
                    for rows in zip(mine, theirs, strict=True)
                    for pair in zip(*rows, strict=True)
                ]
                assert all(_alike(*pair) for pair in pairs), (statement, mine, theirs)


def _alike(one: object, other: object) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(float(one), float(other), rel_tol=1e-3)  # type: ignore[arg-type]
