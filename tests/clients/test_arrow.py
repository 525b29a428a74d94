"""ADBC, connectorx, pandas and polars: answers as data frames."""

from __future__ import annotations

import adbc_driver_postgresql.dbapi
import connectorx
import pandas
import polars
import psycopg
import pyarrow
import sqlalchemy
from client_statements import COLUMNS, TESTS, count, counts, every_type, near
from servers import Server


def test_adbc_reads_arrow_by_binary_copy(server: Server) -> None:
    with (
        adbc_driver_postgresql.dbapi.connect(server.url()) as connection,
        connection.cursor() as cursor,
    ):
        with server.charges(1):
            cursor.execute(every_type(server.fresh()))
            table = cursor.fetch_arrow_table()
        assert table.column_names == list(COLUMNS)
        assert table.schema.field("n").type == pyarrow.int64()
        assert table.schema.field("day").type == pyarrow.date32()
        assert table.column("sex").to_pylist() == [False, True]
        assert table.column("nothing").null_count == 2


def test_adbc_parameters_and_objects(server: Server) -> None:
    with (
        adbc_driver_postgresql.dbapi.connect(server.url()) as connection,
        connection.cursor() as cursor,
    ):
        with server.charges(1):
            cursor.execute(
                "SELECT COUNT(*) AS n FROM patients WHERE followup_days >= $1",
                (-server.fresh() - 20_000,),
            )
            assert near(cursor.fetchone()[0])
        with server.charges(0):
            found = (
                connection.adbc_get_objects(depth="columns", db_schema_filter="public")
                .read_all()
                .to_pylist()
            )
            schema = connection.adbc_get_table_schema("patients", db_schema_filter="public")
    tables = [
        table
        for catalog in found
        for each in catalog["catalog_db_schemas"] or ()
        for table in each["db_schema_tables"]
    ]
    assert {table["table_name"] for table in tables} >= {
        "patients",
        "labs",
        "diagnoses",
        "conditions",
    }
    assert schema.names[:3] == ["patient_id", "age", "male"]


def test_adbc_parameters_are_texts(server: Server) -> None:
    """ADBC asks for the types in no order,
    and may take that of the names of cursors for that of texts.
    """
    with (
        adbc_driver_postgresql.dbapi.connect(server.url()) as connection,
        connection.cursor() as cursor,
    ):
        with server.charges(1):
            few = (
                f"SELECT COUNT(*) AS n FROM labs WHERE test = $1 AND day > {-8000 - server.fresh()}"
            )
            cursor.execute(few, ("hdl",))
            assert 30_000 < cursor.fetchone()[0] < 500_000
        with server.charges(0):
            cursor.execute("SELECT name FROM conditions WHERE diagnosis = $1", ("htn",))
            assert len(cursor.fetchall()) == 1


def test_connectorx(server: Server) -> None:
    for protocol in ("binary", "csv", "cursor", "simple"):
        with server.charges(1):
            frame = connectorx.read_sql(server.url(), counts(server.fresh()), protocol=protocol)
        assert list(frame["test"]) == list(TESTS), protocol
        assert frame["n"].min() > 1000


def test_pandas_reads_through_sqlalchemy(server: Server) -> None:
    engine = sqlalchemy.create_engine(server.url("postgresql+psycopg"))
    with server.charges(1), engine.connect() as connection:
        frame = pandas.read_sql(every_type(server.fresh()), connection)
    assert list(frame.columns) == list(COLUMNS) and len(frame) == 2
    assert frame["n"].dtype == "int64" and frame["age"].dtype == "float64"
    with server.charges(1), engine.connect() as connection:
        text = sqlalchemy.text("SELECT COUNT(*) AS n FROM patients WHERE followup_days >= :least")
        parts = list(
            pandas.read_sql(
                text, connection, params={"least": -server.fresh() - 30_000}, chunksize=10
            )
        )
    assert near(int(parts[0]["n"][0]))


def test_polars_reads_from_each(server: Server) -> None:
    with server.charges(1), psycopg.connect(server.libpq()) as connection:
        frame = polars.read_database(counts(server.fresh()), connection)
    assert frame["test"].to_list() == list(TESTS)
    with server.charges(1):
        frame = polars.read_database_uri(count(server.fresh()), server.url(), engine="adbc")
    assert near(frame["n"][0])
