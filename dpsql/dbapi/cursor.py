"""A cursor of PEP 249: the rows of one statement at a time,
with an interval for each estimated cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from dpsql.dbapi.frames import FrameColumns, columns_of, require
from dpsql.dbapi.parameters import Parameters, bound
from dpsql.dbapi.pep249 import Described, described
from dpsql.dbapi.row import Row
from dpsql.errors import InterfaceError, ProgrammingError

if (
    TYPE_CHECKING
):  # the compiler and the engine are imported by the first connection, not by `import dpsql`
    import pandas
    import polars
    import pyarrow

    from dpsql.dbapi.connection import Connection
    from dpsql.planning.result_columns import CellInterval
    from dpsql.postprocessing import Price, Result

Frame = TypeVar("Frame")


class Cursor:
    """The rows of one statement at a time, with an interval for each cell that is an estimate."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.arraysize = 1
        self._result: Result | None = None
        self._next = 0
        self._closed = False

    @classmethod
    def of(cls, connection: Connection, result: Result) -> Self:
        """A cursor on an answer that is there already."""
        cursor = cls(connection)
        cursor._result = result
        return cursor

    @property
    def description(self) -> list[Described] | None:
        """The columns of the result, as PEP 249 describes them;
        None if there is no result with rows.
        """
        if self._result is None or not self._result.columns:
            return None
        return [described(column) for column in self._result.columns]

    @property
    def rowcount(self) -> int:
        """The number of rows of the result; -1 if the statement gives no rows."""
        return -1 if self._result is None or not self._result.columns else len(self._result.rows)

    @property
    def rownumber(self) -> int | None:
        """The place of the next row, counted from 0."""
        return None if self._result is None else self._next

    @property
    def intervals(self) -> list[tuple[CellInterval | None, ...]]:
        """For each row, the interval (low, high) of each cell;
        None for a cell that is exact or has no interval.
        """
        return list(self._rows().intervals)

    @property
    def has_interval_columns(self) -> bool:
        """Whether the rows have ``x_low`` and ``x_high`` among their columns, as
        ``SET dpsql.intervals = on`` asks.
        """
        return self._rows().has_ends

    @property
    def price(self) -> Price:
        """The ε that the statement was ``charged``, 0 if it was free;
        ``stored`` if it came from the answer store.

        For a statement of a workload it is a part of the block's charge; the parts add up to it.
        """
        self._require_open()
        if self._result is None:
            raise ProgrammingError("there is no price yet; execute a statement first")
        return self._result.price

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices about the answer, such as a difference from what the statement asks for."""
        self._require_open()
        return () if self._result is None else self._result.notices

    def execute(self, text: str, parameters: Parameters = ()) -> Self:
        """Run one statement; parameters are bound to its ``?`` or its ``:name`` as typed values.

        They never become SQL text. A list is what IN and ``= ANY`` take.
        """
        self._result = None
        self._result = self._run(text, parameters)
        self._next = 0
        return self

    def executemany(self, text: str, sets: Iterable[Parameters]) -> Self:
        """Run the statement once for each set of parameters, each at its price;
        the results follow one another.
        """
        self._result = None
        results = [self._run(text, parameters) for parameters in sets]
        if results:
            rows = [row for result in results for row in result.rows]
            intervals = [interval for result in results for interval in result.intervals]
            prices = [result.price for result in results]
            price = replace(
                prices[-1],
                charged=sum((price.charged for price in prices), Fraction(0)),
                stored=all(price.stored for price in prices),
            )
            self._result = replace(results[-1], rows=rows, intervals=intervals, price=price)
        self._next = 0
        return self

    def fetchone(self) -> Row | None:
        """The next row; None when there is none left."""
        rows = self._take(1)
        return rows[0] if rows else None

    def fetchmany(self, size: int | None = None) -> list[Row]:
        """The next ``size`` rows, or ``arraysize`` of them."""
        return self._take(self.arraysize if size is None else size)

    def fetchall(self) -> list[Row]:
        """The remaining rows."""
        return self._take(len(self._rows().rows))

    def fetch_arrow_table(self, *, intervals: bool = False) -> pyarrow.Table:
        """The remaining rows as an Arrow table with the SQL types.

        With ``intervals``, each estimated column ``x`` is followed by ``x_low`` and ``x_high``.
        """
        require("pyarrow")
        from dpsql.dbapi.frames import arrow_table

        return self._made(arrow_table, intervals)

    def fetchdf(self, *, intervals: bool = False) -> pandas.DataFrame:
        """The remaining rows as a pandas data frame,
        with decimals as floats and dates as datetime64.
        """
        require("pandas")
        from dpsql.dbapi.frames import pandas_frame

        return self._made(pandas_frame, intervals)

    def pl(self, *, intervals: bool = False) -> polars.DataFrame:
        """The remaining rows as a polars data frame with the SQL types."""
        require("polars", "pyarrow")
        from dpsql.dbapi.frames import polars_frame

        return self._made(polars_frame, intervals)

    def _made(self, make: Callable[[FrameColumns], Frame], intervals: bool) -> Frame:
        """Make a frame of the remaining rows; if that fails, the rows can still be fetched."""
        result = self._rows()
        start = self._next
        named = [(column.name, column.type) for column in result.columns]
        frame = make(
            columns_of(
                named,
                result.rows[start:],
                result.intervals[start:] if intervals and not result.has_ends else (),
            )
        )
        self._next = len(result.rows)
        return frame

    def setinputsizes(self, sizes: Sequence[object]) -> None:
        """Does nothing: parameters have the types of their values."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Does nothing: values have any size."""

    def close(self) -> None:
        """Forget the rows; a closed cursor can be closed again."""
        self._closed = True
        self._result = None

    def __iter__(self) -> Iterator[Row]:
        return self

    def __next__(self) -> Row:
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _run(self, text: str, parameters: Parameters) -> Result:
        self._require_open()
        plain, values = bound(text, parameters)
        return self.connection._with_session(lambda session: session.execute(plain, values))

    def _take(self, size: int) -> list[Row]:
        result = self._rows()
        start = self._next
        end = start + max(size, 0)
        names = tuple(column.name for column in result.columns)
        pairs = zip(result.rows[start:end], result.intervals[start:end], strict=True)
        rows = [Row(row, names, bars) for row, bars in pairs]
        self._next += len(rows)
        return rows

    def _answer(self) -> Result:
        assert self._result is not None
        return self._result

    def _rows(self) -> Result:
        self._require_open()
        if self._result is None or not self._result.columns:
            raise ProgrammingError("there are no rows to fetch; execute a query first")
        return self._result

    def _require_open(self) -> None:
        if self._closed:
            raise InterfaceError("the cursor is closed")
        self.connection._require_open()
