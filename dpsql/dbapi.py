"""PEP 249 over a session: connect, cursors, type objects; intervals, the budget and explanations beside them.

Every error that leaves here is one of ``dpsql.errors``; what an engine or Python said never does.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, time
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, NoReturn, Self, SupportsIndex, TypeAlias, TypeVar

from dpsql import errors
from dpsql.errors import Error, InterfaceError, InternalError, ProgrammingError

if TYPE_CHECKING:  # the compiler and the engine are imported by the first connection, not by `import dpsql`
    from dpsql.estimate import Interval
    from dpsql.explain import Explanation
    from dpsql.plan import OutputColumn
    from dpsql.privacy.accountant import Remaining
    from dpsql.schema import Schema
    from dpsql.session import Session
    from dpsql.shell import Result

apilevel: Final = "2.0"
#: Threads may share the module and connections, and each has its own cursors.
threadsafety: Final = 2
paramstyle: Final = "qmark"

Row: TypeAlias = tuple[object, ...]
#: name, type code, display size, internal size, precision, scale, whether it may be NULL.
Described: TypeAlias = tuple[str, str, None, None, int | None, int | None, None]
T = TypeVar("T")


class TypeObject:
    """Equal to every type code of its kind.

    >>> "DECIMAL(38,2)" == NUMBER, "VARCHAR" == STRING, "DATE" == NUMBER
    (True, True, False)
    """

    def __init__(self, *names: str) -> None:
        self._names = frozenset(names)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return other.partition("(")[0] in self._names
        return self is other

    def __hash__(self) -> int:
        return hash(self._names)


STRING = TypeObject("VARCHAR")
BINARY = TypeObject("BLOB")
NUMBER = TypeObject(
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
    "FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN",
)  # fmt: skip
DATETIME = TypeObject("DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "INTERVAL")
ROWID = TypeObject()

Date, Time, Timestamp, Binary = date, time, datetime, bytes
DateFromTicks = date.fromtimestamp
TimestampFromTicks = datetime.fromtimestamp


def TimeFromTicks(ticks: float) -> time:
    """The local time of day at a number of seconds since the epoch."""
    return datetime.fromtimestamp(ticks).time()


def connect(schema: str | Path | Schema, analyst: str = "analyst", *, ledger: str | Path | None = None) -> Connection:
    """A connection to the database that a schema file describes, in the name of one analyst.

    ``ledger`` is for the owner: by default what is spent is kept where the schema says, or beside the data.
    """
    from dpsql.session import open_session

    return Connection(_said(lambda: open_session(schema, analyst, ledger)))


class Connection:
    """One analyst's connection; the budget behind it is the database's, and is shared with all other connections."""

    Warning = errors.Warning
    Error = errors.Error
    InterfaceError = errors.InterfaceError
    DatabaseError = errors.DatabaseError
    DataError = errors.DataError
    OperationalError = errors.OperationalError
    IntegrityError = errors.IntegrityError
    InternalError = errors.InternalError
    ProgrammingError = errors.ProgrammingError
    NotSupportedError = errors.NotSupportedError

    def __init__(self, session: Session) -> None:
        self._session, self._lock = session, threading.Lock()
        self._process, self._closed = os.getpid(), False

    @property
    def analyst(self) -> str:
        return self._session.analyst

    @property
    def remaining(self) -> Remaining:
        """What is left of the budget for this analyst: ``epsilon``, ``delta``, ``share``."""
        return self._with_session(lambda session: session.remaining)

    @property
    def epsilon(self) -> Fraction:
        """What each statement of this connection costs; ``SET dpsql.epsilon = 0.5`` changes it."""
        return self._with_session(lambda session: session.epsilon)

    def explain(self, statement: str, parameters: Sequence[object] = ()) -> Explanation:
        """What the statement would cost and how exact it would be; this costs nothing and reads no row."""
        bound = _bound(parameters)
        return self._with_session(lambda session: session.explain(statement, bound))

    def execute(self, statement: str, parameters: Sequence[object] = ()) -> Cursor:
        """A new cursor on which the statement was run."""
        return self.cursor().execute(statement, parameters)

    def cursor(self) -> Cursor:
        """A new cursor on this connection; all cursors share its session."""
        self._require_open()
        return Cursor(self)

    def commit(self) -> None:
        """Nothing is pending, ever: what a statement costs is charged for good before it runs."""
        self._require_open()

    def rollback(self) -> None:
        """Takes nothing back: what was released cannot be unlearned, so what was charged stays charged."""
        self._require_open()

    def close(self) -> None:
        """Give the engine back; a second call is an InterfaceError, as PEP 249's test suite wants it."""
        with self._lock:
            self._require_open()
            self._closed = True
            self._session.close()

    def __enter__(self) -> Self:
        self._require_open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with suppress(InterfaceError):
            self.close()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("a Connection cannot be copied or pickled; connect again")

    def _with_session(self, action: Callable[[Session], T]) -> T:
        self._require_open()
        with self._lock:
            self._require_open()
            return _said(lambda: action(self._session))

    def _require_open(self) -> None:
        if self._process != os.getpid():
            raise InterfaceError("this connection was opened by another process; connect again in this one")
        if self._closed:
            raise InterfaceError("the connection is closed")


