"""Arithmetic of whole numbers is exact up to 63 bits: DuckDB's value wherever DuckDB has one,
and it never fails.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import duckdb
import pytest
from ordinary import read

from dpsql.schema import SqlType
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.emit.scalar import double, key, native
from dpsql.sql.functions.whole_numbers import BIGINT, WIDE, is_whole
from dpsql.sql.ir.expression import ColumnRef

#: Ends of the types, both sides of 2^53, of products that have 64, 127 and more bits,
#: and small #: numbers.
NUMBERS = (
    2**63 - 1,
    -(2**63),
    -(2**63) + 1,
    2**62,
    2**53,
    2**53 + 1,
    -(2**53) - 1,
    3_037_000_500,
    1_852_673_427_797_059_126,
    999_999_999_999_999_999,
    5_000_000_000_000_000_000,
    2**32,
    2**31,
    10,
    7,
    5,
    3,
    2,
    1,
    0,
    -1,
    -2,
    -5,
    -7,
    -15,
)
#: DuckDB 1 rounds the largest whole numbers to tens beyond 63 bits,
#: and gives a number of the other #: sign.
ROUNDS_ROUND = duckdb.__version__.startswith("1.")
DECIMALS = ("9007199254740993.0", "9007199254740994.5", "-9007199254740993.5", "7.5", "-0.5")
COLUMNS = {
    name: ColumnRef("t", name, SqlType("integer"), True, None)
    for name in ("big", "other", "small", "least")
} | {"x": ColumnRef("t", "x", SqlType("double"), True, None)}


@pytest.fixture(name="connection", scope="module")
def _connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE t (n INTEGER, big BIGINT, other BIGINT, small INTEGER, least TINYINT, x DOUBLE)"
        )
        generator = random.Random(7)
        for place in range(400):
            small = generator.choice([value for value in NUMBERS if abs(value) < 2**31])
            least = generator.choice([value for value in NUMBERS if abs(value) < 2**7])
            row = [
                place,
                generator.choice(NUMBERS),
                generator.choice(NUMBERS),
                small,
                least,
                float(small),
            ]
            if place % 40 == 0:
                row[1 + place // 40 % 4] = None
            connection.execute("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", row)
        yield connection


class Draws:
    """Draws of expressions of whole numbers, and of conditions on them."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def number(self, depth: int) -> str:
        """An expression of whole numbers."""
        if depth == 0 or self._random.random() < 0.15:
            constant = self._random.choice([value for value in NUMBERS if abs(value) < 2**63])
            return self._random.choice(["big", "big", "other", "small", "least", f"({constant})"])
        left, right = self.number(depth - 1), self.number(depth - 1)
        return self._random.choice(
            [
                f"({left} + {right})",
                f"({left} - {right})",
                f"({left} * {right})",
                f"({left} // {right})",
                f"({left} % {right})",
                f"(-{left})",
                f"ABS({left})",
                f"COALESCE({left}, {right})",
                f"GREATEST({left}, {right})",
                f"LEAST({left}, {right})",
                f"NULLIF({left}, {right})",
                f"CASE WHEN {self.condition(depth - 1)} THEN {left} ELSE {right} END",
                f"CASE WHEN {self.condition(depth - 1)} THEN {left} END",
                f"ROUND({left}, -1)",
                f"ROUND({left}, -4)",
                f"TRUNC({left}, -3)",
                f"MOD({left}, 10)",
                f"({left} // 1000000)",
                f"({left} & {right})",
                f"XOR({left}, 5)",
                f"CAST({left} AS BIGINT)",
                f"ROUND({left})",
                f"({left} * CASE WHEN x > 1 THEN 1 ELSE 2 END)",
                f"(SIGN({left}) + {right})",
            ]
        )

    def condition(self, depth: int) -> str:
        """A comparison of whole numbers."""
        left, right = self.number(depth), self.number(depth)
        if self._random.random() < 0.3:
            right = self._random.choice(
                ["9007199254740993.0", "9007199254740994.5", "-9007199254740993.5", "7.5", "-0.5"]
            )
        operator = self._random.choice(["=", "<", "<=", ">", ">=", "<>"])
        return self._random.choice(
            [
                f"{left} {operator} {right}",
                f"{right} {operator} {left}",
                f"{left} IN (1, 7, big)",
                f"{left} IS NULL",
            ]
        )


