"""Released rows as a data frame of pandas or of polars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpsql.dbapi.arrow import arrow_table
from dpsql.dbapi.columns import Columns
from dpsql.errors import DataError

if TYPE_CHECKING:
    import pandas
    import polars

_WIDTHS = {"TINYINT": "8", "SMALLINT": "16", "INTEGER": "32", "BIGINT": "64"}


def pandas_frame(columns: Columns) -> pandas.DataFrame:
    """The rows as pandas has them: decimals and integers beyond 64 bits as floats, dates as datetime64.

    Integers and booleans with NULL are of pandas' nullable types, so that the others stay what they are. DataError
    where a moment or a length of time is beyond them.
    """
    import pandas as pd

    try:
        series = [_series(values, kind) for values, kind in zip(columns.values, columns.types, strict=True)]
    except (ValueError, OverflowError):
        raise DataError("a value is beyond its type in pandas; take the rows with fetchall()") from None
    return pd.DataFrame(dict(zip(columns.names, series, strict=True)))


def polars_frame(columns: Columns) -> polars.DataFrame:
    """The rows as polars has them: what it makes of their Arrow table."""
    import polars as pl

    frame = pl.from_arrow(arrow_table(columns))
    assert isinstance(frame, pl.DataFrame)
    return frame


def _series(column: Sequence[object], sql_type: str) -> pandas.Series[Any]:
    import pandas as pd

    dtype = _dtype(sql_type, nullable=None in column)
    if dtype == "float64" or dtype == "float32":
        return pd.Series([float("nan") if value is None else float(value) for value in column], dtype=dtype)  # type: ignore[arg-type]
    return pd.Series(list(column), dtype=dtype)


def _dtype(sql_type: str, nullable: bool) -> Any:
    """The type of a pandas column; None where its values tell.

    >>> _dtype("BIGINT", False), _dtype("UTINYINT", True), _dtype("DECIMAL(5,2)", True), _dtype("DATE", False)
    ('int64', 'UInt8', 'float64', 'datetime64[us]')
    """
    plain = sql_type.removeprefix("U")
    if plain in _WIDTHS:
        name = ("u" if sql_type.startswith("U") else "") + "int" + _WIDTHS[plain]
        return name.replace("u", "U", 1).replace("i", "I", 1) if nullable else name
    match sql_type.partition("(")[0]:
        case "BOOLEAN":
            return "boolean" if nullable else "bool"
        case "DECIMAL" if sql_type.endswith(")"):
            return "float64"
        case "DOUBLE" | "HUGEINT" | "UHUGEINT":
            return "float64"
        case "FLOAT":
            return "float32"
        case "DATE" | "TIMESTAMP" | "TIMESTAMP_S" | "TIMESTAMP_MS" | "TIMESTAMP_NS":
            return "datetime64[us]"
        case "INTERVAL":
            return "timedelta64[us]"
        case "VARCHAR":
            return None if nullable else "str"
        case _:
            return "object"
