"""Writes the names, numbers and types of PostgreSQL's catalogue to
dpsql/server/catalogue/store/facts, no comments.

Run it as ``python docs/write_catalogue_facts.py "host=… dbname=postgres"`` against an empty
PostgreSQL 15.
"""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb
import psycopg

from dpsql.server.catalogue.store.catalogue_types import duckdb_type
from dpsql.server.catalogue.store.objects import allowed_functions

TARGET = Path(__file__).parents[1] / "dpsql" / "server" / "catalogue" / "store" / "facts"
#: Catalogues of which every row is a fact of PostgreSQL itself, with the rows that are kept.
KEPT = {
    "pg_aggregate": "aggfnoid::oid IN (SELECT oid FROM {procedures})",
    "pg_am": "true",
    "pg_amop": "true",
    "pg_amproc": "true",
    "pg_attribute": "attrelid < 16384",
    "pg_cast": "true",
    "pg_class": "oid < 16384",
    "pg_collation": "collname IN ('default', 'C', 'POSIX', 'ucs_basic', 'unicode')",
    "pg_conversion": "true",
    "pg_constraint": "connamespace = 'pg_catalog'::regnamespace",
    "pg_index": "indrelid < 16384",
    "pg_language": "lanname IN ('internal', 'sql')",
    "pg_namespace": "true",
    "pg_opclass": "true",
    "pg_operator": "true",
    "pg_opfamily": "true",
    "pg_proc": "oid IN (SELECT oid FROM {procedures})",
    "pg_range": "true",
    "pg_tablespace": "true",
    "pg_ts_config": "cfgname = 'simple'",
    "pg_ts_dict": "dictname = 'simple'",
    "pg_ts_parser": "true",
    "pg_ts_template": "tmplname = 'simple'",
    "pg_type": "oid < 16384",
}
#: Settings of which no value speaks of the machine.
SETTINGS = """
    DateStyle IntervalStyle TimeZone application_name array_nulls backslash_quote block_size bytea_output
    check_function_bodies client_encoding client_min_messages constraint_exclusion default_statistics_target
    default_table_access_method default_tablespace default_text_search_config default_toast_compression
    default_transaction_deferrable default_transaction_isolation default_transaction_read_only enable_bitmapscan
    enable_hashagg enable_hashjoin enable_indexscan enable_mergejoin enable_nestloop enable_seqscan enable_sort
    escape_string_warning extra_float_digits geqo idle_in_transaction_session_timeout idle_session_timeout
    in_hot_standby integer_datetimes jit lc_collate lc_ctype lc_messages lc_monetary lc_numeric lc_time lock_timeout
    max_function_args max_identifier_length max_index_keys parallel_setup_cost plan_cache_mode quote_all_identifiers
    row_security search_path segment_size server_encoding server_version server_version_num session_replication_role
    standard_conforming_strings statement_timeout synchronous_commit synchronize_seqscans temp_tablespaces
    cursor_tuple_fraction debug_print_plan from_collapse_limit join_collapse_limit log_min_duration_statement
    log_statement max_connections max_parallel_workers_per_gather random_page_cost tcp_keepalives_count
    tcp_keepalives_idle tcp_keepalives_interval
    timezone_abbreviations track_activities transaction_deferrable transaction_isolation transaction_read_only
    transform_null_equals wal_level work_mem xmlbinary xmloption
""".split()
#: Names, letters and numbers of SQL's words;
#: the words of PostgreSQL's manual about them are left #: there.
KEYWORDS = "SELECT word, catcode::text, barelabel FROM pg_get_keywords()"


