"""The types of PEP 249: type objects, column descriptions and parameters;
and the translation of errors.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:  # the compiler is imported by the first connection, not by `import dpsql`
    from dpsql.planning.result_columns import OutputColumn
from collections.abc import Callable
from typing import TypeVar

from dpsql.errors import Error, InternalError, incident_note, owners_log, statement_incident
from dpsql.planning.result_columns import TypeCode, result_type

#: name, type code, display size, internal size, precision, scale, whether it may be NULL.
Described: TypeAlias = tuple[str, str, None, None, int | None, int | None, None]
_DECIMAL = re.compile(r"DECIMAL\((\d+),\s?(\d+)\)")


class TypeObject:
    """A type object, which equals every type code of its kind.

    >>> "DECIMAL(38,2)" == NUMBER, "VARCHAR" == STRING, "DATE" == NUMBER, "DECIMAL(38,2)[]" == NUMBER
    (True, True, False, False)
    """

    def __init__(self, code: TypeCode | None) -> None:
        self._code = code

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            facts = result_type(other)
            return facts is not None and facts.code is not None and facts.code == self._code
        return self is other

    def __hash__(self) -> int:
        return hash(self._code)


STRING = TypeObject("STRING")
BINARY = TypeObject("BINARY")
NUMBER = TypeObject("NUMBER")
DATETIME = TypeObject("DATETIME")
ROWID = TypeObject(None)

Date = date
Time = time
Timestamp = datetime
Binary = bytes
DateFromTicks = date.fromtimestamp
TimestampFromTicks = datetime.fromtimestamp


def TimeFromTicks(ticks: float) -> time:
    """The local time of day at a number of seconds since the epoch."""
    return datetime.fromtimestamp(ticks).time()


def described(column: OutputColumn) -> Described:
    """The entry of a column in ``description``: its name, DuckDB's type name,
    and a decimal's digits.
    """
    digits = _DECIMAL.fullmatch(column.type)
    precision, scale = (None, None) if digits is None else (int(digits[1]), int(digits[2]))
    return (column.name, column.type, None, None, precision, scale, None)


T = TypeVar("T")


def with_dpsql_errors(action: Callable[[], T]) -> T:
    """The value of ``action``; any other exception becomes an error of dpsql.

    The error has no cause and no traceback:
    messages of the engine and frames with exact rows could quote the data.
    """
    with statement_incident() as number:
        try:
            return action()
        except Error as error:
            translated = error
        except Exception as error:
            owners_log.record("a fault of dpsql", error)
            translated = InternalError(
                "E_INTERNAL the statement met a fault of dpsql; what it cost stays charged"
            )
            translated.add_note(incident_note(number))
    translated.__cause__ = translated.__context__ = None
    raise translated.with_traceback(None)
