"""Attempts to write, to read files, to change settings or to take the place of tables, on an engine opened as ever.

Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from dpsql.audit.confinement.attempts import Attempt, attempts
from dpsql.audit.report import Check, Room, Verdict
from dpsql.audit.sensitivity.plans import Planner
from dpsql.engines.duckdb.cross_check import require_planned
from dpsql.engines.duckdb.database import OpenedSource
from dpsql.engines.duckdb.engine import source_of
from dpsql.engines.duckdb.instance import close_instance, open_instance
from dpsql.engines.duckdb.tables import file_name
from dpsql.errors import DatabaseError, ExecutionFailed
from dpsql.schema import Schema
from dpsql.sql.emit.scalar import engine_type

#: What lies in a file that no attempt may read.
SECRET = "dpsql-audit-secret-5d1f"


def lock_down(schema: Schema, planner: Planner) -> Room:
    """Each attempt at three gates: the compiler, the check of emitted SQL, and the engine itself.

    The engine is opened by the same code as for analysts, on an empty stand-in with the owner's tables, so that an
    attempt that succeeds harms nothing.
    """
    with TemporaryDirectory(prefix="dpsql-audit-") as folder:
        home = Path(folder)
        outside = home / "outside"
        outside.mkdir()
        (outside / "secret.csv").write_text(f"a\n{SECRET}\n", encoding="utf-8")
        stand_in = _stand_in(schema, home)
        before = _files(home)
        table, column = schema.unit
        tried = attempts(table, column, outside, file_name(source_of(schema)))
        checks = list(_all(planner, stand_in, tried, table))
        written = _files(home) != before
    files = Check("the files after all attempts", "failed" if written else "passed",
                  "a file was written" if written else "as before, none added")  # fmt: skip
    return Room(
        "lock-down",
        "the engine that reads the data, opened as for analysts, can neither write, nor read other files, nor be "
        "reconfigured, and what is not planned is not run",
        (*checks, files),
    )


def _all(planner: Planner, stand_in: Schema, tried: Iterable[Attempt], table: str) -> Iterator[Check]:
    """The attempts one after the other; each finds an engine in which none before it has changed anything."""
    pending = iter(tried)
    while True:
        with _opened(stand_in) as connection:
            for attempt in pending:
                ran = _runs(connection, attempt.sql)
                yield _tried(planner, connection, attempt, table, ran)
                if ran:
                    break
            else:
                return


def _tried(planner: Planner, connection: duckdb.DuckDBPyConnection, attempt: Attempt, table: str, ran: bool) -> Check:
    """What the three gates say; the engine may let pass what changes its own memory alone, for nothing reaches it."""
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
    said = "; ".join(open_gates) or ("refused at two gates; the engine would change its own memory only" if ran
                                     else "refused at all three gates")  # fmt: skip
    return Check(attempt.name, verdict, said)


def _runs(connection: duckdb.DuckDBPyConnection, sql: str) -> bool:
    """Whether the engine runs it; what it changed of its own memory goes away with it."""
    cursor = connection.cursor()
    try:
        cursor.execute(sql).fetchall()
    except duckdb.Error:
        return False
    finally:
        cursor.close()
    return True


def _stand_in(schema: Schema, home: Path) -> Schema:
    """The owner's tables without rows, in the owner's kind of source."""
    folder = schema.source_path.is_dir()
    place = home / ("data" if folder else "data.duckdb")
    if folder:
        place.mkdir()
    with duckdb.connect(":memory:" if folder else str(place)) as connection:
        for name, table in schema.tables.items():
            columns = ", ".join(f'"{column}" {engine_type(its.type)}' for column, its in table.columns.items())
            connection.execute(f'CREATE TABLE "{name}" ({columns})')
            if folder:
                file = str(place / f"{name}.parquet").replace("'", "''")
                connection.execute(f"COPY \"{name}\" TO '{file}' (FORMAT parquet)")
    return schema.model_copy(update={"source": str(place)})


@contextmanager
def _opened(schema: Schema) -> Iterator[duckdb.DuckDBPyConnection]:
    """The connection of an engine, by the code that opens it for analysts, in this process or in one of its own."""
    opened = OpenedSource(source_of(schema), open_instance)
    assert opened.connection is not None
    try:
        yield opened.connection
    finally:
        close_instance(opened.connection)


def _files(home: Path) -> list[tuple[str, bytes]]:
    return sorted((str(file), file.read_bytes()) for file in home.rglob("*") if file.is_file())
