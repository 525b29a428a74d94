"""What is read of public tables before a charge:
numbers of rows with equal values and of groups, and values.

Proved in ``docs/proofs/work.md`` and ``docs/proofs/domain.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from math import prod
from typing import Protocol, TypeAlias

from dpsql.errors import ExecutionFailed, StatementError
from dpsql.planning.plan import Plan
from dpsql.release.released_tables import Released
from dpsql.schema import SqlType
from dpsql.schema.types import value_of
from dpsql.sql.analysis.key_domain.enumeration import MAX_RANGE
from dpsql.sql.emit import Dialect
from dpsql.sql.emit.measurement.key_domain import counting, many_keys, require_few_keys
from dpsql.sql.emit.measurement.public_partners import partners_sql
from dpsql.sql.ir.expression import ColumnRef, Expression, Scalar
from dpsql.sql.ir.relation import Constants, PublicRange, Scan

#: The number that SQL over public tables gives.
PublicCount: TypeAlias = Callable[[str, frozenset[str]], int]


class Counts(Protocol):
    """An engine that counts public rows."""

    @property
    def dialect(self) -> Dialect: ...

    def version(self) -> str | None: ...

    def public_count(self, sql: str, tables: frozenset[str]) -> int: ...

    def public_column(self, sql: str, tables: frozenset[str]) -> list[object]: ...


#: The values of a public column are listed where its table has at most so many rows,
#: and the column #: so many values.
MOST_ROWS = 100_000
MOST_VALUES = MAX_RANGE
#: The types of columns whose values are listed: those of which each value is written in one way.
_LISTED = frozenset({"text", "integer", "date"})


class PublicSizes:
    """Sizes of public tables and values of their columns, remembered for one version of the data.

    ``synthetic`` gives the number of rows of a synthetic table, which no engine has;
    None of any other table.
    """

    def __init__(
        self, counts: Counts, synthetic: Callable[[str], int | None] = lambda table: None
    ) -> None:
        self._counts = counts
        self._synthetic = synthetic
        self._known: dict[tuple[str, tuple[str, ...], bool], int] = {}
        self._values: dict[tuple[str, str], tuple[Scalar, ...] | None] = {}
        self._partners: dict[str, int | None] = {}
        self._version: str | None = None

    @property
    def version(self) -> str | None:
        """The version of the data whose sizes these are; None if it is not known."""
        return self._counts.version()

    def __call__(self, table: str, columns: tuple[str, ...], *, characters: bool = False) -> int:
        """The most rows of a public table with equal values in these columns, all of its rows where
        there are none; or the most ``characters`` that the one column has."""
        rows = self._synthetic(table)
        if rows is not None:
            return rows
        self._forget_other_versions()
        counted = table, columns, characters
        if counted not in self._known:
            sql = (longest_sql if characters else fanout_sql)(self._counts.dialect, table, columns)
            self._known[counted] = self._counts.public_count(sql, frozenset({table}))
        return self._known[counted]

    def values(self, table: str, column: ColumnRef) -> tuple[Scalar, ...] | None:
        """Every value but NULL of a column of a public table, in order;
        None where they are too many to be listed.
        """
        self._forget_other_versions()
        asked = table, column.name
        if asked not in self._values:
            self._values[asked] = self._listed(table, column.name, column.type)
        return self._values[asked]

    def partners(
        self,
        source: Scan | Constants,
        equal: tuple[str, ...],
        conditions: tuple[Expression, ...],
        between: PublicRange | None,
    ) -> int | None:
        """The most rows of a public source that fulfil the conditions, have equal values in these
        columns, and whose ranges have a point in common; None of a synthetic table, and if the
        engine does not count them in time."""
        if isinstance(source, Scan) and self._synthetic(source.table) is not None:
            return None
        self._forget_other_versions()
        with suppress(StatementError):
            sql = partners_sql(self._counts.dialect, source, equal, conditions, between=between)
            if sql not in self._partners:
                self._partners[sql] = self._counted(sql, source)
            return self._partners[sql]
        return None

    def _counted(self, sql: str, source: Scan | Constants) -> int | None:
        with suppress(ExecutionFailed):
            return self._counts.public_count(
                sql, frozenset({source.table} if isinstance(source, Scan) else ())
            )
        return None

    def _listed(self, table: str, column: str, sql_type: SqlType) -> tuple[Scalar, ...] | None:
        if sql_type.kind not in _LISTED or self(table, ()) > MOST_ROWS:
            return None
        sql = values_sql(self._counts.dialect, table, column)
        tables_read = frozenset({table})
        if (
            self._counts.public_count(f"SELECT COUNT(*) FROM ({sql}) AS g", tables_read)
            > MOST_VALUES
        ):
            return None
        with suppress(ValueError):
            return tuple(
                value_of(sql_type, value) for value in self._counts.public_column(sql, tables_read)
            )
        return None

    def _forget_other_versions(self) -> None:
        version = self.version
        if version is None or version != self._version:
            self._known = {}
            self._values = {}
            self._version = version
            self._partners = {}


def fanout_sql(dialect: Dialect, table: str, columns: tuple[str, ...]) -> str:
    """The SQL for the most rows of a table that have equal values in these columns.

    >>> from dpsql.sql.emit.duckdb import DUCKDB
    >>> fanout_sql(DUCKDB, "days", ())
    'SELECT COALESCE(MAX(g."n"), 0) FROM (SELECT COUNT(*) AS "n" FROM "source"."main"."days" AS t) AS g'
    """
    names = ", ".join(f't."{column}"' for column in columns)
    counted = f'SELECT COUNT(*) AS "n" FROM {dialect.source_name(table)} AS t'
    grouped = f"{counted} GROUP BY {names}" if names else counted
    return f'SELECT COALESCE(MAX(g."n"), 0) FROM ({grouped}) AS g'


def longest_sql(dialect: Dialect, table: str, columns: tuple[str, ...]) -> str:
    """The SQL for the most characters of a text column of a table.

    >>> from dpsql.sql.emit.duckdb import DUCKDB
    >>> longest_sql(DUCKDB, "days", ("name",))
    'SELECT COALESCE(MAX(LENGTH(t."name")), 0) FROM "source"."main"."days" AS t'
    """
    (column,) = columns
    return f'SELECT COALESCE(MAX(LENGTH(t."{column}")), 0) FROM {dialect.source_name(table)} AS t'


def values_sql(dialect: Dialect, table: str, column: str) -> str:
    """The SQL for the different values of a column of a table, in order.

    >>> from dpsql.sql.emit.duckdb import DUCKDB
    >>> values_sql(DUCKDB, "days", "name")[:64]
    'SELECT DISTINCT t."name" AS "v" FROM "source"."main"."days" AS t'
    """
    named = f'SELECT DISTINCT t."{column}" AS "v" FROM {dialect.source_name(table)} AS t'
    return f'{named} WHERE NOT t."{column}" IS NULL ORDER BY t."{column}"'


def require_few_candidates(plan: Plan, count: PublicCount) -> None:
    """Raise StatementError (E_LIMITS) if public tables give the plan too many groups."""
    for core in plan.cores:
        queries = counting(core.dialect, core.core)
        if queries is not None:
            require_few_keys(core.core, prod(count(*query) for query in queries.queries))


def many_candidates(plan: Plan, released: Released) -> tuple[str, ...]:
    """Notices for results whose public tables give them many groups."""
    pairs = zip(plan.cores, released.tables, strict=False)
    tables = [table for core, table in pairs if counting(core.dialect, table.shape) is not None]
    messages = [many_keys(table.shape, len(table.keys)) for table in tables]
    return tuple(message for message in messages if message is not None)
