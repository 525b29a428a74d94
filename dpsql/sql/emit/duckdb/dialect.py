"""DuckDB's words for what emitted SQL does.

Proved in ``docs/proofs/expression.md`` and ``docs/proofs/work.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal

from sqlglot import exp

from dpsql.schema import SqlType
from dpsql.sql.emit import node
from dpsql.sql.emit.dialect import Dialect, Path, Width
from dpsql.sql.emit.duckdb import nobody_rows, per_row_evaluation
from dpsql.sql.emit.duckdb.conditions import CHOICES, CONDITIONS
from dpsql.sql.emit.duckdb.datetimes import DATES, ordinary
from dpsql.sql.emit.duckdb.guarded_calls import attempted, cast
from dpsql.sql.emit.duckdb.numbers import ARITHMETIC, MATHEMATICS
from dpsql.sql.emit.duckdb.precomputed_columns import precompute
from dpsql.sql.emit.duckdb.texts import TEXTS
from dpsql.sql.emit.total_form import TotalForm, call, unless
from dpsql.sql.ir.expression import Expression

_WIDTHS: Final[dict[Width, str]] = {"narrow": "int", "wide": "hugeint"}


class DuckDB(Dialect):
    """The SQL of DuckDB from version 1.5.6 on."""

    title = "DuckDB"
    total_forms: Final[dict[str, TotalForm]] = {
        **CONDITIONS,
        **CHOICES,
        **ARITHMETIC,
        **MATHEMATICS,
        **TEXTS,
        **DATES,
    }
    source: Path = ("source", "main")
    derived: Path = ("derived", "main")
    reads_every_side = False

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

    def values(
        self, rows: Sequence[Sequence[exp.Expr]], alias: str, columns: Sequence[str]
    ) -> exp.Expr:
        return nobody_rows.values(rows, alias, columns)

    def rows(self, emit: Callable[[], exp.Select]) -> exp.Select:
        """The rows with flat values, what joins compare computed before them,
        and columns of ones.
        """
        tree = per_row_evaluation.emitted_flat(emit)
        for select in list(tree.find_all(exp.Select)):
            precompute(select)
        per_row_evaluation.with_opaque_ones(tree)
        return tree

    def reads_flat(self, function: str) -> bool:
        return per_row_evaluation.reads_flat(function)

    def flat(self, emitted: exp.Expr, expression: Expression) -> exp.Expr:
        return per_row_evaluation.flat(emitted, expression)

    def tested_on_each_row(self, condition: exp.Expr, column: exp.Expr | None) -> exp.Expr:
        """A comparison of a column with itself, whose outcome DuckDB does not know;
        elsewhere of the ones.
        """
        other = node.bare(per_row_evaluation.ONE) if column is None else column
        return node.case(
            (condition, exp.true()), default=node.compare(exp.NEQ, other, other.copy())
        )

    def units_above_limit(
        self,
        unit: exp.Expr,
        source: exp.Expr,
        above: exp.Expr,
        joins: Sequence[exp.Join] = (),
        where: exp.Expr | None = None,
    ) -> exp.Query:
        return nobody_rows.units_above_limit(unit, source, above, joins, where=where)

    def look_up(self, unit: exp.Expr, units: exp.Expr) -> exp.Join:
        return nobody_rows.look_up(unit, units)

    def is_listed(self, listed: exp.Expr, unit: exp.Expr) -> exp.Expr:
        return nobody_rows.is_listed(listed, unit)

    def intersected(self, selects: Sequence[exp.Select], *, private: bool) -> exp.Query:
        return nobody_rows.intersected(selects, private=private)

    def exists(self, query: exp.Select) -> exp.Expr:
        """EXISTS that is compared: DuckDB makes a semi-join of a plain one,
        which may end before it has read.
        """
        return node.paren(self.same(exp.Exists(this=query), exp.true()))

    def same(self, left_side: exp.Expr, right_side: exp.Expr) -> exp.Expr:
        return nobody_rows.same(left_side, right_side)

    def cte(self, name: str, query: exp.Query, keep: bool | None) -> exp.CTE:
        return exp.CTE(this=query, alias=exp.TableAlias(this=node.name(name)), materialized=keep)

    def sum(self, value: exp.Expr) -> exp.Expr:
        """SUM, which DuckDB makes HUGEINT."""
        return exp.Sum(this=value)


#: The dialect of every DuckDB.
DUCKDB: Final = DuckDB()
