"""Kinds of columns: engine types, what an owner declares of them,
and values inside and outside of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any


@dataclass(frozen=True)
class Kind:
    """A kind of column: its engine types, what the schema declares of it,
    and tame and nasty values of it.
    """

    engine: tuple[str, ...]
    declared: dict[str, Any]
    tame: tuple[str, ...]
    nasty: tuple[str, ...]

    @property
    def family(self) -> str:
        return str(self.declared["type"]).partition("(")[0]

    @property
    def bounded(self) -> bool:
        return "bounds" in self.declared


def _doubles(*numbers: str) -> tuple[str, ...]:
    return tuple(f"'{number}'::DOUBLE" for number in numbers)


_FLOATS = _doubles(
    "nan",
    "inf",
    "-inf",
    "-0.0",
    "1e308",
    "-1e308",
    "5e-324",
    "1e-320",
    "9007199254740993",
    "1.0000000000000002",
    "0.1",
    "4.9999999999999999e-1",
)
_DATES = tuple(
    f"'{day}'::DATE"
    for day in (
        "infinity",
        "-infinity",
        "4714-01-01 (BC)",
        "5881580-07-10",
        "0001-01-01",
        "2019-12-31",
        "2021-01-01",
        "9999-12-31",
    )
)
_MOMENTS = tuple(
    f"'{moment}'::TIMESTAMP"
    for moment in (
        "infinity",
        "-infinity",
        "290309-12-22 (BC) 00:00:00",
        "294247-01-10 04:00:54.775806",
        "1969-12-31 23:59:59.999999",
        "2021-01-01 00:00:00",
    )
)
_TEXTS = (
    "''",
    "'a'",
    "'A '",
    "'Ä'",
    "'e' || chr(769)",
    "chr(233)",
    "chr(128512)",
    "'x%_\\'",
    "'1e400'",
    "'ss'",
)

KINDS: dict[str, Kind] = {
    "small": Kind(
        ("INTEGER", "SMALLINT", "TINYINT", "BIGINT"),
        {"type": "integer", "bounds": [0, 5]},
        ("0", "1", "2", "3", "5"),
        ("-1", "6", "127", "-128"),
    ),
    "wide": Kind(
        ("INTEGER", "BIGINT"),
        {"type": "integer", "bounds": [-1000, 100_000]},
        ("0", "7", "-1000", "100000", "52000"),
        ("2147483647", "-2147483648", "-1001", "100001"),
    ),
    "vast": Kind(
        ("BIGINT",),
        {"type": "integer", "bounds": [-(2**44), 2**44]},
        ("0", "5", "17592186044416"),
        ("9223372036854775807", "-9223372036854775808", "9007199254740993", "-17592186044417"),
    ),
    "above": Kind(
        ("INTEGER",),
        {"type": "integer", "bounds": [1000, 1010]},
        ("1000", "1004", "1010"),
        ("0", "5000"),
    ),
    "loose": Kind(
        ("BIGINT", "INTEGER"), {"type": "integer"}, ("0", "1", "2"), ("2147483647", "-2147483648")
    ),
    "price": Kind(
        ("DECIMAL(12,2)",),
        {"type": "decimal(12,2)", "bounds": [0, 500]},
        ("0.00", "19.99", "500.00", "7.5"),
        ("500.01", "-0.01", "9999999999.99", "-9999999999.99"),
    ),
    "ledger": Kind(
        ("DECIMAL(38,6)",),
        {"type": "decimal(38,6)", "bounds": [Decimal("-1000.5"), Decimal("1000.5")]},
        ("0.000001", "-1000.5", "12.25"),
        ("99999999999999999999999999999999.999999", "-1000.500001"),
    ),
    "share": Kind(
        ("DOUBLE", "FLOAT"),
        {"type": "double", "bounds": [0, 1]},
        ("0.25::DOUBLE", "1::DOUBLE", "0::DOUBLE"),
        (*_FLOATS[:4], "'1e38'::FLOAT", "'-1e-40'::FLOAT"),
    ),
    "signed": Kind(
        ("DOUBLE",),
        {"type": "double", "bounds": [-5, 3]},
        ("-5::DOUBLE", "3::DOUBLE", "0.1::DOUBLE"),
        _FLOATS,
    ),
    "great": Kind(
        ("DOUBLE",),
        {"type": "double", "bounds": [Decimal("-1e90"), Decimal("1e90")]},
        ("1e90::DOUBLE", "-1e90::DOUBLE", "1::DOUBLE"),
        _FLOATS,
    ),
    "tiny": Kind(
        ("DOUBLE",),
        {"type": "double", "bounds": [0, Decimal("1e-290")]},
        ("1e-291::DOUBLE", "0::DOUBLE"),
        _FLOATS,
    ),
    "real": Kind(("DOUBLE",), {"type": "double"}, ("1::DOUBLE", "2.5::DOUBLE"), _FLOATS),
    "grade": Kind(
        ("VARCHAR",), {"type": "text", "values": ["A", "B", "C"]}, ("'A'", "'B'", "'C'"), _TEXTS
    ),
    "word": Kind(("VARCHAR",), {"type": "text"}, ("'x'", "'y'", "'A'"), ("'X'", *_TEXTS)),
    "flag": Kind(("BOOLEAN",), {"type": "boolean"}, ("true", "false"), ()),
    "day": Kind(
        ("DATE",),
        {"type": "date", "bounds": [date(2020, 1, 1), date(2020, 12, 31)]},
        ("DATE '2020-01-01'", "DATE '2020-02-29'", "DATE '2020-12-31'"),
        _DATES,
    ),
    "birth": Kind(("DATE",), {"type": "date"}, ("DATE '1990-05-05'", "DATE '2020-02-29'"), _DATES),
    "moment": Kind(
        ("TIMESTAMP",),
        {"type": "timestamp", "bounds": [datetime(2020, 1, 1), datetime(2020, 12, 31)]},
        ("TIMESTAMP '2020-03-01 12:30:45'", "TIMESTAMP '2020-12-30 23:59:59'"),
        _MOMENTS,
    ),
}
