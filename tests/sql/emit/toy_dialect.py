"""A second dialect and its engine, for tests: SQLite, for counts and sums of numbers,
joins and groups.

SQLite's whole numbers have 64 bits and it knows no dates, so this is good for small tables and for
nobody's data. It shows that a dialect is a class with its table of total forms, and that nothing
else has to know of it.
"""

from __future__ import annotations

import hashlib
import math
import sqlite3
from collections.abc import Callable, Sequence
from typing import Final, Literal

from sqlglot import exp

from dpsql.engines.engine import DerivedRows
from dpsql.engines.exact_rows import ExactRows
from dpsql.planning.plan import Plan
from dpsql.privacy.accountant import Charge
from dpsql.schema import Schema, SqlType
from dpsql.sql.emit import node
from dpsql.sql.emit.dialect import Dialect, Path, Width
from dpsql.sql.emit.total_form import (
    TotalForm,
    binary,
    call,
    divided,
    first_known,
    is_in,
    is_null,
    negation,
    opposite,
    unless,
)
from dpsql.sql.ir.expression import INTEGER, Expression

_TYPES = {
    "narrow": "bigint",
    "wide": "bigint",
    "integer": "bigint",
    "double": "double",
    "text": "text",
}


class Toy(Dialect):
    """The SQL of SQLite with the functions of `connected`."""

    title = "the toy dialect"
    total_forms: Final[dict[str, TotalForm]] = {
        "=": binary(exp.EQ),
        "<>": binary(exp.NEQ),
        "<": binary(exp.LT),
        "<=": binary(exp.LTE),
        ">": binary(exp.GT),
        ">=": binary(exp.GTE),
        "is not distinct from": binary(exp.NullSafeEQ),
        "is null": is_null,
        "in": is_in,
        "and": binary(exp.And),
        "or": binary(exp.Or),
        "not": negation,
        "coalesce": first_known,
        "nullif": unless,
        "+": binary(exp.Add),
        "-": binary(exp.Sub),
        "*": binary(exp.Mul),
        "/": divided,
        "negate": opposite,
        "abs": call("ABS"),
        "length": call("LENGTH"),
        "strlen": lambda text: call("LENGTH")(exp.cast(text, "blob")),
        "left": lambda text, most: call("SUBSTR")(text, node.integer(1), most),
    }
    source: Path = ("", "source")
    derived: Path = ("", "derived")
    reads_every_side = True

    def __init__(self) -> None:
        super().__init__("sqlite")

    def type_name(self, sql_type: SqlType | Width) -> str:
        kind = sql_type if isinstance(sql_type, str) else sql_type.kind
        return _TYPES.get(kind) or self.lacks(f"the type {kind}")

    def try_cast(self, value: exp.Expr, to: SqlType) -> exp.Expr:
        if to != INTEGER:
            self.lacks(f"a conversion to {to}")
        return call("NEAREST_WHOLE")(value)

    def unless_nan(self, value: exp.Expr) -> exp.Expr:
        return value  # SQLite has none

    def greatest(self, *values: exp.Expr) -> exp.Expr:
        return call("MAX")(*values)

    def least(self, *values: exp.Expr) -> exp.Expr:
        return call("MIN")(*values)

    def quotient(self, dividend: exp.Expr, divisor: exp.Expr) -> exp.Expr:
        return exp.Div(
            this=node.operand(dividend), expression=node.operand(divisor), typed=True, safe=True
        )

    def hashed(self, key: str, values: Sequence[exp.Expr]) -> exp.Expr:
        return call("KEYED_HASH")(exp.Literal.string(key), *values)

    def character(self, code: int) -> exp.Expr:
        return call("CHAR")(node.integer(code))

    def ordinary(self, moment: exp.Expr) -> exp.Expr:
        self.lacks("dates")

    def elapsed(self, unit: Literal["day", "second"], start: exp.Expr, end: exp.Expr) -> exp.Expr:
        self.lacks("dates")

    def days_later(self, day: exp.Expr, days: exp.Expr) -> exp.Expr:
        self.lacks("dates")

    def values(
        self, rows: Sequence[Sequence[exp.Expr]], alias: str, columns: Sequence[str]
    ) -> exp.Expr:
        whole: exp.Query | None = None
        for row in rows:
            named = [node.aliased(each, name) for each, name in zip(row, columns, strict=True)]
            select = exp.Select(expressions=named)
            whole = (
                select
                if whole is None
                else exp.Union(this=whole, expression=select, distinct=False)
            )
        assert whole is not None
        return node.subquery(whole, alias)

    def rows(self, emit: Callable[[], exp.Select]) -> exp.Select:
        return emit()

    def reads_flat(self, function: str) -> bool:
        return False

    def flat(self, emitted: exp.Expr, expression: Expression) -> exp.Expr:
        return emitted

    def tested_on_each_row(self, condition: exp.Expr, read: exp.Expr | None) -> exp.Expr:
        return condition

    def units_above_limit(
        self,
        unit: exp.Expr,
        source: exp.Expr,
        above: exp.Expr,
        joins: Sequence[exp.Join] = (),
        where: exp.Expr | None = None,
    ) -> exp.Query:
        return node.select(
            [node.aliased(unit, "u")], source, joins, where, [node.integer(1)], above
        )

    def look_up(self, unit: exp.Expr, units: exp.Expr) -> exp.Join:
        return node.join(
            units, node.compare(exp.EQ, unit, node.column(units.alias_or_name, "u")), "LEFT"
        )

    def is_listed(self, listed: exp.Expr, unit: exp.Expr) -> exp.Expr:
        return node.not_null(listed)

    def intersected(self, selects: Sequence[exp.Select], *, private: bool) -> exp.Query:
        whole: exp.Query = selects[0]
        for select in selects[1:]:
            whole = exp.Intersect(this=whole, expression=select, distinct=True)
        return whole

    def exists(self, query: exp.Select) -> exp.Expr:
        return exp.Exists(this=query)

    def same(self, left: exp.Expr, right: exp.Expr) -> exp.Expr:
        return exp.NullSafeEQ(this=left, expression=right)

    def cte(self, name: str, query: exp.Query, keep: bool | None) -> exp.CTE:
        return exp.CTE(this=query, alias=exp.TableAlias(this=node.name(name)))

    def sum(self, value: exp.Expr) -> exp.Expr:
        return exp.Sum(this=value)


