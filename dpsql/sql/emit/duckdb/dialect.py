"""DuckDB's words for what emitted SQL does.

Proved in ``docs/proofs/expression.md`` and ``docs/proofs/work.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from sqlglot import exp

from dpsql.schema import SqlType
from dpsql.sql.emit import node
from dpsql.sql.emit.dialect import Dialect, Path
from dpsql.sql.emit.duckdb.arithmetic import ARITHMETIC
from dpsql.sql.emit.duckdb.attempt import attempted
from dpsql.sql.emit.duckdb.comparisons import CHOICES, CONDITIONS
from dpsql.sql.emit.duckdb.dates import DATES, ordinary
from dpsql.sql.emit.duckdb.mathematics import MATHEMATICS
from dpsql.sql.emit.duckdb.texts import TEXTS
from dpsql.sql.emit.total_form import TotalForm, call

_TYPES: Final = {
    "boolean": "boolean", "integer": "bigint", "double": "double", "text": "varchar", "date": "date",
    "timestamp": "timestamp",
}  # fmt: skip


class DuckDB(Dialect):
    """The SQL of DuckDB from version 1.5.6 on."""

    title = "DuckDB"
    total_forms: Final[dict[str, TotalForm]] = {
        **CONDITIONS, **CHOICES, **ARITHMETIC, **MATHEMATICS, **TEXTS, **DATES,
    }  # fmt: skip
    source: Path = ("source", "main")
    derived: Path = ("derived", "main")
    shares_values = True
    wide = "hugeint"

    def __init__(self) -> None:
        super().__init__("duckdb")

    def type_name(self, sql_type: SqlType) -> str:
        if sql_type.kind == "decimal":
            return f"decimal({sql_type.precision},{sql_type.scale})"
        return _TYPES[sql_type.kind]

    def try_cast(self, value: exp.Expr, sql_type: str) -> exp.Expr:
        return exp.TryCast(this=value, to=self.data_type(sql_type))

    def greatest(self, *values: exp.Expr) -> exp.Expr:
        return call("GREATEST")(*values)

    def least(self, *values: exp.Expr) -> exp.Expr:
        return call("LEAST")(*values)

    def quotient(self, dividend: exp.Expr, divisor: exp.Expr) -> exp.Expr:
        return exp.IntDiv(this=dividend, expression=divisor)

    def hashed(self, key: str, values: Sequence[exp.Expr]) -> exp.Expr:
        return call("HASH")(exp.Literal.string(key), *values)

    def character(self, code: int) -> exp.Expr:
        return call("CHR")(node.integer(code))

    def ordinary(self, moment: exp.Expr) -> exp.Expr:
        return ordinary(moment)

    def elapsed(self, unit: Literal["day", "second"], start: exp.Expr, end: exp.Expr) -> exp.Expr:
        return attempted("DATE_DIFF")(exp.Literal.string(unit), start, end)

    def one(self) -> exp.Expr:
        below = node.compare(exp.LT, call("RANDOM")(), node.integer(0))
        return node.plus(node.integer(1), self.cast(below, "int"))

    def listed(self, value: exp.Expr) -> exp.Expr:
        return call("LIST_VALUE")(value)

    def first_listed(self, values: exp.Expr, place: exp.Expr) -> exp.Expr:
        return call("LIST_EXTRACT")(values, place)


#: The dialect of every DuckDB.
DUCKDB: Final = DuckDB()
