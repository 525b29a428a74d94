"""Values written as SQL constants for the store."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from dpsql.errors import DataError


def literal(value: object) -> str:
    """The constant; DataError for a value that no catalogue has.

    >>> literal("it's"), literal(["a", None]), literal(True), literal(5)
    ("'it''s'", "['a', NULL]", 'true', '5')
    """
    match value:
        case None:
            return "NULL"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value) if value == value and abs(value) != float("inf") else literal(str(value))
        case Decimal():
            return literal(str(value))
        case str() if "\0" in value:
            raise DataError("a text with the character 0 cannot be asked for in the catalogue")
        case str():
            return "'" + value.replace("'", "''") + "'"
        case bytes():
            return literal(value.decode("utf-8", "replace"))
        case datetime() | date():
            return literal(value.isoformat())
        case list() | tuple():
            return "[" + ", ".join(map(literal, value)) + "]"
    raise DataError(f"a value of Python's type {type(value).__name__} cannot be asked for in the catalogue")