TOY = Toy()


def connected(tables: dict[str, tuple[str, list[tuple[object, ...]]]]) -> sqlite3.Connection:
    """A SQLite with the owner's tables, each by its columns and its rows."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.create_function("NEAREST_WHOLE", 1, _nearest_whole, deterministic=True)
    connection.create_function("KEYED_HASH", -1, _keyed_hash, deterministic=True)
    connection.execute("ATTACH ':memory:' AS source")
    for name, (columns, rows) in tables.items():
        connection.execute(f"CREATE TABLE source.{name} ({columns})")
        connection.executemany(
            f"INSERT INTO source.{name} VALUES ({', '.join('?' * len(rows[0]))})", rows
        )
    return connection


def _nearest_whole(value: float | int | None) -> int | None:
    """The nearest whole number, the even one of two, as DuckDB has it;
    None where 64 bits do not hold it.
    """
    if value is None or not math.isfinite(value):
        return None
    whole = round(value)
    return whole if -(2**63) <= whole < 2**63 else None


def _keyed_hash(*values: object) -> int:
    return int.from_bytes(hashlib.blake2b(repr(values).encode(), digest_size=7).digest(), "big")


class ToyEngine:
    """A SQLite as the engine that runs charged plans."""

    dialect = TOY

    def __init__(self, schema: Schema, connection: sqlite3.Connection) -> None:
        self._schema, self._connection = schema, connection

    def dry_run(self, plan: Plan) -> None:
        for core in plan.cores:
            self._connection.execute(f"EXPLAIN {core.sql}").fetchall()

    def run(self, charge: Charge[Plan]) -> ToyReading:
        return ToyReading(charge.redeem(), self._connection)

    def hold(self, opening: Callable[[], None] = lambda: None) -> ToyEngine:
        return self

    def __enter__(self) -> ToyEngine:
        return self

    def __exit__(self, *trouble: object) -> None:
        """The tables stay until the engine is closed."""

    def version(self) -> None:
        """Not known: nothing is kept for later."""

    def public_rows(
        self, table: str, opening: Callable[[], None] = lambda: None
    ) -> Sequence[tuple[object, ...]]:
        columns = ", ".join(f'"{column}"' for column in self._schema.tables[table].columns)
        return self._connection.execute(f'SELECT {columns} FROM source."{table}"').fetchall()

    def public_count(
        self, sql: str, tables: frozenset[str], opening: Callable[[], None] = lambda: None
    ) -> int:
        ((number,),) = self._connection.execute(sql).fetchall()
        return int(number)

    def public_column(
        self, sql: str, tables: frozenset[str], opening: Callable[[], None] = lambda: None
    ) -> list[object]:
        return [value for (value,) in self._connection.execute(sql).fetchall()]

    def close(self) -> None:
        self._connection.close()


class ToyReading:
    """A charged plan while SQLite runs it."""

    def __init__(self, plan: Plan, connection: sqlite3.Connection) -> None:
        self._stages, self._connection = iter(plan.stages), connection

    def __enter__(self) -> ToyReading:
        return self

    def __exit__(self, *trouble: object) -> None:
        pass

    def interrupt(self) -> None:
        self._connection.interrupt()

    def stage(self, derived: Sequence[DerivedRows]) -> ExactRows:
        assert not derived
        return ExactRows(
            [self._connection.execute(core.sql).fetchall() for core in next(self._stages).cores]
        )
