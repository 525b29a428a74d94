"""What the catalogue says of the schema file: tables, keys, numbers, settings and functions."""

from __future__ import annotations

from datetime import UTC

import psycopg
from asked import values_of

from dpsql.schema import Schema
from dpsql.server.catalogue import Catalogue, ObjectName
from dpsql.server.catalogue.default_settings import DEFAULTS
from dpsql.server.catalogue.store.catalogue_store import CatalogueStore


def test_series_are_as_postgresql_has_them(catalogue: Catalogue) -> None:
    for arguments, expected in (
        ("1, 3", [1, 2, 3]),
        ("3, 1, -1", [3, 2, 1]),
        ("3, 1", []),
        ("0, 10, 5", [0, 5, 10]),
    ):
        rows = catalogue.run(f"SELECT generate_series({arguments}), version()").rows
        assert [row[0] for row in rows] == expected


def test_it_says_what_the_schema_file_says(catalogue: Catalogue) -> None:
    tables = values_of(
        catalogue,
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 2200 ORDER BY 1",
    )
    assert tables == ["customers", "order_totals", "orders", "visits"]
    assert values_of(catalogue, "SELECT obj_description('orders'::regclass, 'pg_class')") == [
        "customer orders"
    ]
    assert values_of(catalogue, "SELECT obj_description('public.orders'::regclass)") == [
        "customer orders"
    ]
    assert values_of(catalogue, "SELECT col_description('customers'::regclass, 3)") == ["Years"]
    assert values_of(
        catalogue, "SELECT shobj_description(oid, 'pg_database') FROM pg_database"
    ) == ["A shop"]
    assert catalogue.run(
        "SELECT column_name, data_type, numeric_precision, numeric_scale, is_nullable "
        "FROM information_schema.columns WHERE table_name = 'orders' AND ordinal_position IN (1, 5, 7) ORDER BY 1"
    ).rows == (
        ("amount", "numeric", 12, 2, "YES"),
        ("created_at", "timestamp without time zone", None, None, "YES"),
        ("id", "bigint", 64, 0, "NO"),
    )
    assert (
        values_of(
            catalogue,
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f' ORDER BY 1",
        )
        == ["FOREIGN KEY (customer_id) REFERENCES customers(id)"] * 2
    )


def test_keys_are_those_that_the_schema_declares(catalogue: Catalogue, schema: Schema) -> None:
    shown = catalogue.run(
        "SELECT conrelid::regclass::text, contype::text, pg_get_constraintdef(oid) FROM pg_constraint "
        "WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2, 3"
    )
    declared = [
        (name, "p", f"PRIMARY KEY ({', '.join(table.key)})")
        for name, table in schema.tables.items()
        if table.key
    ]
    for name, table in schema.tables.items():
        for column, target in table.references.items():
            parent, _, key = target.partition(".")
            declared.append((name, "f", f"FOREIGN KEY ({column}) REFERENCES {parent}({key})"))
            assert schema.tables[parent].key == (key,)
    assert sorted(shown.rows) == sorted(declared)
    assert any(table.key is None for table in schema.tables.values()), (
        "a table without a key is among them"
    )
    indexed = values_of(
        catalogue, "SELECT tablename FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"
    )
    assert indexed == sorted(name for name, table in schema.tables.items() if table.key)


def test_rows_and_sizes_are_constants(catalogue: Catalogue) -> None:
    counted = (
        "SELECT reltuples, relpages, pg_total_relation_size(oid), pg_relation_size(oid) FROM pg_class "
        "WHERE relnamespace = 2200 AND relkind = 'r'"
    )
    assert set(catalogue.run(counted).rows) == {(-1.0, 0, 0, 0)}
    assert set(values_of(catalogue, "SELECT n_live_tup FROM pg_stat_user_tables")) == {0}
    assert set(values_of(catalogue, "SELECT heap_blks_read FROM pg_statio_user_tables")) == {0}
    assert values_of(catalogue, "SELECT pg_size_pretty(pg_database_size('demo'))") == ["0 bytes"]


def test_numbers_of_objects_depend_on_their_names_alone(schema: Schema) -> None:
    fewer = schema.model_copy(
        update={"tables": {name: schema.tables[name] for name in ("customers", "orders")}}
    )
    first, second = CatalogueStore(schema, "demo"), CatalogueStore(fewer, "demo")
    try:
        for written in ("customers", "orders", "orders_pkey"):
            assert first.find("regclass", written) == second.find("regclass", written) is not None
        assert second.find("regclass", "visits") is None
    finally:
        first.close()
        second.close()


def test_today_may_be_asked_together_with_the_catalogue(catalogue: Catalogue) -> None:
    answer = catalogue.run(
        "SELECT now(), current_timestamp, localtimestamp, current_date, pg_client_encoding()"
    )
    assert [column.oid for column in answer.columns] == [1184, 1184, 1114, 1082, 19]
    ((now, moment, here, today, encoding),) = answer.rows
    assert now == moment == here.replace(tzinfo=UTC) and today == here.date() and encoding == "UTF8"
    assert values_of(catalogue, "SELECT current_setting('nosuch', true)") == [None]


