"""Every function of the allow-list: its examples against plain DuckDB, its type,
and the interval of its values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import duckdb
import pytest
from ordinary import ROWS, read
from sqlglot import exp

from dpsql.sql.analysis.bounds import bounds, is_nullable
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.emit.scalar import double, key, native
from dpsql.sql.functions import FUNCTIONS
from dpsql.sql.functions.call import is_double
from dpsql.sql.ir.expression import Call, Expression, parts
from dpsql.sql.ir.interval import as_number

#: A double may round beyond the exact end of its interval by this part of it.
SLACK = Fraction(1, 2**38)
#: Examples that PostgreSQL has and DuckDB has not,
#: or has under another meaning in an older #: version.
ONLY_POSTGRESQL = (
    "TO_CHAR",
    "DIV(",
    "WIDTH_BUCKET",
    "BTRIM",
    "DATE_BIN",
    "ALL (",
    "NVL",
    "LIKE",
    " ~",
    "OCTET_LENGTH",
    "BETWEEN SYMMETRIC",
)
EXAMPLES = [(name, example) for name, entry in FUNCTIONS.items() for example in entry.examples]


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        if opened.execute(
            "FROM duckdb_settings() WHERE name = 'error_on_division_by_zero'"
        ).fetchone():
            opened.execute("SET error_on_division_by_zero = false")
        opened.execute(ROWS)
        yield opened


def _used(expression: Expression) -> set[str]:
    own = {expression.function} if isinstance(expression, Call) else set()
    return own.union(*map(_used, parts(expression)))


def _plain(value: object) -> object:
    """The value in the family that dpsql keeps it in: numbers as doubles, dates as timestamps."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float | Decimal):
        return float(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)
    return value


def _alike(mine: object, theirs: object) -> bool:
    if isinstance(mine, float) and isinstance(theirs, float):
        return math.isclose(mine, theirs, rel_tol=1e-12, abs_tol=1e-12)
    return mine == theirs


def _emitted(expression: Expression) -> str:
    value = double(DUCKDB, expression) if expression.type.is_numeric else native(DUCKDB, expression)
    return value.sql(dialect="duckdb")


def test_every_function_has_an_example() -> None:
    assert [name for name, entry in FUNCTIONS.items() if not entry.examples] == []


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_an_example_is_what_duckdb_says(
    connection: duckdb.DuckDBPyConnection, name: str, example: str
) -> None:
    expression = read(example)
    assert name in _used(expression)
    mine = [
        row[0] for row in connection.execute(f"SELECT {_emitted(expression)} FROM t").fetchall()
    ]
    try:
        theirs = [row[0] for row in connection.execute(f"SELECT {example} FROM t").fetchall()]
    except duckdb.Error:
        if any(word in example for word in ONLY_POSTGRESQL) or FUNCTIONS[name].fallible:
            return
        raise
    if duckdb.__version__ < "2" and "~" in example:
        return
    for own, plain in zip(map(_plain, mine), map(_plain, theirs), strict=True):
        undefined = own is None and isinstance(plain, float) and not math.isfinite(plain)
        assert _alike(own, plain) or (undefined and FUNCTIONS[name].note), (own, plain)


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_the_values_of_an_example_have_its_type_and_lie_in_its_interval(
    connection: duckdb.DuckDBPyConnection, name: str, example: str
) -> None:
    expression = read(example)
    types = {
        row[0]
        for row in connection.execute(
            f"SELECT typeof({native(DUCKDB, expression).sql(dialect='duckdb')}) FROM t"
        ).fetchall()
    }
    wanted = "DOUBLE" if is_double(expression) else DUCKDB.type_name(expression.type).upper()
    small = expression.type.kind == "integer" and types <= {
        "TINYINT",
        "SMALLINT",
        "INTEGER",
        "BIGINT",
        "HUGEINT",
    }
    assert types == {wanted} or (small and not is_double(expression)), (types, wanted)
    keyed = connection.execute(
        f"SELECT DISTINCT typeof({key(DUCKDB, expression).sql(dialect='duckdb')}) FROM t"
    ).fetchall()
    assert keyed == [(DUCKDB.type_name(expression.type).upper(),)]
    values = [
        row[0]
        for row in connection.execute(
            f"SELECT {_emitted(expression)} FROM t WHERE i IS NOT NULL"
        ).fetchall()
    ]
    interval = bounds(expression)
    for value in values:
        if value is None:
            continue
        place = _place(value)
        slack = SLACK * max(abs(place), 1)
        assert interval.low is None or interval.low - slack <= place, (value, interval)
        assert interval.high is None or place <= interval.high + slack, (value, interval)


def _typed(connection: duckdb.DuckDBPyConnection, emitted: exp.Expr) -> set[str]:
    return {
        row[0]
        for row in connection.execute(
            f"SELECT typeof({emitted.sql(dialect='duckdb')}) FROM t"
        ).fetchall()
    }


def _place(value: object) -> Fraction:
    match value:
        case bool():
            return Fraction(value)
        case str():
            return Fraction(len(value))
        case date():
            return as_number(value)
        case _:
            assert isinstance(value, int | float)
            return Fraction(value)


@pytest.mark.parametrize(
    "text",
    [
        "COALESCE(i, 0) + 1",
        "COALESCE(x, 1) * 2",
        "YEAR(COALESCE(d, DATE '2020-01-01'))",
        "SQRT(ABS(COALESCE(x, 1)))",
    ],
)
def test_what_is_never_null_is_known(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    expression = read(text)
    assert not is_nullable(expression)
    assert connection.execute(
        f"SELECT count(*) FROM t WHERE ({_emitted(expression)}) IS NULL"
    ).fetchone() == (0,)
