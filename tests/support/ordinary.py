"""A small table of ordinary values, whose columns keep what is declared of them,
and expressions read over it.
"""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction

from sqlglot import exp

from dpsql.schema import SqlType
from dpsql.sql.binder.expressions.expression_reader import Reader
from dpsql.sql.ir.expression import ColumnRef, Expression
from dpsql.sql.parser.parse import parse

ROWS = """
CREATE TABLE t (i INTEGER, i2 BIGINT, x DOUBLE, m DECIMAL(12,2), s VARCHAR, d DATE, ts TIMESTAMP, b BOOLEAN);
INSERT INTO t VALUES
    (3, 3, 2.5, 19.99, 'abc', '2020-02-29', '2020-02-29 13:14:15.5', true),
    (-4, 7, -2.5, 2.35, 'aBba', '2019-12-31', '2019-12-31 23:59:59.999999', false),
    (0, 0, 0.125, 0, '', '2021-01-01', '2021-01-01 00:00:00', NULL),
    (7, -1, 8.75, 500, 'b!%x', '2020-06-15', '2020-06-15 12:00:00', true),
    (12, 20, -0.5, 0.29, 'éa', '2020-01-31', '2020-01-31 06:30:00', false),
    (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (20, 2, 9, 1.05, '2020-05-17', '2019-01-01', '2019-01-01 00:00:01', true),
    (-5, 5, 0, 100.5, 'a-b-c', '2021-12-30', '2021-12-30 18:00:00', false);
"""


def _column(name: str, sql_type: str, low: object = None, high: object = None) -> ColumnRef:
    bounds = None if low is None else (low, high)
    return ColumnRef("t", name, SqlType.parse(sql_type), True, bounds)  # type: ignore[arg-type]


COLUMNS = {
    column.name: column
    for column in (
        _column("i", "integer", Fraction(-5), Fraction(20)),
        _column("i2", "bigint", Fraction(-1), Fraction(20)),
        _column("x", "double", Fraction(-5, 2), Fraction(9)),
        _column("m", "decimal(12,2)", Fraction(0), Fraction(500)),
        ColumnRef(
            "t",
            "s",
            SqlType("text"),
            True,
            None,
            ("abc", "aBba", "", "b!%x", "éa", "2020-05-17", "a-b-c"),
        ),
        _column("d", "date", date(2019, 1, 1), date(2021, 12, 30)),
        _column("ts", "timestamp", datetime(2019, 1, 1), datetime(2021, 12, 30, 18)),
        _column("b", "boolean"),
    )
}


def read(text: str, columns: dict[str, ColumnRef] = COLUMNS) -> Expression:
    """The expression that the text means over the columns."""
    (item,) = parse(f"SELECT {text}").tree.expressions

    def resolve(node: exp.Column) -> Expression:
        return columns[node.name]

    return Reader(resolve).expression(item)
