"""Converts rows to columns, Arrow tables and data frames of pandas and polars."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from dpsql.errors import DataError, NotSupportedError
from dpsql.planning.result_columns import end_type, result_type, unused_name

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from dpsql.planning.result_columns import CellInterval

_DECIMAL = re.compile(r"DECIMAL\((\d+),\s?(\d+)\)")
_LIST = re.compile(r"(.*)\[\d*\]", re.DOTALL)


@dataclass(frozen=True)
class FrameColumns:
    """Rows stored by column: unique names, DuckDB's type names, and the values of each column."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    values: tuple[tuple[object, ...], ...]


def columns_of(
    named: Sequence[tuple[str, str]],
    rows: Sequence[tuple[object, ...]],
    intervals: Sequence[tuple[CellInterval | None, ...]] = (),
) -> FrameColumns:
    """The rows by column; with intervals,
    each column ``x`` that has some is followed by ``x_low`` and ``x_high``.

    >>> columns_of([("n", "BIGINT"), ("N", "BIGINT")], [(7, 8)], [((6.5, 7.5), None)]).names
    ('n', 'n_low', 'n_high', 'N_1')
    """
    names: list[str] = []
    types: list[str] = []
    values: list[tuple[object, ...]] = []
    for index, (name, sql_type) in enumerate(named):
        ends = [row[index] for row in intervals]
        names.append(unused_name(name, names))
        types.append(sql_type)
        values.append(tuple(row[index] for row in rows))
        if any(end is not None for end in ends):
            for side, word in enumerate(("low", "high")):
                names.append(unused_name(f"{name}_{word}", names))
                types.append(end_type(sql_type))
                values.append(tuple(None if end is None else end[side] for end in ends))
    return FrameColumns(tuple(names), tuple(types), tuple(values))


def require(*packages: str) -> None:
    """Raise NotSupportedError, which says what to install, if a package is missing."""
    for package in packages:
        if find_spec(package) is None:
            raise NotSupportedError(
                f"{package} is not installed; pip install {package}, or take the rows with fetchall()"
            )


def arrow_table(columns: FrameColumns) -> pyarrow.Table:
    """An Arrow table; raises DataError if a value is out of range of its Arrow type."""
    import pyarrow as pa

    try:
        arrays = [
            _array(values, kind) for values, kind in zip(columns.values, columns.types, strict=True)
        ]
    except (pa.ArrowException, OverflowError):
        raise DataError("a value is beyond its Arrow type; take the rows with fetchall()") from None
    return pa.Table.from_arrays(arrays, names=list(columns.names))


def _array(column: Sequence[object], sql_type: str) -> pyarrow.Array[Any]:
    import pyarrow as pa

    arrow_type = _arrow_type(sql_type)
    if sql_type.startswith("MAP") and arrow_type is not None:
        return pa.array(
            [list(value.items()) if isinstance(value, dict) else None for value in column],
            arrow_type,
        )
    if arrow_type is None:
        return pa.array(
            [None if value is None else _plain(value) for value in column],
            _text_or_inferred(sql_type),
        )
    return pa.array(column, arrow_type)


def _arrow_type(sql_type: str) -> pyarrow.DataType | None:
    """The Arrow type of an SQL type; None if Arrow has none, or infers it from the values."""
    import pyarrow as pa

    if (items := _LIST.fullmatch(sql_type)) is not None:
        inner = _arrow_type(items[1])
        return None if inner is None else pa.list_(inner)
    if (digits := _DECIMAL.fullmatch(sql_type)) is not None:
        return pa.decimal128(int(digits[1]), int(digits[2]))
    if sql_type.startswith("MAP("):
        key, value = (_arrow_type(type_text) for type_text in _two_parts(sql_type[4:-1]))
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
    for index, character in enumerate(inside):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            return inside[:index].strip(), inside[index + 1 :].strip()
    return inside, inside


def _text_or_inferred(sql_type: str) -> pyarrow.DataType | None:
    import pyarrow as pa

    return (
        None
        if sql_type.startswith(("STRUCT", "TUPLE", "MAP", "UNION")) or sql_type.endswith("]")
        else pa.string()
    )


def _plain(value: object) -> object:
    """A nested value as Arrow reads it: rows without names as numbered fields,
    unknown values as texts.
    """
    match value:
        case dict():
            return {str(name): _inside(item) for name, item in value.items()}
        case tuple():
            return {str(index): _inside(item) for index, item in enumerate(value, 1)}
        case list():
            return [_inside(item) for item in value]
        case _:
            return str(value)


def _inside(value: object) -> object:
    return _plain(value) if isinstance(value, dict | tuple | list) else value


def pandas_frame(columns: FrameColumns) -> pandas.DataFrame:
    """A pandas data frame: decimals and integers beyond 64 bits are floats, dates are datetime64.

    Integer and boolean columns with NULL have pandas' nullable types. Raises DataError if a
    timestamp or an interval of time is out of pandas' range.
    """
    import pandas as pd

    try:
        series = [
            _series(values, kind)
            for values, kind in zip(columns.values, columns.types, strict=True)
        ]
    except (ValueError, OverflowError):
        raise DataError(
            "a value is beyond its type in pandas; take the rows with fetchall()"
        ) from None
    return pd.DataFrame(dict(zip(columns.names, series, strict=True)))


def polars_frame(columns: FrameColumns) -> polars.DataFrame:
    """A polars data frame, made from the Arrow table."""
    import polars as pl

    frame = pl.from_arrow(arrow_table(columns))
    assert isinstance(frame, pl.DataFrame)
    return frame


def _series(column: Sequence[object], sql_type: str) -> pandas.Series[Any]:
    import pandas as pd

    dtype = _dtype(sql_type, nullable=None in column)
    if dtype == "float64" or dtype == "float32":
        return pd.Series(
            [
                float("nan") if value is None else float(value)  # type: ignore[arg-type]
                for value in column
            ],
            dtype=dtype,
        )
    return pd.Series(list(column), dtype=dtype)


def _dtype(sql_type: str, nullable: bool) -> str | None:
    """The type of a pandas column; None if pandas infers it from the values.

    >>> _dtype("BIGINT", False), _dtype("UTINYINT", True), _dtype("DECIMAL(5,2)", True), _dtype("DATE", False)
    ('int64', 'UInt8', 'float64', 'datetime64[us]')
    """
    known = result_type(sql_type)
    if known is None:
        return "object"
    return known.pandas_with_null if nullable else known.pandas
