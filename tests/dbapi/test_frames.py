"""Rows as Arrow tables and data frames: types from the SQL, NULL as each has it,
intervals beside their estimates.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import dpsql

#: Each type: how it is written, DuckDB's name of it, what Arrow, pandas and polars make of it,
#: and #: its value.
TYPES: list[tuple[str, str, pa.DataType, str, Any, object]] = [
    ("CAST(7 AS BIGINT)", "BIGINT", pa.int64(), "int64", pl.Int64, 7),
    ("CAST(7 AS UTINYINT)", "UTINYINT", pa.uint8(), "uint8", pl.UInt8, 7),
    (
        "CAST(7 AS HUGEINT)",
        "HUGEINT",
        pa.decimal128(38, 0),
        "float64",
        pl.Decimal(38, 0),
        Decimal(7),
    ),
    ("1.25", "DECIMAL(3,2)", pa.decimal128(3, 2), "float64", pl.Decimal(3, 2), Decimal("1.25")),
    ("CAST(0.5 AS DOUBLE)", "DOUBLE", pa.float64(), "float64", pl.Float64, 0.5),
    ("CAST(0.5 AS FLOAT)", "FLOAT", pa.float32(), "float32", pl.Float32, 0.5),
    ("TRUE", "BOOLEAN", pa.bool_(), "bool", pl.Boolean, True),
    ("'é'", "VARCHAR", pa.string(), "str", pl.String, "é"),
    ("DATE '2020-02-29'", "DATE", pa.date32(), "datetime64[us]", pl.Date, date(2020, 2, 29)),
    (
        "TIMESTAMP '2020-02-29 12:30:00.25'",
        "TIMESTAMP",
        pa.timestamp("us"),
        "datetime64[us]",
        pl.Datetime("us"),
        datetime(2020, 2, 29, 12, 30, 0, 250_000),
    ),
    (
        "[1.5, 2.25]",
        "DECIMAL(3,2)[]",
        pa.list_(pa.decimal128(3, 2)),
        "object",
        pl.List(pl.Decimal(3, 2)),
        [Decimal("1.50"), Decimal("2.25")],
    ),
    (
        "[['a'], []]",
        "VARCHAR[][]",
        pa.list_(pa.list_(pa.string())),
        "object",
        pl.List(pl.List(pl.String)),
        [["a"], []],
    ),
]


@pytest.fixture
def connection(checkout: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect("schemas/nafld.toml", analyst="ada") as connection:
        yield connection


@pytest.mark.parametrize(
    ("sql", "name", "arrow", "pandas", "polars", "value"), TYPES, ids=[each[1] for each in TYPES]
)
def test_each_type_is_its_own(
    connection: dpsql.Connection,
    sql: str,
    name: str,
    arrow: pa.DataType,
    pandas: str,
    polars: Any,
    value: object,
) -> None:
    text = f"SELECT {sql} AS x FROM conditions LIMIT 1"
    cursor = connection.execute(text)
    assert cursor.description is not None and cursor.description[0][:2] == ("x", name)
    table = cursor.fetch_arrow_table()
    assert table.schema == pa.schema([("x", arrow)]) and table["x"].to_pylist() == [value]
    frame = connection.execute(text).fetchdf()
    assert [str(kind) for kind in frame.dtypes] == [pandas] or (pandas, frame.dtypes.x) == (
        "str",
        object,
    )
    polar = connection.execute(text).pl()
    assert polar.schema == {"x": polars} and polar["x"].to_list() == [value]


@pytest.mark.parametrize(
    ("sql", "name", "arrow", "pandas", "polars", "value"), TYPES, ids=[each[1] for each in TYPES]
)
def test_null_stays_null_beside_values(
    connection: dpsql.Connection,
    sql: str,
    name: str,
    arrow: pa.DataType,
    pandas: str,
    polars: Any,
    value: object,
) -> None:
    text = f"SELECT CASE WHEN name = 'Stroke' THEN {sql} END AS x FROM conditions ORDER BY name = 'Stroke' LIMIT 10"
    table = connection.execute(text).fetch_arrow_table()
    assert table.schema == pa.schema([("x", arrow)]) and table["x"].to_pylist() == [None] * 9 + [
        value
    ]
    frame = connection.execute(text).fetchdf()
    nullable = {"int64": "Int64", "uint8": "UInt8", "bool": "boolean"}.get(pandas, pandas)
    assert str(frame.dtypes.x) == nullable or (pandas, frame.dtypes.x) == ("str", object)
    assert frame.x.isna().tolist() == [True] * 9 + [False]
    assert connection.execute(text).pl()["x"].to_list() == [None] * 9 + [value]


def test_no_rows_keep_their_types(connection: dpsql.Connection) -> None:
    text = "SELECT diagnosis, COUNT(*) AS n FROM conditions GROUP BY diagnosis HAVING COUNT(*) > 5"
    assert connection.execute(text).fetch_arrow_table().schema == pa.schema(
        [("diagnosis", pa.string()), ("n", pa.int64())]
    )
    assert connection.execute(text).fetchdf().dtypes.n == np.int64
    assert connection.execute(text).pl().schema == {"diagnosis": pl.String, "n": pl.Int64}


def test_maps_and_rows_have_a_form(connection: dpsql.Connection) -> None:
    text = "SELECT map([1], ['a']) AS m, struct_pack(a := 1, b := 'x') AS s, ROW(1, 'y') AS r FROM conditions LIMIT 1"
    (row,) = connection.execute(text).fetch_arrow_table().to_pylist()
    assert row == {"m": [(1, "a")], "s": {"a": 1, "b": "x"}, "r": {"1": 1, "2": "y"}}


def test_intervals_stand_beside_their_estimates(connection: dpsql.Connection) -> None:
    text = "SELECT male, COUNT(*) AS n, AVG(bmi) AS bmi FROM patients GROUP BY male ORDER BY male"
    cursor = connection.execute(text)
    intervals, table = cursor.intervals, cursor.fetch_arrow_table(intervals=True)
    assert table.column_names == ["male", "n", "n_low", "n_high", "bmi", "bmi_low", "bmi_high"]
    assert [(row["n_low"], row["n_high"]) for row in table.to_pylist()] == [
        row[1] for row in intervals
    ]
    frame = connection.execute(text).fetchdf(intervals=True)
    assert (frame.bmi_low < frame.bmi).all() and (frame.bmi < frame.bmi_high).all()
    assert connection.execute(text).pl(intervals=True).columns == table.column_names


def test_rows_that_were_fetched_are_not_fetched_again(connection: dpsql.Connection) -> None:
    cursor = connection.execute("SELECT name FROM conditions ORDER BY name")
    first = cursor.fetchmany(4)
    assert len(first) == 4 and len(cursor.fetchdf()) == 6 and cursor.fetchall() == []
    assert cursor.fetch_arrow_table().num_rows == 0


def test_names_that_stand_twice_are_told_apart(connection: dpsql.Connection) -> None:
    text = 'SELECT name, name, 1 AS "NAME" FROM conditions'
    for found in (
        connection.execute(text).fetch_arrow_table().column_names,
        list(connection.execute(text).fetchdf().columns),
        connection.execute(text).pl().columns,
    ):
        assert found == ["name", "name_1", "NAME_2"]


@pytest.mark.parametrize(
    ("call", "package"), [("fetch_arrow_table", "pyarrow"), ("fetchdf", "pandas"), ("pl", "polars")]
)
def test_a_missing_package_is_named_and_takes_no_rows(
    connection: dpsql.Connection, call: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cursor = connection.execute("SELECT name FROM conditions")
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "dpsql.dbapi.frames.find_spec", lambda name: None if name == package else found(name)
    )
    with pytest.raises(dpsql.NotSupportedError, match=f"pip install {package}"):
        getattr(cursor, call)()
    assert len(cursor.fetchall()) == 10


@pytest.mark.parametrize("call", ["fetch_arrow_table", "fetchdf", "pl"])
def test_a_statement_without_rows_gives_no_frame(connection: dpsql.Connection, call: str) -> None:
    with pytest.raises(dpsql.ProgrammingError, match="no rows to fetch"):
        getattr(connection.execute("SET dpsql.epsilon = 0.1"), call)()


#: What Python has and the frames of these names have not.
BEYOND = {
    "CAST(170141183460469231731687303715884105727 AS HUGEINT)": ("fetch_arrow_table", "pl"),
    "DATE '9999-12-31' + CAST(LENGTH(name) AS INTEGER)": ("fetch_arrow_table", "pl", "fetchdf"),
    "TO_DAYS(200000000 + CAST(LENGTH(name) AS INTEGER))": ("fetch_arrow_table", "pl", "fetchdf"),
}


@pytest.mark.parametrize(
    ("sql", "call"), [(sql, call) for sql, calls in BEYOND.items() for call in calls]
)
def test_a_value_that_a_frame_cannot_hold_is_told_and_takes_no_rows(
    connection: dpsql.Connection, sql: str, call: str
) -> None:
    cursor = connection.execute(f"SELECT name, {sql} AS x FROM conditions")
    assert cursor.fetchone() is not None
    with pytest.raises(dpsql.DataError, match="fetchall"):
        getattr(cursor, call)()
    assert len(cursor.fetchall()) == 9


def test_a_cursor_says_what_it_cost(connection: dpsql.Connection) -> None:
    with pytest.raises(dpsql.ProgrammingError, match="no price yet"):
        _ = connection.cursor().price
    assert connection.execute("SELECT name FROM conditions").price.charged == 0
    first = connection.execute("SELECT COUNT(*) FROM patients")
    again = connection.execute("SELECT COUNT(*) FROM patients")
    assert (first.price.charged, first.price.stored) == (Fraction(1, 10), False)
    assert (again.price.charged, again.price.stored) == (
        0,
        True,
    ) and first.fetchall() == again.fetchall()
    many = connection.cursor().executemany(
        "SELECT COUNT(*) FROM patients WHERE age > ?", [(30,), (40,), (30,)]
    )
    assert many.price.charged == Fraction(1, 5) and not many.price.stored


def test_the_price_of_a_connection_is_set_and_taken_back(connection: dpsql.Connection) -> None:
    connection.epsilon = 0.25
    assert connection.execute("SELECT COUNT(*) FROM patients").price.charged == Fraction(1, 4)
    connection.epsilon = None  # type: ignore[assignment]
    assert connection.epsilon == Fraction(1, 10)
    with pytest.raises(dpsql.DataError):
        connection.epsilon = -1  # type: ignore[assignment]


@pytest.mark.parametrize("shared", [True, False], ids=["one connection", "a connection each"])
def test_sixteen_threads(checkout: Path, shared: bool) -> None:
    from dpsql.session.database import open_database

    database, start = open_database("schemas/nafld.toml"), threading.Barrier(16)
    one = dpsql.connect(database, "ada")

    def ask(age: int) -> tuple[Fraction, int]:
        start.wait()
        connection = one if shared else dpsql.connect(database, "ada")
        with connection.execute("SELECT COUNT(*) FROM patients WHERE age > ?", (age,)) as cursor:
            ((count,),) = cursor.fetchall()
            return cursor.price.charged, int(count)  # type: ignore[call-overload]

    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(ask, [40 + age % 8 for age in range(16)]))
    assert sum(charged for charged, _ in answers) == Fraction(8, 10)
    assert len({answers[place][1] for place in range(8)}) > 1
    assert [count for _, count in answers[:8]] == [count for _, count in answers[8:]]
    database.close()
