"""No function of the allow-list fails on any value:
every combination of argument types over a pool of nasty ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlglot import exp

from dpsql.schema import SqlType
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.emit.scalar import double, key, native
from dpsql.sql.functions import FUNCTIONS
from dpsql.sql.functions.call import call, castable, is_double
from dpsql.sql.functions.datetimes import BUCKETS
from dpsql.sql.functions.signature import Function
from dpsql.sql.ir.expression import (
    BOOLEAN,
    INTEGER,
    TEXT,
    Call,
    Cast,
    ColumnRef,
    Expression,
    Literal,
    columns,
)

_DOUBLES = (
    "nan",
    "inf",
    "-inf",
    "-0.0",
    "0",
    "1",
    "-1",
    "0.5",
    "1e308",
    "-1e308",
    "1.7976931348623157e308",
    "5e-324",
    "-1e-320",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "2.5",
    "-2.5",
    "710",
    "1e19",
    "-7",
)
_FLOATS = ("nan", "inf", "-0.0", "3e38", "1e-45")
_INTEGERS = (
    "9223372036854775807",
    "-9223372036854775808",
    "0",
    "1",
    "-1",
    "9007199254740993",
    "64",
    "63",
    "2147483648",
    "-2147483649",
    "7",
    "12",
    "9999",
    "-9999",
    "1000001",
    "500000",
    "-999999",
)
_SMALL = ("127", "-128", "0", "1", "-1", "7")
_WIDE = (
    "99999999999999999999999999999999.999999",
    "-99999999999999999999999999999999.999999",
    "0",
    "0.000001",
    "-1.5",
    "2.5",
)
_TEXTS = (
    "''",
    "'a'",
    "'A b'",
    "'Ä'",
    "'e' || chr(769)",
    "chr(128512)",
    "'x%_\\'",
    "'1e400'",
    "'ss'",
    "chr(0)",
    "'a' || chr(0)",
    "'%'",
    "'infinity'",
    "'2020-02-30'",
    "'9223372036854775808'",
    "' 1 '",
    "repeat('aB', 40000)",
    "repeat('%', 60)",
    "'(['",
    "chr(65533)",
    "'NaN'",
    "'-0'",
    "'1970-01-01 00:00:00'",
    "'290309-12-22 (BC) 00:00:00'",
)
_DATES = (
    "infinity",
    "-infinity",
    "4714-01-01 (BC)",
    "5881580-07-10",
    "0001-01-01",
    "0001-12-31 (BC)",
    "9999-12-31",
    "9999-12-30",
    "2020-02-29",
    "1970-01-01",
    "0100-03-01",
    "10000-01-01",
)
_MOMENTS = (
    "infinity",
    "-infinity",
    "290309-12-22 (BC) 00:00:00",
    "294247-01-10 04:00:54.775806",
    "1969-12-31 23:59:59.999999",
    "0001-01-01 00:00:00",
    "9999-12-30 23:59:59.999999",
    "9999-12-31 23:59:59.999999",
    "2020-02-29 12:00:00",
)


def _quoted(*values: str) -> tuple[str, ...]:
    return tuple(f"'{value}'" for value in values)


#: For each kind of column its engine types and the values of it.
POOL: dict[SqlType, dict[str, tuple[str, ...]]] = {
    SqlType("double"): {"DOUBLE": _quoted(*_DOUBLES), "FLOAT": _quoted(*_FLOATS)},
    INTEGER: {
        "BIGINT": _INTEGERS,
        "TINYINT": _SMALL,
        "INTEGER": ("2147483647", "-2147483648", *_SMALL),
    },
    SqlType("decimal", 38, 6): {"DECIMAL(38,6)": _WIDE},
    SqlType("decimal", 12, 2): {
        "DECIMAL(12,2)": ("9999999999.99", "-9999999999.99", "0", "0.01", "-0.5", "2.35")
    },
    TEXT: {"VARCHAR": _TEXTS},
    SqlType("date"): {"DATE": _quoted(*_DATES)},
    SqlType("timestamp"): {"TIMESTAMP": _quoted(*_MOMENTS)},
    BOOLEAN: {"BOOLEAN": ("true", "false")},
}
TABLES = {
    f"c{place}": each
    for place, each in enumerate(
        (sql_type, engine, values)
        for sql_type, engines in POOL.items()
        for engine, values in engines.items()
    )
}
_KINDS = {
    "number": ("integer", "decimal", "double"),
    "integer": ("integer",),
    "text": ("text",),
    "temporal": ("date", "timestamp"),
    "boolean": ("boolean",),
    "any": ("boolean", "integer", "decimal", "double", "text", "date", "timestamp"),
}
_CONSTANTS = {
    "constant": (0, 1, -1, 2, 19, -1_000_000, 1_000_000),
    "amount": (1, -1_000_000, 10**12),
    "size": (0, 7, 1000),
}
#: What the constants of some functions must be, by their place,
#: as they are when a statement is #: read.
_WORDS: dict[str, tuple[tuple[str | int, ...], ...]] = {
    "strftime": (("%Y-%m-%d %H:%M:%S", "%j %b %A %p %I %f %u %G %V"),),
    "strptime": (("%Y-%m-%d", "%d/%m/%y %H:%M"),),
    "like escape": (("a!%b", "!!_"), ("!",)),
    "ilike escape": (("a!%b", "!!_"), ("!",)),
    "regexp_matches": (("(?i)(a|b)+c*", "[^0-9]{2,3}", ""),),
    "regexp_full_match": (("(a|b)+c*", "[^0-9]{2,3}", ""),),
    "regexp_extract": (("(a|b)+c*", "()x?"), (0, 1)),
    "regexp_replace": (("(a|b)+c*", ""), ("",), ("g",)),
    "replace": (("ab", "%%"), ("", "A")),
    "translate": (("ab", "%a"), ("", "A")),
    **{f"time_bucket {unit}": ((1, 7, 1_000_000),) for unit in BUCKETS},
}


#: Microseconds below the least timestamp that the engine would write itself:
#: other writers of #: Parquet have these.
_BEYOND = (-(2**63), 1 - 2**63, -9223372022400000001)


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """One table for each column, so that the engine keeps statistics of each."""
    beyond = tmp_path_factory.mktemp("beyond") / "moments.parquet"
    pq.write_table(pa.table({"x": pa.array(_BEYOND, pa.timestamp("us"))}), beyond)
    with duckdb.connect(config={"threads": 1}) as opened:
        if opened.execute(
            "FROM duckdb_settings() WHERE name = 'error_on_division_by_zero'"
        ).fetchone():
            opened.execute("SET error_on_division_by_zero = false")
        for name, (_, engine, values) in TABLES.items():
            opened.execute(f"CREATE TABLE {name} (x {engine})")
            opened.execute(
                f"INSERT INTO {name} VALUES {', '.join(f'({value})' for value in (*values, 'NULL'))}"
            )
            if engine == "TIMESTAMP":
                opened.execute(f"INSERT INTO {name} FROM '{beyond}'")
        yield opened


def _columns(place: int, *kinds: str) -> list[Expression]:
    """A column of each table of these kinds, which no other argument reads."""
    return [
        ColumnRef(f"{name} {place}", "x", each[0])
        for name, each in TABLES.items()
        if each[0].kind in kinds
    ]


def _options(name: str, kind: str, place: int) -> list[Expression]:
    if kind in _KINDS:
        return _columns(place, *_KINDS[kind])
    words: tuple[str | int, ...] = (
        _WORDS[name][place - 1] if name in _WORDS else _CONSTANTS.get(kind, ("ab", "A", "%"))
    )
    return [Literal(word, TEXT if isinstance(word, str) else INTEGER) for word in words]


def _calls(name: str, entry: Function) -> Iterator[Call]:
    most = len(entry.parameters)
    for count in range(most - entry.optional, most + 1):
        kinds = entry.kinds(count)
        for arguments in product(
            *(_options(name, kind, place) for place, kind in enumerate(kinds))
        ):
            families = {
                _family(each.type)
                for each, kind in zip(arguments, kinds, strict=True)
                if kind == "any"
            }
            if len(families) > 1 or (
                name in ("round decimal", "trunc decimal") and not _is_scaled(arguments)
            ):
                continue
            made = call(name, list(arguments), exp.Null())
            assert isinstance(made, Call)
            yield made


def _is_scaled(arguments: tuple[Expression, ...]) -> bool:
    scale, digits = (each.value for each in arguments[1:] if isinstance(each, Literal))
    assert isinstance(scale, int) and isinstance(digits, int)
    return scale == (arguments[0].type.scale or 0) and abs(digits) <= 30


def _family(sql_type: SqlType) -> str:
    return "number" if sql_type.is_numeric else "moment" if sql_type.is_temporal else sql_type.kind


def _source(*expressions: Expression) -> str:
    """The tables that the expressions read, each under the name that they have for it."""
    relations = dict.fromkeys(
        column.relation for expression in expressions for column in columns(expression)
    )
    return ", ".join(f'{relation.split()[0]} AS "{relation}"' for relation in relations)


def _run(connection: duckdb.DuckDBPyConnection, expression: Expression) -> None:
    """The expression as a value, as a key, under an aggregate, and in WHERE."""
    value = native(DUCKDB, expression).sql(dialect="duckdb")
    keyed = key(DUCKDB, expression).sql(dialect="duckdb")
    source = _source(expression)
    types = connection.execute(
        f"SELECT DISTINCT typeof({value}), typeof({keyed}) FROM {source}"
    ).fetchall()
    engine = DUCKDB.type_name(expression.type).upper()
    assert len(types) == 1 and types[0][1] == engine
    wanted = {"DOUBLE"} if is_double(expression) else {engine}
    if expression.type.kind == "integer" and not is_double(expression):
        wanted |= {"TINYINT", "SMALLINT", "INTEGER", "HUGEINT"}
    assert types[0][0] in wanted, (types, wanted)
    measured = (
        double(DUCKDB, expression).sql(dialect="duckdb") if expression.type.is_numeric else value
    )
    connection.execute(
        f"SELECT max({keyed}), count({measured}) FROM {source} WHERE ({value}) IS NOT NULL"
    ).fetchall()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_never_fails(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    ran = 0
    for expression in _calls(name, FUNCTIONS[name]):
        _run(connection, expression)
        ran += 1
    assert ran > 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nothing_fails_within_try(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """What fails there is computed once more row by row,
    for all rows that the engine has at hand: it takes longer.
    """
    ran = 0
    for expression in _calls(name, FUNCTIONS[name]):
        value = re.sub(r"\bTRY\(", "(", native(DUCKDB, expression).sql(dialect="duckdb"))
        connection.execute(f"SELECT count({value}) FROM {_source(expression)}").fetchall()
        ran += 1
    assert ran > 0


TOGETHER = {name: entry for name, entry in FUNCTIONS.items() if name != "nullif"}


@pytest.mark.parametrize(
    "kinds", sorted({entry.parameters for entry in TOGETHER.values()}), ids="-".join
)
def test_functions_of_the_same_arguments_never_fail_together(
    connection: duckdb.DuckDBPyConnection, kinds: tuple[str, ...]
) -> None:
    """The engine computes what expressions share only once, and outside TRY."""
    together: dict[tuple[Expression, ...], list[str]] = {}
    for name, entry in TOGETHER.items():
        if entry.parameters == kinds:
            for expression in _calls(name, entry):
                shared = tuple(dict.fromkeys(columns(expression)))
                together.setdefault(shared, []).append(
                    native(DUCKDB, expression).sql(dialect="duckdb")
                )
    assert together
    for shared, values in together.items():
        source = _source(*shared)
        rows = connection.execute(
            f"SELECT {', '.join(f'max({value})' for value in values)} FROM {source}"
        ).fetchall()
        assert [len(row) for row in rows] == [len(values)], shared


TARGETS = [
    BOOLEAN,
    INTEGER,
    SqlType("double"),
    TEXT,
    SqlType("date"),
    SqlType("timestamp"),
    SqlType("decimal", 10, 2),
    SqlType("decimal", 38, 0),
]


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_a_cast_never_fails(connection: duckdb.DuckDBPyConnection, target: SqlType) -> None:
    taken = [column for column in _columns(0, *_KINDS["any"]) if castable(column.type, target)]
    assert {target.kind, "text"} <= {column.type.kind for column in taken}
    for column in taken:
        _run(connection, Cast(column, target))
        if column.type.is_numeric:
            _run(connection, Cast(call("+", [column, column], exp.Null()), target))