class Cursor:
    """The rows of one statement at a time, with an interval for each cell that is an estimate."""

    def __init__(self, connection: Connection) -> None:
        self.connection, self.arraysize = connection, 1
        self._result: Result | None = None
        self._next, self._closed = 0, False

    @property
    def description(self) -> list[Described] | None:
        """One entry a column; None before a statement that gives rows."""
        if self._result is None or not self._result.columns:
            return None
        return [_described(column) for column in self._result.columns]

    @property
    def rowcount(self) -> int:
        """How many rows the statement gave; -1 where it gives none."""
        return -1 if self._result is None or not self._result.columns else len(self._result.rows)

    @property
    def rownumber(self) -> int | None:
        """The place of the next row, counted from 0."""
        return None if self._result is None else self._next

    @property
    def intervals(self) -> list[tuple[Interval | None, ...]]:
        """(low, high) for each cell of every row of the result, None where the cell is exact or has no interval."""
        return list(self._rows().intervals)

    def execute(self, statement: str, parameters: Sequence[object] = ()) -> Self:
        """Run one statement; ``parameters`` are bound to its ``?`` as typed values and never become SQL text."""
        self._result = None
        self._result = self._run(statement, parameters)
        self._next = 0
        return self

    def executemany(self, statement: str, sets: Iterable[Sequence[object]]) -> Self:
        """Run the statement for each set of parameters, each at its price; the rows follow one another."""
        self._result = None
        results = [self._run(statement, parameters) for parameters in sets]
        if results:
            rows = [row for result in results for row in result.rows]
            intervals = [each for result in results for each in result.intervals]
            self._result = replace(results[-1], rows=rows, intervals=intervals)
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
        """All rows that were not fetched yet."""
        return self._take(len(self._rows().rows))

    def setinputsizes(self, sizes: Sequence[object]) -> None:
        """Nothing: parameters have the types of their values."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Nothing: values have any size."""

    def close(self) -> None:
        """Forget the rows; a closed cursor can be closed again."""
        self._closed, self._result = True, None

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
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, statement: str, parameters: Sequence[object]) -> Result:
        self._require_open()
        if not isinstance(statement, str):
            raise ProgrammingError("a statement is text")
        bound = _bound(parameters)
        return self.connection._with_session(lambda session: session.execute(statement, bound))

    def _take(self, size: int) -> list[Row]:
        rows = self._rows().rows[self._next : self._next + max(size, 0)]
        self._next += len(rows)
        return rows

    def _rows(self) -> Result:
        self._require_open()
        if self._result is None or not self._result.columns:
            raise ProgrammingError("there are no rows to fetch; execute a query first")
        return self._result

    def _require_open(self) -> None:
        if self._closed:
            raise InterfaceError("the cursor is closed")
        self.connection._require_open()


def _bound(parameters: Sequence[object]) -> tuple[object, ...]:
    if isinstance(parameters, (str, bytes)) or not isinstance(parameters, Sequence):
        raise ProgrammingError("parameters are a sequence, one value for each ? of the statement")
    return tuple(parameters)


def _described(column: OutputColumn) -> Described:
    kind, _, size = column.type.partition("(")
    precision, scale = (int(part) for part in size.rstrip(")").split(",")) if kind == "DECIMAL" else (None, None)
    return (column.name, column.type, None, None, precision, scale, None)


def _said(action: Callable[[], T]) -> T:
    """The action's value, or one error in dpsql's words.

    What an engine or Python said, and the frames that held exact rows, do not hang on to it: they could quote the data.
    """
    try:
        return action()
    except Error as error:
        said = error
    except Exception:
        said = InternalError("E_INTERNAL the statement met a fault of dpsql; what it cost stays charged")
    said.__cause__ = said.__context__ = None
    raise said.with_traceback(None)