def test_settings_of_the_session_come_first(schema: Schema) -> None:
    assigned: dict[str, str] = {}
    session = {"timezone": "Europe/Berlin", "application_name": "it's mine"}
    seen = Catalogue(
        schema, database="demo", user="ada", settings=session, assign=assigned.__setitem__
    )
    assert seen.run("SHOW TIME ZONE").rows == (("Europe/Berlin",),)
    assert values_of(seen, "SELECT current_setting('TimeZone')") == ["Europe/Berlin"]
    assert values_of(seen, "SELECT setting FROM pg_settings WHERE name = 'application_name'") == [
        "it's mine"
    ]
    assert values_of(seen, "SELECT set_config($1, $2, false)", ["JIT", "on"]) == ["on"]
    assert assigned == {"jit": "on"}
    assert values_of(seen, "SELECT current_user") == ["ada"]
    assert values_of(seen, "SELECT usename FROM pg_user ORDER BY 1") == ["ada", "dpsql"]
    assert values_of(
        seen, "SELECT pg_get_userbyid(oid) FROM pg_roles WHERE rolname = current_user"
    ) == ["ada"]
    (moment,) = values_of(seen, "SELECT now()")
    assert moment.tzinfo is not None
    assert seen.run("SHOW server_version").rows[0][0].startswith("15")


def test_settings_with_units_are_told_as_postgresql_tells_them(
    schema: Schema, postgres: psycopg.Connection
) -> None:
    """SHOW and ``current_setting`` with the unit, ``pg_settings`` without;
    which has what PostgreSQL lists there.
    """
    ours = Catalogue(
        schema,
        database="demo",
        user="ada",
        settings={"statement_timeout": "5000", "work_mem": "8192"},
    )
    names = "statement_timeout work_mem segment_size lock_timeout log_min_duration_statement max_connections".split()
    told = "SELECT " + ", ".join(f"current_setting('{name}')" for name in names)
    listed = (
        "SELECT name, setting, unit FROM pg_settings WHERE name IN ('"
        + "', '".join(names)
        + "') ORDER BY name"
    )
    with postgres.transaction(force_rollback=True):
        postgres.execute("SET LOCAL statement_timeout = '5s'; SET LOCAL work_mem = '8MB'")
        assert ours.run(told).rows == tuple(postgres.execute(told))
        assert ours.run(listed).rows == tuple(postgres.execute(listed))
        for name in names:
            assert ours.run(f"SHOW {name}").rows == tuple(postgres.execute(f"SHOW {name}"))
    everything = {name.lower() for name in values_of(ours, "SELECT name FROM pg_settings")}
    unlisted = set(DEFAULTS) - everything
    assert unlisted == {"is_superuser", "role", "ssl_renegotiation_limit"}
    for name in unlisted:  # PostgreSQL lists none of them either
        assert (
            postgres.execute("SELECT name FROM pg_settings WHERE name = %s", [name]).fetchone()
            is None
        )


def test_values_are_ready_for_the_wire(catalogue: Catalogue) -> None:
    answer = catalogue.run(
        "SELECT conrelid::regclass, indkey, conkey, 'int4'::regtype, typinput, relname, relkind, oid "
        "FROM (SELECT con.conrelid, i.indkey, con.conkey, t.typinput, c.relname, c.relkind, c.oid "
        "FROM pg_constraint con JOIN pg_index i ON i.indexrelid = con.conindid JOIN pg_class c ON c.oid = con.conrelid "
        "JOIN pg_type t ON t.typname = 'bool' WHERE con.conname = 'orders_pkey') x"
    )
    assert [column.oid for column in answer.columns] == [2205, 22, 1005, 2206, 24, 19, 18, 26]
    (row,) = answer.rows
    assert row[:7] == ("orders", [1], [1], "integer", "boolin", "orders", "r")
    assert isinstance(row[0], ObjectName) and row[0].oid == row[7] == row[0].__index__()


def test_functions_are_those_that_statements_may_call(catalogue: Catalogue) -> None:
    names = set(values_of(catalogue, "SELECT proname FROM pg_proc"))
    assert {"avg", "percentile_cont", "date_trunc", "median"} <= names
    assert not {"pg_read_file", "pg_sleep", "lo_import", "dblink"} & names


def test_definitions_of_keys_are_there_however_they_are_called(schema: Schema) -> None:
    for text in (
        "SELECT PG_GET_INDEXDEF(indexrelid) FROM pg_index WHERE indrelid = 'orders'::regclass",
        "SELECT indexdef FROM pg_indexes WHERE tablename = 'orders'",
        "SELECT Pg_Catalog.Pg_Get_ConstraintDef(oid) FROM pg_constraint WHERE conrelid = 'orders'::regclass",
    ):
        fresh = Catalogue(schema, database=f"fresh for {text}", user="ada")
        found = values_of(fresh, text)
        assert found and all(isinstance(each, str) and "(" in each for each in found), text