def _plain(connection: duckdb.DuckDBPyConnection, text: str) -> dict[int, object] | None:
    """DuckDB's values by row, without rows for which it fails;
    None if it does not know the expression.
    """
    try:
        rows = connection.execute(f"SELECT n, {text} FROM t").fetchall()
        return dict(rows)
    except duckdb.BinderException:
        return None
    except duckdb.Error:
        pass
    values: dict[int, object] = {}
    for place in range(400):
        try:
            values[place] = connection.execute(
                f"SELECT {text} FROM t WHERE n = {place}"
            ).fetchall()[0][0]
        except duckdb.Error:
            continue
    return values


@pytest.mark.parametrize("seed", range(60))
def test_whole_numbers_are_those_of_duckdb(
    connection: duckdb.DuckDBPyConnection, seed: int
) -> None:
    draws = Draws(seed)
    for _ in range(6):
        text = draws.number(2)
        theirs = None if ROUNDS_ROUND and "ROUND(" in text else _plain(connection, text)
        if theirs is None:
            continue
        expression = read(text, COLUMNS)
        emitted = [
            build(DUCKDB, expression).sql(dialect="duckdb") for build in (native, key, double)
        ]
        mine = connection.execute(f"SELECT n, {', '.join(emitted)} FROM t").fetchall()
        for place, exact, keyed, _double in mine:
            if place in theirs and abs(theirs[place] or 0) < 2**63:  # type: ignore[arg-type]
                value = theirs[place]
                assert (exact, keyed) == (value, value), (text, place, value, emitted[0])


@pytest.mark.parametrize("seed", range(30))
def test_whole_numbers_are_compared_exactly(
    connection: duckdb.DuckDBPyConnection, seed: int
) -> None:
    draws = Draws(1_000 + seed)
    for _ in range(6):
        text = draws.condition(1)
        theirs = None if ROUNDS_ROUND and "ROUND(" in text else _plain(connection, text)
        if theirs is None:
            continue
        emitted = native(DUCKDB, read(text, COLUMNS)).sql(dialect="duckdb")
        mine = dict(connection.execute(f"SELECT n, {emitted} FROM t").fetchall())
        assert {place: mine[place] for place in theirs} == theirs, text


def test_what_a_double_has_exactly_is_computed_as_one() -> None:
    assert not is_whole(read("CASE WHEN small > 3 THEN 1 ELSE 0 END", COLUMNS))
    assert not is_whole(read("EXTRACT(YEAR FROM DATE '2020-01-01') * 100", COLUMNS))
    assert is_whole(read("big % 2", COLUMNS))
    assert is_whole(read("small + 1", COLUMNS))  # the declared bounds of a column need not hold