def write(address: str) -> None:
    """Write all facts of the server at that address."""
    with psycopg.connect(address) as source, duckdb.connect() as store:
        procedures = _procedures(source)
        for name, kept in KEPT.items():
            _write(
                source,
                store,
                name,
                f"SELECT {_columns(source, name)} FROM {name} WHERE {kept}",
                procedures,
            )
        _write(source, store, "keywords", KEYWORDS, procedures)
        names = ", ".join(f"'{name}'" for name in SETTINGS)
        columns = (
            "name, setting, unit, category, context, vartype, min_val, max_val, enumvals::text[] "
            "AS enumvals, boot_val"
        )
        _write(
            source,
            store,
            "settings",
            f"SELECT {columns} FROM pg_settings WHERE name IN ({names})",
            procedures,
        )
        _write(source, store, "regproc", _named_procedures(source), procedures)
        _write(source, store, "operators", "SELECT oid, oprname FROM pg_operator", procedures)


def _procedures(source: psycopg.Connection) -> str:
    """The functions that types are read and written with, and those that statements may call."""
    names = ", ".join(f"'{name}'" for name in sorted(allowed_functions()))
    places = "typinput typoutput typreceive typsend typmodin typmodout typsubscript".split()
    used = " UNION ".join(f"SELECT {place}::oid FROM pg_type" for place in places)
    return (
        f"(SELECT oid FROM pg_proc WHERE oid IN ({used}) OR proname IN ({names}) AND "
        "pronamespace = 11) kept_procedures"
    )


def _named_procedures(source: psycopg.Connection) -> str:
    """Every function that a catalogue names, with its name."""
    found = source.execute(
        "SELECT relname, attname FROM pg_attribute JOIN pg_class k ON k.oid = attrelid "
        "WHERE atttypid = 'regproc'::regtype AND relkind = 'r'"
    ).fetchall()
    used = " UNION ".join(
        f"SELECT {column}::oid FROM {name}" for name, column in found if name in KEPT
    )
    return f"SELECT oid, proname FROM pg_proc WHERE oid IN ({used})"


def _columns(source: psycopg.Connection, name: str) -> str:
    """The columns as DuckDB can hold them: trees and values of any type are left out."""
    found = source.execute(
        "SELECT attname, t.typname FROM pg_attribute a JOIN pg_type t ON t.oid = atttypid "
        "WHERE attrelid = %s::regclass AND attnum > 0 ORDER BY attnum",
        [name],
    ).fetchall()
    return ", ".join(_readable(column, kind) for column, kind in found)


def _readable(column: str, kind: str) -> str:
    match kind:
        case "pg_node_tree" | "anyarray" | "bytea":
            return f"NULL::text AS {column}"
        case "_aclitem":
            return f"NULL::text[] AS {column}"
        case "xid":
            return f"0::bigint AS {column}"
        case "regproc" | "oid" | "regtype":
            return f"{column}::oid::bigint AS {column}"
        case "oidvector" | "_oid":
            return f"{column}::oid[]::bigint[] AS {column}"
        case "int2vector" | "_int2":
            return f"{column}::int2[] AS {column}"
        case "_char" | "_name":
            return f"{column}::text[] AS {column}"
        case "name" | "char" | "timestamptz":
            return f"{column}::text AS {column}"
        case _:
            return column


def _write(
    source: psycopg.Connection,
    store: duckdb.DuckDBPyConnection,
    name: str,
    query: str,
    procedures: str,
) -> None:
    cursor = source.execute(query.replace("{procedures}", procedures))
    assert cursor.description is not None
    names = [column.name for column in cursor.description]
    kinds = [
        source.execute("SELECT typname FROM pg_type WHERE oid = %s", [column.type_code]).fetchone()
        for column in cursor.description
    ]
    columns = list(zip(*cursor.fetchall(), strict=True))
    parts = ", ".join(
        f'unnest(?::{duckdb_type(kind[0])}[]) AS "{each}"'
        for each, kind in zip(names, kinds, strict=True)
        if kind
    )
    store.execute(
        f"CREATE OR REPLACE TABLE written AS SELECT {parts}", [list(values) for values in columns]
    )
    store.execute(
        f"COPY (FROM written ORDER BY 1) TO '{TARGET / name}.parquet' (FORMAT parquet, COMPRESSION zstd)"
    )


if __name__ == "__main__":
    write(sys.argv[1])
