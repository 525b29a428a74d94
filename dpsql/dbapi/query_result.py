"""What ``connection.sql`` and ``connection.tables`` give: an answer that is there whole,
as rows, frames or a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from dpsql.dbapi.display import html_table, text_table
from dpsql.dbapi.frames import FrameColumns, columns_of, require
from dpsql.dbapi.row import Row
from dpsql.errors import DataError

if (
    TYPE_CHECKING
):  # the compiler and the engine are imported by the first connection, not by `import dpsql`
    import pandas
    import polars
    import pyarrow

    from dpsql.planning.result_columns import CellInterval
    from dpsql.postprocessing import Price, Result
    from dpsql.schema import Schema


T = TypeVar("T")


class QueryResult:
    """The answer to one statement, which was charged when it was made;
    reading it again costs nothing.

    ``str()`` is a table of text, and a notebook shows the rows with their error bars,
    and ``took`` below.
    """

    def __init__(self, result: Result, took: str = "") -> None:
        self._result = result
        self._took = took

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self._result.columns)

    @property
    def types(self) -> tuple[str, ...]:
        """DuckDB's names of the types of the columns."""
        return tuple(column.type for column in self._result.columns)

    @property
    def rows(self) -> list[Row]:
        """The rows, whose values have names and intervals."""
        names = self.columns
        result = self._result
        return [
            Row(row, names, bars) for row, bars in zip(result.rows, result.intervals, strict=True)
        ]

    @property
    def intervals(self) -> list[tuple[CellInterval | None, ...]]:
        """For each row, the interval (low, high) of each cell;
        None for a cell that is exact or has no interval.
        """
        return list(self._result.intervals)

    @property
    def price(self) -> Price:
        """The ε that the statement was ``charged``, 0 if it was free;
        ``stored`` if it came from the answer store.
        """
        return self._result.price

    @property
    def took(self) -> str:
        """What the answer took of the budget and what was left then, in words;
        empty where that is not known.
        """
        return self._took

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices about the answer, such as a difference from what the statement asks for."""
        return self._result.notices

    def one(self) -> Row:
        """The only row; raises DataError if there are more or none."""
        if len(self) != 1:
            raise DataError(f"the answer has {len(self)} rows, not one")
        return self.rows[0]

    def rows_as(self, make: Callable[..., T]) -> list[T]:
        """The rows as values of a class of yours, called with the names of the columns:
        a dataclass, a NamedTuple.
        """
        return [make(**row.asdict()) for row in self.rows]

    def df(self, *, intervals: bool = False) -> pandas.DataFrame:
        """The rows as a pandas data frame; with ``intervals``,
        ``x_low`` and ``x_high`` follow each estimate ``x``.
        """
        require("pandas")
        from dpsql.dbapi.frames import pandas_frame

        return pandas_frame(self._by_column(intervals))

    def arrow(self, *, intervals: bool = False) -> pyarrow.Table:
        """The rows as an Arrow table; with ``intervals``,
        ``x_low`` and ``x_high`` follow each estimate ``x``.
        """
        require("pyarrow")
        from dpsql.dbapi.frames import arrow_table

        return arrow_table(self._by_column(intervals))

    def pl(self, *, intervals: bool = False) -> polars.DataFrame:
        """The rows as a polars data frame; with ``intervals``,
        ``x_low`` and ``x_high`` follow each estimate ``x``.
        """
        require("polars", "pyarrow")
        from dpsql.dbapi.frames import polars_frame

        return polars_frame(self._by_column(intervals))

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self._result.rows)

    def __getitem__(self, index: int) -> Row:
        names = self.columns
        result = self._result
        return Row(result.rows[index], names, result.intervals[index])

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        return text_table(self._result)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_table(self._result, self._took)

    def _by_column(self, intervals: bool) -> FrameColumns:
        result = self._result
        named = [(column.name, column.type) for column in result.columns]
        return columns_of(
            named, result.rows, result.intervals if intervals and not result.has_ends else ()
        )


def table_list(schema: Schema, synopses: Sequence[tuple[str, str]] = ()) -> Result:
    """A row for each table: its name, whether its rows are private,
    its columns with their types, and its comment.

    Each synopsis has a row too: its name, and what it is."""
    from dpsql.planning.result_columns import OutputColumn
    from dpsql.postprocessing import Result

    columns = tuple(
        OutputColumn(name, "VARCHAR") for name in ("name", "rows", "columns", "comment")
    )
    rows: list[tuple[object, ...]] = [
        (
            name,
            table.access,
            ", ".join(
                f"{column_name} {column.type}" for column_name, column in table.columns.items()
            ),
            table.comment,
        )
        for name, table in schema.tables.items()
    ]
    rows += [(name, "synopsis", "", description) for name, description in synopses]
    return Result(columns, rows, [(None,) * len(columns) for _ in rows])
