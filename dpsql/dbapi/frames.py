"""Released rows as an Arrow table or as a data frame of pandas or polars."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dpsql.dbapi.columns import Columns
from dpsql.errors import DataError
from dpsql.planning.result_types import result_type

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_DECIMAL = re.compile(r"DECIMAL\((\d+),\s?(\d+)\)")
_LIST = re.compile(r"(.*)\[\d*\]", re.DOTALL)


def arrow_table(columns: Columns) -> pyarrow.Table:
    """The columns as Arrow has them; DataError where a value is beyond its Arrow type."""
    import pyarrow as pa

    try:
        arrays = [_array(values, kind) for values, kind in zip(columns.values, columns.types, strict=True)]
    except (pa.ArrowException, OverflowError):
        raise DataError("a value is beyond its Arrow type; take the rows with fetchall()") from None
    return pa.Table.from_arrays(arrays, names=list(columns.names))


def _array(column: Sequence[object], sql_type: str) -> pyarrow.Array[Any]:
    import pyarrow as pa

    found = _arrow_type(sql_type)
    if sql_type.startswith("MAP") and found is not None:
        return pa.array([list(value.items()) if isinstance(value, dict) else None for value in column], found)
    if found is None:
        return pa.array([None if value is None else _plain(value) for value in column], _text_or_inferred(sql_type))
    return pa.array(column, found)


def _arrow_type(sql_type: str) -> pyarrow.DataType | None:
    """The Arrow type of an SQL type; None of those that Arrow lacks, or that their values tell."""
    import pyarrow as pa

    if (items := _LIST.fullmatch(sql_type)) is not None:
        inner = _arrow_type(items[1])
        return None if inner is None else pa.list_(inner)
    if (digits := _DECIMAL.fullmatch(sql_type)) is not None:
        return pa.decimal128(int(digits[1]), int(digits[2]))
    if sql_type.startswith("MAP("):
        key, value = (_arrow_type(part) for part in _two_parts(sql_type[4:-1]))
        return None if key is None or value is None else pa.map_(key, value)
    known = result_type(sql_type)
    if known is None or known.arrow is None:
        return None
    make: Callable[..., pyarrow.DataType] = getattr(pa, known.arrow.function)
    return make(*known.arrow.arguments)


def _two_parts(inside: str) -> tuple[str, str]:
    """The types of a map's keys and values.

    >>> _two_parts("DECIMAL(5,2), MAP(BIGINT, DATE)")
    ('DECIMAL(5,2)', 'MAP(BIGINT, DATE)')
    """
    depth = 0
    for place, character in enumerate(inside):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            return inside[:place].strip(), inside[place + 1 :].strip()
    return inside, inside


def _text_or_inferred(sql_type: str) -> pyarrow.DataType | None:
    import pyarrow as pa

    return None if sql_type.startswith(("STRUCT", "TUPLE", "MAP", "UNION")) or sql_type.endswith("]") else pa.string()


def _plain(value: object) -> object:
    """A nested value as Arrow reads it: a map as its pairs, a row without names by places; any other as its text."""
    match value:
        case dict():
            return {str(name): _inside(each) for name, each in value.items()}
        case tuple():
            return {str(place): _inside(each) for place, each in enumerate(value, 1)}
        case list():
            return [_inside(each) for each in value]
        case _:
            return str(value)


def _inside(value: object) -> object:
    return _plain(value) if isinstance(value, dict | tuple | list) else value


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


def _dtype(sql_type: str, nullable: bool) -> str | None:
    """The type of a pandas column; None where its values tell.

    >>> _dtype("BIGINT", False), _dtype("UTINYINT", True), _dtype("DECIMAL(5,2)", True), _dtype("DATE", False)
    ('int64', 'UInt8', 'float64', 'datetime64[us]')
    """
    known = result_type(sql_type)
    if known is None:
        return "object"
    return known.pandas_with_null if nullable else known.pandas
