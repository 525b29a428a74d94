"""The owner of the suite's tables: plain DuckDB,
which dpsql reads as the public tables of a schema.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb

from dpsql.engines.engine import PlanReading
from dpsql.planning.plan import Plan
from dpsql.privacy.accountant import Accountant, Charge
from dpsql.schema import loads
from dpsql.session import open_accountant
from dpsql.session.database import Database
from dpsql.sql.emit.duckdb import DUCKDB

#: The private table that every schema needs; nothing is asked of it.
PRIVATE = "guests"
_HEAD = f"""
name = "suite"
source = "suite.duckdb"
[privacy]
unit = "{PRIVATE}.guest"
epsilon = 1
delta = 1e-6
[tables.{PRIVATE}]
max_rows_per_unit = 1
[tables.{PRIVATE}.columns]
guest = {{ type = "integer" }}
"""


class Owner:
    """Tables that tests make and fill; ``database`` is what dpsql has of them,
    ``changes`` counts what was done.
    """

    dialect = DUCKDB

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._tables: dict[str, dict[str, Any]] = {}
        self._connection = duckdb.connect(":memory:")
        self._accountant: Accountant | None = None
        self._pending = False
        self._database: Database | None = None
        self.changes, self._opened = 0, -1

    def create(self, table: dict[str, Any]) -> None:
        """A table as the suite's MetaData describes it."""
        name = table["name"]
        loads(_HEAD + "".join(map(_declared, [*self._tables.values(), table])))
        columns = [f'"{column}" {each["engine"]}' for column, each in table["columns"].items()]
        if table["key"]:
            columns.append(f"PRIMARY KEY ({', '.join(table['key'])})")
        if table["counts"]:
            self._connection.execute(f'CREATE OR REPLACE SEQUENCE "{name}_{table["counts"]}"')
        self._connection.execute(f'CREATE TABLE "{name}" ({", ".join(columns)})')
        if table["counts"]:
            self._connection.execute(
                f"ALTER TABLE \"{name}\" ALTER {table['counts']} SET DEFAULT nextval('{name}_{table['counts']}')"
            )
        self._tables[name] = table
        self.changes += 1

    def drop(self, name: str) -> None:
        """The table, gone."""
        self._connection.execute(f'DROP TABLE "{name}"')
        del self._tables[name]
        self.changes += 1

    def write(self, statement: str, parameters: Sequence[Any]) -> None:
        """An INSERT, UPDATE or DELETE, in a transaction until ``commit`` or ``rollback``."""
        if not self._pending:
            self._connection.begin()
            self._pending = True
        self._connection.execute(statement, list(parameters))
        self.changes += 1

    def commit(self) -> None:
        """What was written stays."""
        if self._pending:
            self._connection.commit()
            self._pending = False

    def rollback(self) -> None:
        """What was written since the last commit is gone."""
        if self._pending:
            self._connection.rollback()
            self._pending = False
            self.changes += 1

    def database(self) -> Database:
        """What dpsql has of the tables as they are now."""
        if self._database is None or self._opened != self.changes:
            schema = loads(_HEAD + "".join(map(_declared, self._tables.values())))
            self._accountant = self._accountant or open_accountant(
                schema, Path(self._folder.name) / "suite.ledger"
            )
            self._database, self._opened = Database(schema, self, self._accountant), self.changes
        return self._database

    def dry_run(self, plan: Plan) -> None:
        """Nothing private is asked for."""

    def hold(self, opening: Callable[[], None] = lambda: None) -> Self:
        """What there is: nothing changes while the suite reads."""
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing is held."""

    def run(self, charge: Charge[Plan]) -> PlanReading:
        """Nothing private is asked for."""
        raise AssertionError("the suite's tables are public")

    def version(self) -> None:
        """Not known: nothing is kept for later."""

    def public_rows(
        self, table: str, opening: Callable[[], None] = lambda: None
    ) -> list[tuple[object, ...]]:
        """The rows of a table, as the engine reads them for dpsql."""
        columns = ", ".join(f'"{column}"' for column in self._tables[table]["columns"])
        return self._connection.execute(f'SELECT {columns} FROM "{table}"').fetchall()

    def public_count(
        self, sql: str, tables: frozenset[str], opening: Callable[[], None] = lambda: None
    ) -> int:
        """Nothing private is asked for, so that no keys are counted."""
        raise AssertionError("the suite's tables are public")

    def public_column(
        self, sql: str, tables: frozenset[str], opening: Callable[[], None] = lambda: None
    ) -> list[object]:
        """Nothing private is asked for, so that no values are listed."""
        raise AssertionError("the suite's tables are public")

    def close(self) -> None:
        """Nothing: the tables stay until the suite ends."""


def _declared(table: dict[str, Any]) -> str:
    lines = [f"[tables.{table['name']}]", "public = true"]
    if table["key"]:
        lines.append(f"key = {json.dumps(table['key'])}")
    if table["comment"]:
        lines.append(f"comment = {json.dumps(table['comment'])}")
    references = ", ".join(
        f"{column} = {json.dumps(target)}" for column, target in table["references"].items()
    )
    lines.append(f"references = {{ {references} }}")
    lines.append(f"[tables.{table['name']}.columns]")
    for name, column in table["columns"].items():
        comment = f", comment = {json.dumps(column['comment'])}" if column["comment"] else ""
        null = ", nullable = true" if column["nullable"] else ""
        lines.append(f'{name} = {{ type = "{column["type"]}"{null}{comment} }}')
    return "\n".join(lines) + "\n"


OWNER = Owner()
