"""dpsql's dialect, with an owner beside it who makes the tables that the suite wants;
every SELECT is dpsql's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Self

from owner import OWNER, PRIVATE
from sqlalchemy import Connection
from sqlalchemy.sql.compiler import DDLCompiler

import dpsql
from dpsql.sqlalchemy import DpsqlDialect

IGNORED = ("CREATE VIEW", "DROP VIEW")
WRITES = ("INSERT", "UPDATE", "DELETE")
MAKES, DROPS, NOTHING = "OWNER MAKES ", "OWNER DROPS ", "OWNER IGNORES"


class OwnersDDLCompiler(DDLCompiler):
    """Tables as the owner hears of them."""

    def visit_create_table(self, create: Any, **kw: Any) -> str:
        table, types = create.element, self.dialect.type_compiler_instance
        references = {
            key.parent.name: key.column
            for key in table.foreign_keys
            if len(key.constraint.elements) == 1
        }
        counted = table._autoincrement_column
        described = {
            "name": table.name,
            "comment": table.comment,
            "key": [column.name for column in table.primary_key],
            "counts": counted.name if counted is not None else None,
            "references": {
                name: f"{column.table.name}.{column.name}" for name, column in references.items()
            },
            "columns": {
                column.name: {
                    "type": types.process(column.type),
                    "engine": types.process(column.type),
                    "nullable": column.nullable,
                    "comment": column.comment,
                }
                for column in table.columns
            },
        }
        return MAKES + json.dumps(described)

    def visit_drop_table(self, drop: Any, **kw: Any) -> str:
        return DROPS + drop.element.name

    def visit_create_index(self, create: Any, **kw: Any) -> str:
        return NOTHING

    def visit_drop_index(self, drop: Any, **kw: Any) -> str:
        return NOTHING

    def visit_set_table_comment(self, create: Any, **kw: Any) -> str:
        return NOTHING

    def visit_set_column_comment(self, create: Any, **kw: Any) -> str:
        return NOTHING


class OwnersCursor(dpsql.Cursor):
    """A cursor whose DDL and DML the owner does; all else is dpsql's."""

    def execute(self, statement: str, parameters: Sequence[object] = ()) -> Self:
        if statement.startswith(MAKES):
            OWNER.create(json.loads(statement.removeprefix(MAKES)))
        elif statement.startswith(DROPS):
            OWNER.drop(statement.removeprefix(DROPS))
        elif statement.startswith(WRITES):
            OWNER.write(statement, parameters)
        elif statement != NOTHING and not statement.startswith(IGNORED):
            return super().execute(statement, parameters)
        self._result = None
        return self

    def executemany(self, statement: str, sets: Iterable[Sequence[object]]) -> Self:
        if not statement.startswith(WRITES):
            return super().executemany(statement, sets)
        for parameters in sets:
            self.execute(statement, parameters)
        return self


class OwnersConnection(dpsql.Connection):
    """A connection that sees the owner's tables as they are now."""

    def __init__(self) -> None:
        self._seen = OWNER.changes
        super().__init__(OWNER.database().session())

    def cursor(self) -> dpsql.Cursor:
        self._require_open()
        return OwnersCursor(self)

    def commit(self) -> None:
        super().commit()
        OWNER.commit()

    def rollback(self) -> None:
        super().rollback()
        OWNER.rollback()

    @property
    def schema(self) -> Any:
        self._see()
        return super().schema

    def _with_session(self, action: Any) -> Any:
        self._see()
        return super()._with_session(action)

    def _see(self) -> None:
        if self._seen != OWNER.changes and not self._closed:
            self._session, self._seen = OWNER.database().session(), OWNER.changes


class OwnersDialect(DpsqlDialect):
    """What the suite is run on."""

    ddl_compiler = OwnersDDLCompiler
    inline_comments = True
    supports_statement_cache = True
    skip_autocommit_rollback = False

    def get_table_names(
        self, connection: Connection, schema: str | None = None, **kw: Any
    ) -> list[str]:
        return [
            name for name in super().get_table_names(connection, schema, **kw) if name != PRIVATE
        ]

    def connect(self, *cargs: Any, **cparams: Any) -> Any:
        return OwnersConnection()
