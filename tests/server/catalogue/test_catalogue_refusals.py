"""What the catalogue takes, how it refuses the rest,
and that nothing but the catalogue is reached.
"""

from __future__ import annotations

import duckdb
import pytest
from asked import values_of

from dpsql.errors import DatabaseError, StatementError
from dpsql.schema import Schema
from dpsql.server.catalogue import Catalogue
from dpsql.server.catalogue.store.catalogue_store import CatalogueStore


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
        (
            "SELECT current_setting('nosuch')",
            "42704",
            'unrecognized configuration parameter "nosuch"',
        ),
        (
            "SELECT current_setting('no''such', false)",
            "42704",
            "unrecognized configuration parameter",
        ),
    ],
)
def test_it_refuses_in_postgresqls_shape(
    catalogue: Catalogue, text: str, sqlstate: str, says: str
) -> None:
    with pytest.raises(DatabaseError) as refused:
        catalogue.run(text)
    assert refused.value.sqlstate == sqlstate
    assert says in str(refused.value)


def test_what_is_refused_is_logged_for_the_owner(
    catalogue: Catalogue, caplog: pytest.LogCaptureFixture
) -> None:
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
        for word in (
            "Binder",
            "Catalog",
            "Conversion",
            "duckdb",
            "LINE",
            "pgc",
            "Candidate",
            "Invalid",
        ):
            assert word not in str(refused.value), text


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
    grace = Catalogue(
        schema, database="demo", user="grace", settings={"application_name": "grace's notebook"}
    )
    ada = Catalogue(schema, database="demo", user="ada", settings={"application_name": "ada's"})
    assert all("grace" in str(grace.run(text).rows) for text in asked if "privileges" not in text)
    for text in asked:
        assert "grace" not in str(ada.run(text).rows), text


def test_the_store_itself_opens_no_file(schema: Schema) -> None:
    """What stands behind the rewriting, should it ever let something through."""
    store = CatalogueStore(schema, "demo")
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
    assert values_of(Catalogue(schema, database="demo", user=name), "SELECT current_user") == [name]
    with_value = Catalogue(schema, database="demo", user="ada")
    assert values_of(with_value, "SELECT $1::text", [name]) == [name]
    assert values_of(with_value, "SELECT count(*) FROM pg_class WHERE relname = $1", [name]) == [0]
