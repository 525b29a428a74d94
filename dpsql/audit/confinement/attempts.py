"""What is tried on the engine: one statement for each way to write, to leave the database or to change what SQL means.

Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Attempt:
    """A statement that must not be run; one that is ``harmless`` changes nothing but the memory of the engine."""

    name: str
    sql: str
    harmless: bool = False


def attempts(table: str, column: str, outside: Path, file: str | None) -> list[Attempt]:
    """The attempts on a column of a private table, and on files in a folder beside the data.

    ``file`` is the name under which the engine holds the data's DuckDB file; None where they are no such file. Where it
    is not ``source``, that is views in the engine's memory: what changes these changes no data.
    """
    held = "source" if file is None else file
    name, secret = f'source.main."{table}"', _quoted(outside / "secret.csv")
    forbidden = {
        "insert": f"INSERT INTO {name} SELECT * FROM {name}",
        "update": f'UPDATE {name} SET "{column}" = NULL',
        "delete": f"DELETE FROM {name}",
        "truncate": f"TRUNCATE {name}",
        "delete inside a CTE": f"WITH gone AS (DELETE FROM {name} RETURNING *) SELECT count(*) FROM gone",
        "drop": f"DROP TABLE {name}",
        "alter": f"ALTER TABLE {name} ADD COLUMN more INTEGER",
        "create an index": f'CREATE INDEX i ON {name} ("{column}")',
        "copy a table to a file": f"COPY {name} TO {_quoted(outside / 'out.csv')}",
        "copy a query to a file": f"COPY (SELECT * FROM {name}) TO {_quoted(outside / 'out.parquet')} (FORMAT parquet)",
        "copy a file into the data": f"COPY {name} FROM {secret}",
        "export": f"EXPORT DATABASE {_quoted(outside / 'export')}",
        "import": f"IMPORT DATABASE {_quoted(outside)}",
        "attach a file": f"ATTACH {_quoted(outside / 'another.duckdb')} AS another",
        "attach a file read-only": f"ATTACH {_quoted(outside / 'another.duckdb')} AS another (READ_ONLY)",
        "attach by an extension": f"ATTACH {_quoted(outside / 'another.sqlite')} AS another (TYPE sqlite)",
        "install an extension": "INSTALL httpfs",
        "install from elsewhere": "INSTALL h3 FROM community",
        "load an extension": "LOAD httpfs",
        "load a file": f"LOAD {_quoted(outside / 'x.duckdb_extension')}",
        "update extensions": "UPDATE EXTENSIONS",
        "read a file": f"SELECT * FROM read_csv({secret})",
        "read a file, types guessed": f"SELECT * FROM read_csv_auto({secret})",
        "read a text": f"SELECT * FROM read_text({secret})",
        "read bytes": f"SELECT * FROM read_blob({secret})",
        "read JSON": f"SELECT * FROM read_json({secret})",
        "read Parquet": f"SELECT * FROM read_parquet({_quoted(outside / '*.parquet')})",
        "read Parquet's facts": f"SELECT * FROM parquet_metadata({_quoted(outside / '*.parquet')})",
        "sniff a file": f"SELECT * FROM sniff_csv({secret})",
        "a file as a table": f"SELECT * FROM {secret}",
        "list files": f"SELECT * FROM glob({_quoted(outside / '*')})",
        "a table of the network": "SELECT * FROM 'https://example.invalid/a.csv'",
        "read the network": "SELECT * FROM read_csv('https://example.invalid/a.csv')",
        "a Python variable as a table": "SELECT * FROM attempt",
        "open the files": "SET enable_external_access = true",
        "open the files by RESET": "RESET enable_external_access",
        "allow a folder": f"SET allowed_directories = [{_quoted(outside)}]",
        "allow a file": f"SET allowed_paths = [{secret}]",
        "unlock the settings": "SET lock_configuration = false",
        "unlock the settings for all": "SET GLOBAL lock_configuration = false",
        "replace tables by Python variables": "SET python_enable_replacements = true",
        "load extensions by name": "SET autoload_known_extensions = true",
        "allow unsigned extensions": "SET allow_unsigned_extensions = true",
        "a place for temporary files": f"SET temp_directory = {_quoted(outside)}",
        "a place for secrets": f"SET secret_directory = {_quoted(outside)}",
        "a place for extensions": f"SET extension_directory = {_quoted(outside)}",
        "a log of queries": f"SET log_query_path = {_quoted(outside / 'log')}",
        "a profile in a file": f"SET profiling_output = {_quoted(outside / 'profile')}",
        "more memory": "SET memory_limit = '1TB'",
        "more threads": "SET threads = 64",
        "a persistent secret": "CREATE PERSISTENT SECRET s (TYPE http, BEARER_TOKEN 'x')",
    }  # fmt: skip
    of_the_catalogue = {
        "rename": f'ALTER TABLE {held}.main."{table}" RENAME TO other',
        "drop the view": f'DROP VIEW {held}.main."{table}"',
        "insert into what is stored": f'INSERT INTO {held}.main."{table}" DEFAULT VALUES',
        "create in the data": f"CREATE TABLE {held}.main.another (a INTEGER)",
        "create a view in the data": f"CREATE OR REPLACE VIEW {held}.main.another AS SELECT 1 FROM {name}",
        "create a macro in the data": f"CREATE MACRO {held}.main.sum(a) AS max(a)",
        "create a schema": f"CREATE SCHEMA {held}.another",
        "create a type in the data": f"CREATE TYPE {held}.main.mood AS ENUM ('a')",
        "create a sequence in the data": f"CREATE SEQUENCE {held}.main.counter",
    }  # fmt: skip
    harmless = {
        "vacuum the data": f"VACUUM ANALYZE {name}",
        "detach the data": "DETACH source",
        "checkpoint the data": "FORCE CHECKPOINT source",
        "a temporary table in a table's place": f'CREATE TEMP TABLE "{table}" AS SELECT 1 AS a',
        "a temporary view in a table's place": f'CREATE TEMP VIEW "{table}" AS SELECT 1 AS a',
        "a macro in a function's place": "CREATE TEMP MACRO least(a, b) AS a",
        "a macro in the place of SUM": "CREATE TEMP MACRO sum(a) AS max(a)",
        "a copy in memory": "COPY FROM DATABASE source TO memory",
        "a variable": "SET VARIABLE a = 1",
        "another place to look for tables": "SET search_path = 'memory.main'",
        "USE another database": "USE memory",
        "PREPARE": "PREPARE p AS SELECT 1",
        "a transaction": "BEGIN",
        "a profile": "PRAGMA enable_profiling",
        "a profile by CALL": "CALL enable_profiling()",
        "a log": "CALL enable_logging()",
        "a key for Parquet": "PRAGMA add_parquet_key('k', '0123456789112345')",
        "statistics of a column": f"SELECT * FROM pragma_storage_info('{table}')",
        "sizes of tables": "SELECT estimated_size FROM duckdb_tables()",
        "settings": "SELECT * FROM duckdb_settings()",
        "SUMMARIZE": f"SUMMARIZE {name}",
        "DESCRIBE": f"DESCRIBE {name}",
        "raw rows": f"SELECT * FROM {name}",
        "SQL in a text": f"SELECT * FROM query('SELECT * FROM {name.replace(chr(39), chr(39) * 2)}')",
        "a table by a text": "SELECT * FROM query_table('duckdb_tables')",
        "serialised SQL": "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
        "two statements": f"SELECT 1; SELECT * FROM {name}",
        "a sleep": "SELECT sleep_ms(0)",
        "chance from the engine": "SELECT random()",
        "a sample": f"SELECT count(*) FROM {name} USING SAMPLE 1 ROWS",
        "a limit under an aggregate": f"SELECT count(*) FROM (SELECT * FROM {name} LIMIT 1) AS t",
        "a table function": "SELECT * FROM range(3)",
        "letters that one parser sees and another does not": f"SELECT count(*) AS n\u200bFROM {name}",
    }  # fmt: skip
    return [
        *(Attempt(what, sql) for what, sql in forbidden.items()),
        *(Attempt(what, sql, harmless=file is None) for what, sql in of_the_catalogue.items()),
        *(Attempt(what, sql, harmless=True) for what, sql in harmless.items()),
    ]


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
