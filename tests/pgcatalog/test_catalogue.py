"""What the catalogue takes, what it says of the schema file, and how it refuses."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC
from typing import Any

import duckdb
import psycopg
import pytest

from dpsql.errors import DatabaseError, StatementError
from dpsql.pgcatalog import Catalogue, ObjectName
from dpsql.pgcatalog.build import build
from dpsql.pgcatalog.settings import DEFAULTS
from dpsql.pgcatalog.store import MOST, Store, store_of
from dpsql.schema import Schema


@pytest.mark.parametrize(
    "text",
    [
        "SELECT version()",
        "select pg_catalog.version()",
        "SHOW search_path",
        "show transaction isolation level",
        "SELECT current_user, now()",
        "SELECT relname FROM pg_class",
        "SELECT * FROM information_schema.tables",
        "WITH t AS (SELECT oid FROM pg_class) SELECT * FROM t",
        "SELECT 'orders'::regclass",
        "SELECT * FROM pg_catalog.nosuch",
        "SELECT pg_no_such_function()",
        "SELECT relname FROM pg_class WHERE (",
        "TABLE pg_catalog.pg_namespace",
        "/* a tool */ SELECT current_database()",
    ],
)
def test_it_takes_what_reads_the_catalogue_or_nothing(catalogue: Catalogue, text: str) -> None:
    assert catalogue.claims(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT count(*) FROM orders",
        "SELECT count(*) FROM public.orders",
        "SELECT count(*) FROM orders o JOIN pg_class c ON true",
        "WITH pg_class AS (SELECT 1 FROM orders) SELECT * FROM pg_class",
        "SELECT * FROM nosuch",
        "SELECT * FROM dpsql.budget",
        "SHOW dpsql.budget",
        "SET search_path = public",
        "SELECT median(1)",
        "SELECT 1",
        "VALUES (1, 2)",
        "SELECT upper('a'), 1 + 1",
        "INSERT INTO pg_class VALUES (1)",
        "DROP TABLE pg_class",
    ],
)
def test_it_leaves_everything_else(catalogue: Catalogue, text: str) -> None:
    assert not catalogue.claims(text)


@pytest.mark.parametrize(
    ("text", "sqlstate", "says"),
    [
        ("SELECT * FROM pg_catalog.nosuch", "42P01", 'relation "pg_catalog.nosuch" does not exist'),
        ("SELECT * FROM pg_no_such", "42P01", 'relation "pg_catalog.pg_no_such" does not exist'),
        ("SELECT 'nosuch'::regclass", "42P01", 'relation "nosuch" does not exist'),
        ("SELECT nosuch FROM pg_class", "42703", 'column "nosuch" does not exist'),
        ("SELECT c.nosuch FROM pg_class c", "42703", "does not exist"),
        ("SELECT pg_read_file('/etc/passwd')", "42883", "pg_read_file"),
        ("SELECT pg_sleep(100)", "42883", "pg_sleep"),
        ("SELECT getenv('HOME') FROM pg_class", "42883", "getenv"),
        ("SELECT * FROM pg_class, read_csv('/etc/passwd')", "42883", "read_csv"),
        ("SELECT relname FROM pg_class, duckdb_settings()", "42883", "duckdb_settings"),
        ("SELECT 1::nosuch FROM pg_class", "42804", 'type "nosuch" does not exist'),
        ("SELECT rolpassword FROM pg_authid", "0A000", "pg_authid"),
        ("SELECT * FROM pg_stats", "0A000", "pg_stats"),
        ("SELECT * FROM pg_stat_activity", "0A000", "pg_stat_activity"),
        ("SELECT relname FROM pg_class; SELECT 1", "42601", "one statement"),
        ("SELECT relname FROM pg_class WHERE (", "42601", "cannot be read"),
        ("SELECT relname ? FROM pg_class", "42601", "cannot be read"),
        ("SELECT relacl #> FROM pg_class", "42601", "cannot be read"),
        ("SELECT relname FROM pg_class FOR UPDATE", "0A000", "only read"),
        ("SHOW nosuch", "42704", 'unrecognized configuration parameter "nosuch"'),
        ("SELECT current_setting('nosuch')", "42704", 'unrecognized configuration parameter "nosuch"'),
        ("SELECT current_setting('no''such', false)", "42704", "unrecognized configuration parameter"),
    ],
)
def test_it_refuses_in_postgresqls_shape(catalogue: Catalogue, text: str, sqlstate: str, says: str) -> None:
    with pytest.raises(DatabaseError) as refused:
        catalogue.run(text)
    assert refused.value.sqlstate == sqlstate
    assert says in str(refused.value)


def test_what_is_refused_is_logged_for_the_owner(catalogue: Catalogue, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(StatementError):
        catalogue.run("SELECT * FROM pg_catalog.pg_from_the_future")
    assert "pg_from_the_future" in caplog.text


def test_the_log_has_neither_constants_nor_words_of_the_store(
    catalogue: Catalogue, caplog: pytest.LogCaptureFixture
) -> None:
    for text in (
        "SELECT relname + 1 FROM pg_class WHERE relname = 'Ada Lovelace'\n-- a forged line",
        "SELECT pg_no_such($$Ada Lovelace$$), E'Ada Lovelace', 13579",
        "SELECT pg_class FROM 'Ada Lovelace",
    ):
        with pytest.raises(StatementError):
            catalogue.run(text)
    for word in ("Ada", "13579", "forged", "Binder", "Candidate", "pgc."):
        assert word not in caplog.text
    assert all("\n" not in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT DISTINCT ON (oid) current_setting('home_directory') FROM pg_class",
        "SELECT DISTINCT ON (oid) getvariable('x') FROM pg_class",
        "SELECT relname OPERATOR(pg_catalog.~) md5_number_upper('x')::text FROM pg_class",
        "SELECT pg_backend_pid(), \u200bversion()",
        "SELECT DISTINCT ON (1) name\u200bFROM\u200bduckdb_settings() FROM pg_class",
        "SELECT pg_backend_pid() FROM pg_class WHERE now() > DATE '2020-01-01' + INTERVAL 1 day\u2060IS\u2060NULL",
        "SELECT overlay('a' placing current_setting('home_directory') from 1), pg_backend_pid()",
        "SELECT pg_backend_pid(), 1 BETWEEN SYMMETRIC getvariable('x') and 1",
        "SELECT * FROM pg_class, ONLY duckdb_settings()",
        "SELECT b.* FROM (WITH duckdb_tables AS (SELECT 1) SELECT 1) a, pg_am c, duckdb_tables b",
        "WITH duckdb_tables AS (SELECT * FROM duckdb_tables) SELECT * FROM duckdb_tables, pg_am",
        "WITH a AS (SELECT 1 FROM sqlite_master), sqlite_master AS (SELECT 1) SELECT * FROM sqlite_master, pg_class",
        "SELECT repeat('x', 4000000000), version()",
        "SELECT lpad('x', 4000000000, 'y'), version()",
        f"SELECT length(replace('a', 'a', '{'a' * 33}')), version()",
        "SELECT length(replace('a', 'a', (SELECT string_agg(relname, '') FROM pg_class)))",
        "SELECT replace(replace(replace(replace('a', 'a', 'aa'), 'a', 'aa'), 'a', 'aa'), 'a', 'aa'), version()",
        "SELECT generate_series(1, 1000000000000), version()",
        "SELECT generate_series(1000000000000, 1, -1), version()",
        "SELECT * FROM pg_class, generate_series(1, 1000000000)",
    ],
)
def test_nothing_but_the_catalogue_is_reached(catalogue: Catalogue, text: str) -> None:
    with pytest.raises(StatementError):
        catalogue.run(text)


def test_series_are_as_postgresql_has_them(catalogue: Catalogue) -> None:
    for arguments, expected in (("1, 3", [1, 2, 3]), ("3, 1, -1", [3, 2, 1]), ("3, 1", []), ("0, 10, 5", [0, 5, 10])):
        rows = catalogue.run(f"SELECT generate_series({arguments}), version()").rows
        assert [row[0] for row in rows] == expected


def test_errors_have_no_words_of_the_store(catalogue: Catalogue) -> None:
    for text in (
        "SELECT relname + 1 FROM pg_class",
        "SELECT CAST(relname AS integer) FROM pg_class",
        "SELECT sum(relname) FROM pg_class",
        "SELECT x.relname FROM pg_class",
        "SELECT relname FROM pg_class GROUP BY oid",
        "SELECT unnest(relname) FROM pg_class",
        "SELECT (SELECT oid FROM pg_class) FROM pg_class",
    ):
        with pytest.raises(DatabaseError) as refused:
            catalogue.run(text)
        for word in ("Binder", "Catalog", "Conversion", "duckdb", "LINE", "pgc", "Candidate", "Invalid"):
            assert word not in str(refused.value), text


def test_it_says_what_the_schema_file_says(catalogue: Catalogue) -> None:
    tables = _values(catalogue, "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 2200 ORDER BY 1")
    assert tables == ["customers", "order_totals", "orders", "visits"]
    assert _values(catalogue, "SELECT obj_description('orders'::regclass, 'pg_class')") == ["customer orders"]
    assert _values(catalogue, "SELECT obj_description('public.orders'::regclass)") == ["customer orders"]
    assert _values(catalogue, "SELECT col_description('customers'::regclass, 3)") == ["Years"]
    assert _values(catalogue, "SELECT shobj_description(oid, 'pg_database') FROM pg_database") == ["A shop"]
    assert catalogue.run(
        "SELECT column_name, data_type, numeric_precision, numeric_scale, is_nullable "
        "FROM information_schema.columns WHERE table_name = 'orders' AND ordinal_position IN (1, 5, 7) ORDER BY 1"
    ).rows == (
        ("amount", "numeric", 12, 2, "YES"),
        ("created_at", "timestamp without time zone", None, None, "YES"),
        ("id", "bigint", 64, 0, "NO"),
    )
    assert (
        _values(catalogue, "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f' ORDER BY 1")
        == ["FOREIGN KEY (customer_id) REFERENCES customers(id)"] * 2
    )


def test_keys_are_those_that_the_schema_declares(catalogue: Catalogue, schema: Schema) -> None:
    shown = catalogue.run(
        "SELECT conrelid::regclass::text, contype::text, pg_get_constraintdef(oid) FROM pg_constraint "
        "WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2, 3"
    )
    declared = [
        (name, "p", f"PRIMARY KEY ({', '.join(table.key)})") for name, table in schema.tables.items() if table.key
    ]
    for name, table in schema.tables.items():
        for column, target in table.references.items():
            parent, _, key = target.partition(".")
            declared.append((name, "f", f"FOREIGN KEY ({column}) REFERENCES {parent}({key})"))
            assert schema.tables[parent].key == (key,)
    assert sorted(shown.rows) == sorted(declared)
    assert any(table.key is None for table in schema.tables.values()), "a table without a key is among them"
    indexed = _values(catalogue, "SELECT tablename FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1")
    assert indexed == sorted(name for name, table in schema.tables.items() if table.key)


def test_rows_and_sizes_are_constants(catalogue: Catalogue) -> None:
    counted = (
        "SELECT reltuples, relpages, pg_total_relation_size(oid), pg_relation_size(oid) FROM pg_class "
        "WHERE relnamespace = 2200 AND relkind = 'r'"
    )
    assert set(catalogue.run(counted).rows) == {(-1.0, 0, 0, 0)}
    assert set(_values(catalogue, "SELECT n_live_tup FROM pg_stat_user_tables")) == {0}
    assert set(_values(catalogue, "SELECT heap_blks_read FROM pg_statio_user_tables")) == {0}
    assert _values(catalogue, "SELECT pg_size_pretty(pg_database_size('demo'))") == ["0 bytes"]


def test_numbers_of_objects_depend_on_their_names_alone(schema: Schema) -> None:
    fewer = schema.model_copy(update={"tables": {name: schema.tables[name] for name in ("customers", "orders")}})
    first, second = Store(schema, "demo"), Store(fewer, "demo")
    try:
        for written in ("customers", "orders", "orders_pkey"):
            assert first.find("regclass", written) == second.find("regclass", written) is not None
        assert second.find("regclass", "visits") is None
    finally:
        first.close()
        second.close()


def test_today_may_be_asked_together_with_the_catalogue(catalogue: Catalogue) -> None:
    answer = catalogue.run("SELECT now(), current_timestamp, localtimestamp, current_date, pg_client_encoding()")
    assert [column.oid for column in answer.columns] == [1184, 1184, 1114, 1082, 19]
    ((now, moment, here, today, encoding),) = answer.rows
    assert now == moment == here.replace(tzinfo=UTC) and today == here.date() and encoding == "UTF8"
    assert _values(catalogue, "SELECT current_setting('nosuch', true)") == [None]


def test_settings_of_the_session_come_first(schema: Schema) -> None:
    assigned: dict[str, str] = {}
    session = {"timezone": "Europe/Berlin", "application_name": "it's mine"}
    seen = Catalogue(schema, database="demo", user="ada", settings=session, assign=assigned.__setitem__)
    assert seen.run("SHOW TIME ZONE").rows == (("Europe/Berlin",),)
    assert _values(seen, "SELECT current_setting('TimeZone')") == ["Europe/Berlin"]
    assert _values(seen, "SELECT setting FROM pg_settings WHERE name = 'application_name'") == ["it's mine"]
    assert _values(seen, "SELECT set_config($1, $2, false)", ["JIT", "on"]) == ["on"]
    assert assigned == {"jit": "on"}
    assert _values(seen, "SELECT current_user") == ["ada"]
    assert _values(seen, "SELECT usename FROM pg_user ORDER BY 1") == ["ada", "dpsql"]
    assert _values(seen, "SELECT pg_get_userbyid(oid) FROM pg_roles WHERE rolname = current_user") == ["ada"]
    (moment,) = _values(seen, "SELECT now()")
    assert moment.tzinfo is not None
    assert seen.run("SHOW server_version").rows[0][0].startswith("15")


def test_settings_with_units_are_told_as_postgresql_tells_them(schema: Schema, postgres: psycopg.Connection) -> None:
    """SHOW and ``current_setting`` with the unit, ``pg_settings`` without; which has what PostgreSQL lists there."""
    ours = Catalogue(schema, database="demo", user="ada", settings={"statement_timeout": "5000", "work_mem": "8192"})
    names = "statement_timeout work_mem segment_size lock_timeout log_min_duration_statement max_connections".split()
    told = "SELECT " + ", ".join(f"current_setting('{name}')" for name in names)
    listed = "SELECT name, setting, unit FROM pg_settings WHERE name IN ('" + "', '".join(names) + "') ORDER BY name"
    with postgres.transaction(force_rollback=True):
        postgres.execute("SET LOCAL statement_timeout = '5s'; SET LOCAL work_mem = '8MB'")
        assert ours.run(told).rows == tuple(postgres.execute(told))
        assert ours.run(listed).rows == tuple(postgres.execute(listed))
        for name in names:
            assert ours.run(f"SHOW {name}").rows == tuple(postgres.execute(f"SHOW {name}"))
    everything = {name.lower() for name in _values(ours, "SELECT name FROM pg_settings")}
    unlisted = set(DEFAULTS) - everything
    assert unlisted == {"is_superuser", "role", "ssl_renegotiation_limit"}
    for name in unlisted:  # PostgreSQL lists none of them either
        assert postgres.execute("SELECT name FROM pg_settings WHERE name = %s", [name]).fetchone() is None


def test_nobody_sees_the_name_of_another(schema: Schema) -> None:
    """Nor their settings, whatever either of them asks."""
    asked = (
        "SELECT * FROM pg_roles",
        "SELECT * FROM pg_user",
        "SELECT current_user, session_user, current_setting('application_name')",
        "SELECT name, setting FROM pg_settings",
        "SELECT * FROM information_schema.table_privileges",
        "SHOW application_name",
    )
    grace = Catalogue(schema, database="demo", user="grace", settings={"application_name": "grace's notebook"})
    ada = Catalogue(schema, database="demo", user="ada", settings={"application_name": "ada's"})
    assert all("grace" in str(grace.run(text).rows) for text in asked if "privileges" not in text)
    for text in asked:
        assert "grace" not in str(ada.run(text).rows), text


def test_the_store_itself_opens_no_file(schema: Schema) -> None:
    """What stands behind the rewriting, should it ever let something through."""
    store = Store(schema, "demo")
    try:
        for sql in (
            f"SELECT * FROM read_text('{__file__}')",
            f"COPY (SELECT 1) TO '{__file__}.copy'",
            f"ATTACH '{__file__}.duckdb' AS other",
            "SET enable_external_access = true",
            "SET memory_limit = '100GB'",
            "INSTALL httpfs",
        ):
            with pytest.raises(duckdb.Error):
                store.run(sql)
    finally:
        store.close()


def test_a_users_name_cannot_end_its_quotes(schema: Schema) -> None:
    name = "x' OR 1=1; DROP TABLE pgc.pg_class --\\"
    assert _values(Catalogue(schema, database="demo", user=name), "SELECT current_user") == [name]
    with_value = Catalogue(schema, database="demo", user="ada")
    assert _values(with_value, "SELECT $1::text", [name]) == [name]
    assert _values(with_value, "SELECT count(*) FROM pg_class WHERE relname = $1", [name]) == [0]


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
    names = set(_values(catalogue, "SELECT proname FROM pg_proc"))
    assert {"avg", "percentile_cont", "date_trunc", "median"} <= names
    assert not {"pg_read_file", "pg_sleep", "lo_import", "dblink"} & names


def test_what_takes_long_is_stopped(catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpsql.pgcatalog.store.TIME_LIMIT", 0.2)
    with pytest.raises(DatabaseError, match="too long") as stopped:
        catalogue.run("SELECT count(*) FROM pg_attribute a, pg_attribute b, pg_attribute c")
    assert stopped.value.sqlstate == "57014"


def test_one_user_has_half_of_the_places_at_most_and_waiting_can_be_ended(schema: Schema) -> None:
    greedy = [Catalogue(schema, database="demo", user="mallory") for _ in range(MOST)]
    stopped: list[str] = []

    def ask(catalogue: Catalogue) -> None:
        with pytest.raises(DatabaseError, match="too long") as raised:
            catalogue.run("SELECT count(*) FROM pg_attribute a, pg_attribute b, pg_attribute c")
        stopped.append(raised.value.sqlstate)

    threads = [threading.Thread(target=ask, args=(catalogue,)) for catalogue in greedy]
    for thread in threads:
        thread.start()
    time.sleep(1)
    places = store_of(schema, "demo")._places
    assert places.held() == {"mallory": MOST // 2}
    ada = Catalogue(schema, database="demo", user="ada")
    assert _values(ada, "SELECT current_user") == ["ada"] and not stopped
    while any(thread.is_alive() for thread in threads):
        for catalogue in greedy:
            catalogue.interrupt()
        time.sleep(0.05)
    assert stopped == ["57014"] * MOST and places.held() == {}


def test_definitions_of_keys_are_there_however_they_are_called(schema: Schema) -> None:
    for text in (
        "SELECT PG_GET_INDEXDEF(indexrelid) FROM pg_index WHERE indrelid = 'orders'::regclass",
        "SELECT indexdef FROM pg_indexes WHERE tablename = 'orders'",
        "SELECT Pg_Catalog.Pg_Get_ConstraintDef(oid) FROM pg_constraint WHERE conrelid = 'orders'::regclass",
    ):
        fresh = Catalogue(schema, database=f"fresh for {text}", user="ada")
        found = _values(fresh, text)
        assert found and all(isinstance(each, str) and "(" in each for each in found), text


def test_many_threads_may_ask(catalogue: Catalogue) -> None:
    seen: list[object] = []

    def ask() -> None:
        for _ in range(5):
            seen.append(catalogue.run("SELECT relname FROM pg_class WHERE relnamespace = 2200 ORDER BY 1").rows)

    _together([ask] * 8)
    assert len(seen) == 40 and len(set(map(str, seen))) == 1


def test_it_is_made_once(schema: Schema, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def counted(run: Callable[..., Any], schema: Schema, database: str) -> Any:
        made.append(database)
        return build(run, schema, database)

    monkeypatch.setattr("dpsql.pgcatalog.store.build", counted)
    for name in ("made once", "made once", "another"):
        for _ in range(3):
            assert _values(Catalogue(schema, database=name, user="ada"), "SELECT current_database()") == [name]
    assert made == ["made once", "another"]


def _together(tasks: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=task) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _values(catalogue: Catalogue, text: str, values: list[Any] | None = None) -> list[Any]:
    return [row[0] for row in catalogue.run(text, values or []).rows]
