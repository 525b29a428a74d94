"""Charts and queries of BI tools, captured or written in their shapes,
on dpsql and on a real PostgreSQL.

Both answer with the same names, types and numbers of rows; where they differ,
the reason stands here.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from reference import postgresql
from servers import Certificates, dpsql_server
from shop_data import generate

from dpsql.schema import load

_SHOP = Path(__file__).with_name("shop")
_OID = {
    16: "bool",
    20: "int8",
    21: "int2",
    23: "int4",
    25: "text",
    700: "float4",
    701: "float8",
    1082: "date",
    1114: "timestamp",
    1184: "timestamptz",
    1700: "numeric",
}
#: PostgreSQL's type, dpsql's: DuckDB's averages are doubles,
#: and sums of whole numbers are as wide #: as they may be.
_OTHER_TYPES = {
    (
        "numeric",
        "float8",
    ): "averages of whole numbers and decimals, and their quotients, are doubles in DuckDB",
    ("float8", "numeric"): "a quantile of decimals is a decimal in DuckDB",
    ("int8", "numeric"): "a sum of whole numbers is a HUGEINT in DuckDB",
    ("int4", "int8"): "whole numbers are BIGINT here",
}
_PEOPLE = "rows of single people"
#: Statements that dpsql refuses, and why.
_REFUSED = {
    "superset 65 phys:samples": _PEOPLE,
    "superset 94 virt:samples": _PEOPLE,
    "superset 97 sqllab:select_star": _PEOPLE,
}
_SHAPE = "one row of single people, by which a tool learns columns, is no row"
_RARE = "keys that few people have stay below the threshold"
_LISTED = "keys that the schema lists appear with rows or without"
#: Statements whose number of rows differs, and why.
_OTHER_ROWS = {
    "superset 36 create_dataset:v_orders_realpg": _SHAPE,
    "jdbc 5": _SHAPE,
    "superset 41 phys:time_grain_PT1S": _RARE,
    "superset 42 phys:time_grain_PT1H": _RARE,
    "superset 70 virt:time_grain_PT1S": _RARE,
    "superset 71 virt:time_grain_PT1H": _RARE,
    "superset 55 phys:raw_rows(samples)": _RARE,
    "superset 84 virt:raw_rows(samples)": _RARE,
    "superset 51 phys:filters_notin_temporal": _LISTED,
    "superset 80 virt:filters_notin_temporal": _LISTED,
    "superset 102 sqllab:estimate": "the price and the noise, in the place of a plan",
}


@dataclass(frozen=True)
class Asked:
    """A statement under its name."""

    name: str
    text: str


def asked() -> list[Asked]:
    found = []
    for file in ("charts.sql", "tools.sql"):
        for block in re.split(
            r"(?m)^-- (?=[^\n]*\n(?:SELECT|WITH|EXPLAIN|select))", (_SHOP / file).read_text()
        )[1:]:
            name, _, text = block.partition("\n")
            found.append(Asked(name, text.strip().removesuffix(";")))
    return found


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop")
    generate(folder / "data")
    return Path(shutil.copy(_SHOP / "shop.toml", folder))


@pytest.fixture(scope="module")
def private_shop(shop: Path, tls: Certificates) -> Iterator[psycopg.Connection]:
    with (
        dpsql_server(shop, tls) as server,
        psycopg.connect(server.libpq(), autocommit=True) as connection,
    ):
        yield connection


@pytest.fixture(scope="module")
def public_shop(shop: Path) -> Iterator[psycopg.Connection]:
    with (
        postgresql(load(shop), shop.parent / "data") as server,
        psycopg.connect(server.libpq(), autocommit=True) as connection,
    ):
        yield connection


@dataclass(frozen=True)
class Seen:
    """Names and types of the columns, and how many rows."""

    columns: list[tuple[str, str]]
    rows: int


def seen(connection: psycopg.Connection, text: str) -> Seen:
    cursor = connection.execute(text.encode())
    columns = [
        (each.name, _OID.get(each.type_code, str(each.type_code)))
        for each in cursor.description or ()
    ]
    return Seen(columns, len(cursor.fetchall()))


@pytest.mark.parametrize("statement", asked(), ids=lambda each: each.name)
def test_a_chart(
    private_shop: psycopg.Connection, public_shop: psycopg.Connection, statement: Asked
) -> None:
    expected = seen(public_shop, statement.text)
    if statement.name in _REFUSED:
        with pytest.raises(psycopg.DatabaseError) as raised:
            seen(private_shop, statement.text)
        assert raised.value.sqlstate == "42501", _REFUSED[statement.name]
        return
    found = seen(private_shop, statement.text)
    assert [name for name, _ in found.columns] == [name for name, _ in expected.columns]
    for (name, own), (_, theirs) in zip(found.columns, expected.columns, strict=True):
        assert own == theirs or (theirs, own) in _OTHER_TYPES, f"{name} is {own}, not {theirs}"
    assert (found.rows == expected.rows) != (statement.name in _OTHER_ROWS), (
        f"{found.rows} rows, not {expected.rows}"
    )
