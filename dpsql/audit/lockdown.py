"""Tries statements that must not run against an engine as analysts have it.

They write, read files, change settings or replace tables.

Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from dpsql.audit.report import AuditCheck, CheckGroup, Verdict
from dpsql.audit.sensitivity.plans import Planner
from dpsql.engines.duckdb.attached_source import OpenedSource
from dpsql.engines.duckdb.emitted_sql_check import require_planned
from dpsql.engines.duckdb.engine import data_source_of
from dpsql.engines.duckdb.in_memory import close_instance, open_instance
from dpsql.engines.duckdb.table_locations import source_kind
from dpsql.engines.duckdb.tables.views import file_name
from dpsql.errors import DatabaseError, ExecutionFailed
from dpsql.schema import Schema, Table
from dpsql.sql.emit.duckdb import DUCKDB


@dataclass(frozen=True)
class LockdownAttempt:
    """A statement that must not run; a ``harmless`` one changes only the memory of the engine."""

    name: str
    sql: str
    harmless: bool = False


def attempts(table: str, column: str, outside: Path, file: str | None) -> list[LockdownAttempt]:
    """The attempts on a column of a private table, and on files in a folder beside the data.

    ``file`` is the name under which the engine attaches the data's DuckDB file; None if the data
    are no DuckDB file. If it is not ``source``, then ``source`` has views in the engine's memory,
    and changing them changes no data.
    """
    database = "source" if file is None else file
    name = f'source.main."{table}"'
    secret = _quoted(outside / "secret.csv")
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
    }
    of_the_catalogue = {
        "rename": f'ALTER TABLE {database}.main."{table}" RENAME TO other',
        "drop the view": f'DROP VIEW {database}.main."{table}"',
        "insert into what is stored": f'INSERT INTO {database}.main."{table}" DEFAULT VALUES',
        "create in the data": f"CREATE TABLE {database}.main.another (a INTEGER)",
        "create a view in the data": f"CREATE OR REPLACE VIEW {database}.main.another AS SELECT 1 FROM {name}",
        "create a macro in the data": f"CREATE MACRO {database}.main.sum(a) AS max(a)",
        "create a schema": f"CREATE SCHEMA {database}.another",
        "create a type in the data": f"CREATE TYPE {database}.main.mood AS ENUM ('a')",
        "create a sequence in the data": f"CREATE SEQUENCE {database}.main.counter",
    }
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
    }
    return [
        *(LockdownAttempt(attempt, sql) for attempt, sql in forbidden.items()),
        *(
            LockdownAttempt(attempt, sql, harmless=file is None)
            for attempt, sql in of_the_catalogue.items()
        ),
        *(LockdownAttempt(attempt, sql, harmless=True) for attempt, sql in harmless.items()),
    ]


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


#: What lies in a file that no attempt may read.
SECRET = "dpsql-audit-secret-5d1f"


def lock_down(schema: Schema, planner: Planner) -> CheckGroup:
    """Try each statement at three gates: the compiler, the check of emitted SQL, and the engine.

    The engine is opened by the same code as for analysts, on an empty stand-in with the owner's
    tables, so that a statement that gets through harms nothing.
    """
    with TemporaryDirectory(prefix="dpsql-audit-") as folder:
        home = Path(folder)
        outside = home / "outside"
        outside.mkdir()
        (outside / "secret.csv").write_text(f"a\n{SECRET}\n", encoding="utf-8")
        stand_in = _stand_in(schema, home)
        before = _files(home)
        table, column = schema.unit
        tried = attempts(table, column, outside, file_name(data_source_of(schema)))
        checks = list(_all(planner, stand_in, tried, table))
        written = _files(home) != before
    files = AuditCheck(
        "the files after all attempts",
        "failed" if written else "passed",
        "a file was written" if written else "as before, none added",
    )
    return CheckGroup(
        "lock-down",
        "the engine that reads the data, opened as for analysts, can neither write, nor read other files, nor be "
        "reconfigured, and what is not planned is not run",
        (*checks, files),
    )


def _all(
    planner: Planner, stand_in: Schema, tried: Iterable[LockdownAttempt], table: str
) -> Iterator[AuditCheck]:
    """Run the attempts in order, each on an engine that no earlier one has changed."""
    pending = iter(tried)
    while True:
        with _opened(stand_in) as connection:
            for attempt in pending:
                ran = _runs(connection, attempt.sql)
                yield _tried(planner, connection, attempt, table, ran=ran)
                if ran:
                    break
            else:
                return


def _tried(
    planner: Planner,
    connection: duckdb.DuckDBPyConnection,
    attempt: LockdownAttempt,
    table: str,
    ran: bool,
) -> AuditCheck:
    """The check of one attempt.

    The engine may run a harmless one, since the other gates stop it.
    """
    open_gates = []
    with suppress(DatabaseError):
        if planner.plan(attempt.sql).cores:
            open_gates.append("the compiler takes it to the engine")
    with suppress(ExecutionFailed, duckdb.Error):
        require_planned(connection.cursor(), attempt.sql, frozenset({table}))
        open_gates.append("the check of emitted SQL lets it pass")
    if ran and not attempt.harmless:
        open_gates.append("the engine runs it")
    verdict: Verdict = "failed" if open_gates else "passed"
    message = "; ".join(open_gates) or (
        "refused at two gates; the engine would change its own memory only"
        if ran
        else "refused at all three gates"
    )
    return AuditCheck(attempt.name, verdict, message)


def _runs(connection: duckdb.DuckDBPyConnection, sql: str) -> bool:
    """Whether the engine runs it; changes of its memory are dropped with the engine."""
    cursor = connection.cursor()
    try:
        cursor.execute(sql).fetchall()
    except duckdb.Error:
        return False
    finally:
        cursor.close()
    return True


def _stand_in(schema: Schema, home: Path) -> Schema:
    """Write the owner's tables without rows, in the same kind of source."""
    folder = source_kind(schema.source_pattern) == "files"
    path = home / ("data" if folder else "data.duckdb")
    if folder:
        path.mkdir()
    with duckdb.connect(":memory:" if folder else str(path)) as connection:
        for name, table in schema.tables.items():
            columns = ", ".join(
                f'"{column}" {DUCKDB.type_name(other.type)}'
                for column, other in table.columns.items()
            )
            connection.execute(f'CREATE TABLE "{name}" ({columns})')
            if folder:
                file = str(path / f"{name}.parquet").replace("'", "''")
                connection.execute(f"COPY \"{name}\" TO '{file}' (FORMAT parquet)")
    return schema.model_copy(update={"source": str(path), "tables": _as_they_are_called(schema)})


def _as_they_are_called(schema: Schema) -> dict[str, Table]:
    """The tables as the stand-in has them: all names are those of the schema."""
    return {
        name: table.model_copy(
            update={
                "table": None,
                "csv": None,
                "columns": {
                    column: other.model_copy(update={"column": None}).as_stored(other.reading)
                    for column, other in table.columns.items()
                },
            }
        )
        for name, table in schema.tables.items()
    }


@contextmanager
def _opened(schema: Schema) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the engine by the code that opens it for analysts, in this process or in its own."""
    opened = OpenedSource(data_source_of(schema), open_instance)
    assert opened.connection is not None
    try:
        yield opened.connection
    finally:
        close_instance(opened.connection)


def _files(home: Path) -> list[tuple[str, bytes]]:
    return sorted((str(file), file.read_bytes()) for file in home.rglob("*") if file.is_file())