def test_a_product_of_many_columns_is_null_beyond_64_bits(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    product = " * ".join(["big"] * 8)
    emitted = native(DUCKDB, read(product, COLUMNS)).sql(dialect="duckdb")
    for value, result in connection.execute(
        f"SELECT big, {emitted} FROM t WHERE big IS NOT NULL"
    ).fetchall():
        assert result in (None, value**8), value
        assert result is not None or abs(value**7) >= 2**63, value


def test_the_least_number_is_not_divided_by_minus_one(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE u AS SELECT (-9223372036854775808)::BIGINT AS big, -1 AS small"
    )
    for text in ("big // small", "big // (-1)", "big % small", "ABS(big)", "-big"):
        emitted = native(DUCKDB, read(text, COLUMNS)).sql(dialect="duckdb")
        ((value,),) = connection.execute(f"SELECT {emitted} FROM u AS t").fetchall()
        assert value == {"big % small": 0, "ABS(big)": 2**63, "-big": 2**63}.get(text), text


#: Columns of decimals that a DOUBLE has not all exactly, and of few digits.
AMOUNTS = {
    name: ColumnRef("a", name, SqlType("decimal", *digits), True, None)
    for name, digits in {"cents": (21, 2), "fine": (25, 4), "low": (5, 2)}.items()
} | {"big": ColumnRef("a", "big", SqlType("integer"), True, None)}


@pytest.mark.parametrize(
    "text",
    [
        "big = cents",
        "big < cents",
        "cents >= big",
        "big <> fine",
        "cents = fine",
        "cents < fine",
        "low = big",
        "low < 7",
        "big = 9007199254740993.5",
        "big = 9007199254740994.5",
        "big IN (cents, 7)",
        "cents = 9007199254740993",
        "cents IN (9007199254740993.5, 7.5)",
        "cents > 9007199254740993.25",
        "big IS DISTINCT FROM cents",
        "cents IS NOT DISTINCT FROM fine",
        "NOT (cents <= -9007199254740993)",
        "fine = 0.0001",
        "big > 7.5",
    ],
)
def test_large_numbers_and_decimals_are_compared_exactly(
    connection: duckdb.DuckDBPyConnection, text: str
) -> None:
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE a (big BIGINT, cents DECIMAL(21, 2), fine DECIMAL(25, 4), "
        "low DECIMAL(5, 2))"
    )
    whole = (2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1, 7, 0, 2**63 - 1, -(2**63), None)
    parts = (
        "9007199254740992",
        "9007199254740993",
        "9007199254740993.5",
        "7",
        "7.5",
        "0.0001",
        "-9007199254740993",
        "9223372036854775807",
        "-9223372036854775808",
        None,
    )
    rows = [(number, part, part, 7) for number in whole for part in parts]
    connection.executemany("INSERT INTO a VALUES (?, ?, ?, ?)", rows)
    emitted = native(DUCKDB, read(text, AMOUNTS)).sql(dialect="duckdb")
    wrong = connection.execute(
        f"SELECT * FROM a WHERE ({emitted}) IS DISTINCT FROM ({text})"
    ).fetchall()
    assert wrong == [], emitted


def test_decimals_of_few_digits_are_compared_as_doubles() -> None:
    assert "DOUBLE" in native(DUCKDB, read("low < 7.5", AMOUNTS)).sql(dialect="duckdb")


@pytest.mark.parametrize(
    "text", ["BIT_COUNT({})", "MAKE_DATE({}, 1, 1)", "MAKE_TIMESTAMP({})", "CAST({} AS BIGINT)"]
)
@pytest.mark.parametrize(
    "number", ["(-(-big))", "COALESCE(-(-big), 1)", "CASE WHEN x > 1 THEN -(-big) END"]
)
def test_what_needs_64_bits_has_them_after_operands_of_128(
    connection: duckdb.DuckDBPyConnection, text: str, number: str
) -> None:
    """The engine has functions of 64 bits alone, and others have another value of 128."""
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE u AS SELECT n::BIGINT AS big, 2.0 AS x FROM range(-7, 99) r(n)"
    )
    emitted = native(DUCKDB, read(text.format(number), COLUMNS)).sql(dialect="duckdb")
    plain = text.format("big")
    rows = connection.execute(f"SELECT big, {emitted}, {plain} FROM u AS t").fetchall()
    assert [row for row in rows if row[1] != row[2]] == []


def test_the_widths_are_those_of_the_engine() -> None:
    assert (BIGINT.low, BIGINT.high, WIDE.high) == (-(2**63), 2**63 - 1, 2**127 - 1)
