"""Every type has all its facts, and its values are the same after each way that they travel."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import pyarrow as pa
import pytest
from sqlalchemy import types as sqlalchemy_types
from sqlglot import exp

from dpsql.dbapi import BINARY, DATETIME, NUMBER, STRING
from dpsql.dbapi.frames import arrow_table, columns_of, pandas_frame
from dpsql.engines.duckdb import row_encoding
from dpsql.planning.result_columns import RESULT_TYPES, end_type, result_type
from dpsql.schema import Column
from dpsql.schema.types import (
    ALIASES,
    STORED_FORMS,
    STORED_TYPES,
    TYPES,
    Kind,
    Scalar,
    SqlType,
    Stored,
    engine_kind,
    value_of,
)
from dpsql.server.catalogue.store.catalogue_types import OIDS, column_type
from dpsql.server.protocol import binary_format, postgres_types, text_format
from dpsql.server.protocol.postgres_types import by_name
from dpsql.session.answer_store import serialization
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.emit.scalar import literal_node
from dpsql.sql.ir import literal
from dpsql.sql.ir.canonical import canonical
from dpsql.sql.ir.expression import Literal
from dpsql.sql.ir.interval import as_number
from dpsql.sql.parser.parameter_types import read_value, stand_ins

NODE = exp.Null()
#: Of each type a value, and the text that a statement or a client may write for it.
SAMPLES: dict[Kind, list[tuple[Scalar, str]]] = {
    "boolean": [(True, "true"), (False, "false")],
    "integer": [(0, "0"), (-(2**63) + 1, str(-(2**63) + 1)), (2**63 - 1, str(2**63 - 1))],
    "decimal": [(Decimal("12.50"), "12.50"), (Decimal("-0.01"), "-0.01")],
    "double": [(0.1, "0.1"), (-1e300, "-1e300"), (1e-300, "1e-300")],
    "text": [("", ""), ("it's é 🜚", "it's é 🜚")],
    "date": [(date(2020, 2, 29), "2020-02-29"), (date.min, "0001-01-01"), (date.max, "9999-12-31")],
    "timestamp": [(datetime(2020, 2, 29, 12, 30, 0, 250_000), "2020-02-29 12:30:00.25")],
}
CASES = [(kind, value, text) for kind, samples in SAMPLES.items() for value, text in samples]


def type_of(kind: Kind) -> SqlType:
    return SqlType.parse("decimal(9,2)" if TYPES[kind].arguments == "digits" else kind)


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


def test_every_type_has_samples() -> None:
    assert set(SAMPLES) == set(TYPES) and all(SAMPLES.values())


@pytest.mark.parametrize("kind", TYPES)
def test_every_name_of_a_type_means_it_alone(kind: Kind) -> None:
    names = [name for name, meant in ALIASES.items() if meant == kind]
    assert set(names) == {kind, *TYPES[kind].spellings} and not set(names) & set(STORED_TYPES)
    assert {SqlType.parse(name.upper()).kind for name in names} == {kind}
    assert sum(facts.engine == TYPES[kind].engine for facts in TYPES.values()) == 1


def test_the_schema_page_lists_each_type_under_all_its_names() -> None:
    page = (Path(__file__).parents[2] / "docs" / "schema.md").read_text("utf-8")
    rows = re.findall(
        r"^\| `(\w+)(?:\(p,s\))?` \| ([\w, ]*)\|",
        page.partition("| type | also written |")[2],
        re.MULTILINE,
    )
    listed = {
        name: sorted(each.strip() for each in spellings.split(",") if each.strip())
        for name, spellings in rows
    }
    assert listed == {kind: sorted(facts.spellings) for kind, facts in TYPES.items()}


@pytest.mark.parametrize("kind", TYPES)
def test_the_engine_has_the_type_and_clients_are_told_of_it(
    kind: Kind, engine: duckdb.DuckDBPyConnection
) -> None:
    sql_type = type_of(kind)
    ((_, name, *_),) = (
        engine.execute(f"SELECT CAST(NULL AS {sql_type.engine_name}) AS x").description or []
    )
    assert str(name) == sql_type.engine_name.upper() and engine_kind(str(name)) == kind
    told = result_type(str(name))
    assert (
        told is not None and told.postgresql == column_type(sql_type)[0] and told.postgresql in OIDS
    )
    assert Stored.parse(str(name)) == Stored(sql_type) and SqlType.computed(str(name)) == sql_type
    assert issubclass(
        getattr(sqlalchemy_types, TYPES[kind].sqlalchemy), sqlalchemy_types.TypeEngine
    )
    assert {postgres_types.TYPES[each].name for each in TYPES[kind].parameters} == set(
        TYPES[kind].parameters
    )


@pytest.mark.parametrize(("kind", "value", "text"), CASES)
def test_a_literal_is_its_value(
    kind: Kind, value: Scalar, text: str, engine: duckdb.DuckDBPyConnection
) -> None:
    sql_type = type_of(kind)
    assert literal.as_type(Literal(text, SqlType("text")), sql_type, NODE) == Literal(
        value, sql_type
    )
    node = literal_node(DUCKDB, Literal(value, sql_type))
    sql = f"SELECT CAST({node.sql(dialect='duckdb')} AS {sql_type.engine_name})"
    assert engine.execute(sql).fetchall() == [(value,)]
    written = engine.execute(f"SELECT strlen(CAST(({sql[7:]}) AS VARCHAR))").fetchall()[0][0]
    if (ends := TYPES[kind].written) is not None:
        assert ends[0] <= written <= ends[1]
    if TYPES[kind].ends is not None:
        assert TYPES[kind].ends[0] <= value <= TYPES[kind].ends[1]  # type: ignore[index,operator]


@pytest.mark.parametrize(("kind", "value", "text"), CASES)
def test_a_parameter_is_its_value(kind: Kind, value: Scalar, text: str) -> None:
    sql_type = type_of(kind)
    name = sql_type.engine_name.upper()
    assert read_value(text, name) == value and type(read_value(text, name)) is type(value)
    assert [each for each in TYPES if TYPES[each].parameter(value) is not None] == [kind]
    found = literal.parameter(value, NODE)
    assert found.value == value and found.type.facts.family == sql_type.facts.family
    (first, second) = stand_ins((name, name), "x")
    assert type(first) is type(second) is type(value) and [
        TYPES[kind].parameter(each) for each in (first, second)
    ]


@pytest.mark.parametrize(("kind", "value", "text"), CASES)
def test_a_value_is_the_same_where_it_is_kept(kind: Kind, value: Scalar, text: str) -> None:
    plain = [[value, None], [[value]]]
    for column in plain:
        kept = serialization._column(column)  # type: ignore[arg-type]
        assert serialization._read_column(kept) == column
    rows: list[tuple[Any, ...]] = [(value, 1), (None, 2)]
    assert row_encoding.decode_rows(*row_encoding.written(rows)) == rows
    assert (json.dumps(canonical(value)) == json.dumps(canonical(text))) == (value == text)
    form = TYPES[kind].stored
    assert form is None or (type(value) is form.python and form.read(form.write(value)) == value)


@pytest.mark.parametrize(("kind", "value", "text"), CASES)
def test_a_value_is_the_same_on_the_wire_and_in_frames(
    kind: Kind, value: Scalar, text: str
) -> None:
    name = type_of(kind).engine_name.upper()
    wire = by_name(name)
    assert text_format.decode(wire, text_format.encoder(wire)(value).decode()) == value
    assert binary_format.decode(wire, binary_format.encoder(wire)(value)) == value
    columns = columns_of([("x", name)], [(value,)])
    assert arrow_table(columns)["x"].to_pylist() == [value]
    if not isinstance(value, date) or 1700 < value.year < 2200:
        assert len(pandas_frame(columns)["x"]) == 1


@pytest.mark.parametrize(("kind", "value", "text"), CASES)
def test_a_column_takes_the_value_as_it_declares(kind: Kind, value: Scalar, text: str) -> None:
    sql_type = type_of(kind)
    if kind == "double":
        with pytest.raises(ValueError, match="no key domain"):
            value_of(sql_type, value)
    else:
        assert Column(type=str(sql_type), values=[value]).values == (value,)
    if sql_type.facts.axis is None:
        with pytest.raises(ValueError, match="no bounds"):
            Column(type=str(sql_type), bounds=[value, value])
        return
    bound = sql_type.facts.bound(sql_type, value)
    assert sql_type.facts.at(as_number(bound)) == bound
    if sql_type.step is not None:
        assert (Fraction(value) / sql_type.step).denominator == 1  # type: ignore[arg-type]


def test_no_two_types_are_kept_in_one_form() -> None:
    assert (
        len({form.tag for form in STORED_FORMS})
        == len({form.python for form in STORED_FORMS})
        == len(STORED_FORMS)
    )
    assert not {form.tag for form in STORED_FORMS} & {"fraction", "map"}


@pytest.mark.parametrize("name", STORED_TYPES)
def test_a_stored_type_is_read_as_a_declared_one_or_refused(name: str) -> None:
    stored = STORED_TYPES[name]
    with pytest.raises(ValueError, match=stored.refusal):
        SqlType.parse(name)
    if stored.read_as is None:
        with pytest.raises(ValueError, match=stored.refusal):
            Stored.parse(name)
    else:
        found = Stored.parse("ENUM('a')" if name == "enum" else name)
        assert (found.type.kind, found.reading) == stored.read_as
    if stored.computed is not None:
        assert SqlType.computed(name) == SqlType.parse(stored.computed)


@pytest.mark.parametrize("name", RESULT_TYPES)
def test_every_type_of_a_result_has_its_place_with_every_client(name: str) -> None:
    told = RESULT_TYPES[name]
    assert postgres_types.TYPES[told.postgresql] == by_name(name)
    codes = {"STRING": STRING, "BINARY": BINARY, "NUMBER": NUMBER, "DATETIME": DATETIME}
    assert [code for code, known in codes.items() if name == known] == [
        each for each in (told.code,) if each
    ]
    if told.arrow is not None:
        assert isinstance(getattr(pa, told.arrow.function)(*told.arrow.arguments), pa.DataType)
    assert end_type(name) in (name, "DOUBLE")


#: A value of each scalar type of PostgreSQL.
WIRE: dict[str, object] = {
    "bool": True,
    "bytea": b"\x00a",
    "char": "c",
    "name": "n",
    "int8": 2**62,
    "int2": -7,
    "int4": 7,
    "regproc": 7,
    "text": "a,b",
    "oid": 7,
    "xid": 7,
    "json": '{"a": 1}',
    "pg_node_tree": "t",
    "float4": 0.5,
    "float8": 0.1,
    "unknown": "u",
    "bpchar": "b",
    "varchar": "v",
    "date": date(2020, 2, 29),
    "time": time(12, 30, 1, 5),
    "timestamp": datetime(2020, 2, 29, 1),
    "timestamptz": datetime(2020, 2, 29, 1, tzinfo=UTC),
    "interval": timedelta(days=2, seconds=3),
    "numeric": Decimal("1.50"),
    "regclass": 7,
    "regtype": 7,
    "uuid": UUID(int=7),
    "jsonb": '{"a": 1}',
    "regnamespace": 7,
    "regrole": 7,
}


def test_every_type_of_the_wire_has_both_codecs() -> None:
    assert (
        set(text_format.CODECS)
        == set(binary_format.CODECS)
        == set(postgres_types.TYPES)
        == {*WIRE, *("int2vector", "oidvector")}
    )
    assert all(
        postgres_types.by_oid(kind.oid) == kind and OIDS[name] == kind.oid
        for name, kind in postgres_types.TYPES.items()
    )


@pytest.mark.parametrize("name", WIRE)
def test_a_value_of_the_wire_is_the_same_in_both_formats(name: str) -> None:
    kind, value = postgres_types.TYPES[name], WIRE[name]
    written = text_format.encoder(kind)(value).decode()
    assert text_format.decode(kind, written) == (str(value) if name.startswith("reg") else value)
    assert binary_format.decode(kind, binary_format.encoder(kind)(value)) == value
