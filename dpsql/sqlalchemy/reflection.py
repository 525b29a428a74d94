"""Reflects tables, columns, keys and comments from the owner's schema;
no row is read and nothing is charged.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, types
from sqlalchemy.engine import reflection
from sqlalchemy.engine.interfaces import (
    ReflectedColumn,
    ReflectedForeignKeyConstraint,
    ReflectedPrimaryKeyConstraint,
    ReflectedTableComment,
)
from sqlalchemy.exc import NoSuchTableError

from dpsql.schema import Schema, SqlType, Table

#: The one schema that tables are in, as PostgreSQL calls it.
SCHEMA = "public"


class Reflection:
    """The dialect's methods for ``sqlalchemy.inspect``; what a schema cannot declare is empty."""

    def get_schema_names(self, connection: Connection, **kw: Any) -> list[str]:
        return [SCHEMA]

    def get_table_names(
        self, connection: Connection, schema: str | None = None, **kw: Any
    ) -> list[str]:
        return list(_declared(connection).tables) if schema in (None, SCHEMA) else []

    @reflection.cache
    def has_table(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> bool:
        return schema in (None, SCHEMA) and table_name in _declared(connection).tables

    @reflection.cache
    def get_columns(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[ReflectedColumn]:
        """Names, types, nullability and comments, in the order of the schema file."""
        return [
            {
                "name": name,
                "type": _type_of(column.type),
                "nullable": column.nullable,
                "default": None,
                "comment": column.description,
            }
            for name, column in _table(connection, table_name, schema).columns.items()
        ]

    @reflection.cache
    def get_pk_constraint(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> ReflectedPrimaryKeyConstraint:
        """The declared key, or the unit's own column in its table."""
        _table(connection, table_name, schema)
        return {
            "name": None,
            "constrained_columns": list(_declared(connection).primary_key(table_name)),
        }

    @reflection.cache
    def get_foreign_keys(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[ReflectedForeignKeyConstraint]:
        """The references that the schema declares, each of one column."""
        result: list[ReflectedForeignKeyConstraint] = []
        for column, target in _table(connection, table_name, schema).references.items():
            table, _, referred = target.partition(".")
            result.append(
                {
                    "name": None,
                    "constrained_columns": [column],
                    "referred_schema": schema,
                    "referred_table": table,
                    "referred_columns": [referred],
                    "options": {},
                }
            )
        return result

    @reflection.cache
    def get_table_comment(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> ReflectedTableComment:
        return {"text": _table(connection, table_name, schema).comment}

    @reflection.cache
    def get_indexes(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[Any]:
        """None: a schema file declares keys and references only."""
        _table(connection, table_name, schema)
        return []

    get_unique_constraints = get_check_constraints = get_indexes

    def get_view_names(
        self, connection: Connection, schema: str | None = None, **kw: Any
    ) -> list[str]:
        return []

    get_materialized_view_names = get_temp_table_names = get_temp_view_names = (
        get_sequence_names
    ) = get_view_names

    def get_view_definition(
        self, connection: Connection, view_name: str, schema: str | None = None, **kw: Any
    ) -> str:
        """NoSuchTableError: a schema file declares no views."""
        raise NoSuchTableError(view_name)


def _declared(connection: Connection) -> Schema:
    schema: Schema = connection.connection.dbapi_connection.schema  # type: ignore[union-attr]
    return schema


def _table(connection: Connection, name: str, schema: str | None) -> Table:
    table = _declared(connection).tables.get(name) if schema in (None, SCHEMA) else None
    if table is None:
        raise NoSuchTableError(f"{schema}.{name}" if schema else name)
    return table


def _type_of(declared: SqlType) -> types.TypeEngine[Any]:
    """SQLAlchemy's type for a declared type, with the digits of a decimal."""
    digits = [
        digit_count
        for digit_count in (declared.precision, declared.scale)
        if digit_count is not None
    ]
    result: types.TypeEngine[Any] = getattr(types, declared.facts.sqlalchemy)(*digits)
    return result
