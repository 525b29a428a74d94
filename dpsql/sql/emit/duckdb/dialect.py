"""DuckDB's words for what emitted SQL does.

Proved in ``docs/proofs/expression.md`` and ``docs/proofs/work.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from sqlglot import exp

from dpsql.schema import SqlType
from dpsql.sql.emit import node
from dpsql.sql.emit.dialect import Dialect, Path, Width
from dpsql.sql.emit.duckdb.conditions import CHOICES, CONDITIONS
from dpsql.sql.emit.duckdb.datetimes import DATES, ordinary
from dpsql.sql.emit.duckdb.guarded_calls import attempted, cast
from dpsql.sql.emit.duckdb.numbers import ARITHMETIC, MATHEMATICS
from dpsql.sql.emit.duckdb.texts import TEXTS
from dpsql.sql.emit.total_form import TotalForm, call, unless

_WIDTHS: Final[dict[Width, str]] = {"narrow": "int", "wide": "hugeint"}


class DuckDB(Dialect):
    """The SQL of DuckDB from version 1.5.6 on."""

    title = "DuckDB"
    total_forms: Final[dict[str, TotalForm]] = {
        **CONDITIONS, **CHOICES, **ARITHMETIC, **MATHEMATICS, **TEXTS, **DATES,
    }  # fmt: skip
    source: Path = ("source", "main")
    derived: Path = ("derived", "main")
    shares_values = True

    def __init__(self) -> None:
        super().__init__("duckdb")

    def type_name(self, sql_type: SqlType | Width) -> str:
        return _WIDTHS[sql_type] if isinstance(sql_type, str) else sql_type.engine_name

    def try_cast(self, value: exp.Expr, to: SqlType) -> exp.Expr:
        return exp.TryCast(this=value, to=self.data_type(self.type_name(to)))

    def unless_nan(self, value: exp.Expr) -> exp.Expr:
        return unless(value, cast(exp.Literal.string("NaN"), "double"))

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

    def days_later(self, day: exp.Expr, days: exp.Expr) -> exp.Expr:
        return node.plus(day, self.cast(days, "narrow"))

    def values(self, rows: Sequence[Sequence[exp.Expr]], alias: str, columns: Sequence[str]) -> exp.Expr:
        """VALUES, which DuckDB takes for a table with named columns."""
        named = exp.TableAlias(this=node.name(alias), columns=[node.name(each) for each in columns])
        return exp.Values(expressions=[exp.Tuple(expressions=[*row]) for row in rows], alias=named)

    def one(self) -> exp.Expr:
        """1, plus whether RANDOM() is below 0: it never is, and DuckDB does not know that."""
        below = node.compare(exp.LT, call("RANDOM")(), node.integer(0))
        return node.plus(node.integer(1), self.cast(below, "narrow"))

    def listed(self, value: exp.Expr) -> exp.Expr:
        return call("LIST_VALUE")(value)

    def first_listed(self, values: exp.Expr, place: exp.Expr) -> exp.Expr:
        return call("LIST_EXTRACT")(values, place)


#: The dialect of every DuckDB.
DUCKDB: Final = DuckDB()
