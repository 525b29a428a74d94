"""Errors over released rows, in dpsql's words and PostgreSQL's codes.

They have no value in them, and no word of DuckDB's.
"""

from __future__ import annotations

import re
from typing import Final

import duckdb

from dpsql.errors import Error, PostProcessingFailed, PostProcessingStopped, StatementError

_OPERATOR: Final = re.compile(r"argument types '(?P<sign>[^\w(]+)\((?P<types>.*?)\)'")
_FUNCTION: Final = re.compile(r"argument types '(?P<name>\w+)\((?P<types>.*?)\)'")
#: The SQLSTATE, what DuckDB says of a statement with a name of the statement in it,
#: and what is #: said.
_NAMED: Final = (
    (
        "42803",
        r'column "([^"]+)" must appear in the GROUP BY',
        'column "{}" must appear in the GROUP BY clause or be used in an aggregate function',
    ),
    (
        "42703",
        r'(?:Referenced c|C)olumn "([^"]+)" (?:was )?(?:not found|does not exist)',
        'column "{}" does not exist',
    ),
    ("42703", r'does not have a column named "([^"]+)"', 'column "{}" does not exist'),
    (
        "42702",
        r'Ambiguous reference to column name "([^"]+)"',
        'column reference "{}" is ambiguous',
    ),
    ("42P01", r'Referenced table "([^"]+)" not found', 'missing FROM-clause entry for table "{}"'),
)
#: The same where no name is told.
_PLAIN: Final = (
    (
        "42804",
        r"Cannot (?:compare|combine|mix)",
        "values of different types stand together; CAST one of them",
    ),
    (
        "42601",
        r"same number of result columns",
        "each query of a set operation must have the same number of columns",
    ),
    ("42P10", r"ORDER term out of range", "ORDER BY position is not in select list"),
    ("2201W", r"LIMIT/OFFSET cannot be negative", "LIMIT and OFFSET must not be negative"),
)
_UNFIT: Final = (
    "the part of the statement that works on released rows does not fit their columns or types"
)
_STILL: Final = "; what was charged stays charged"


def unfit(error: duckdb.Error) -> StatementError:
    """The error for a query that does not fit its tables.

    It speaks of the statement and the schema alone.

    >>> print(unfit(duckdb.BinderException("No function matches the given name and argument types '+(TEXT, DATE)'")))
    E_SHELL operator does not exist: TEXT + DATE; a CAST may help
    """
    words = str(error)
    for sqlstate, pattern, says in _NAMED:
        match_ = re.search(pattern, words)
        if match_ is not None:
            return StatementError("E_SHELL", says.format(match_[1]), sqlstate=sqlstate)
    for sqlstate, pattern, says in _PLAIN:
        if re.search(pattern, words):
            return StatementError("E_SHELL", says, sqlstate=sqlstate)
    if (operator := _OPERATOR.search(words)) is not None:
        first, _, right = _types(operator["types"]).rpartition(", ")
        between = " ".join(word for word in (first, operator["sign"], right) if word)
        return StatementError(
            "E_SHELL", f"operator does not exist: {between}; a CAST may help", sqlstate="42883"
        )
    if (function := _FUNCTION.search(words)) is not None:
        called = f"{function['name']}({_types(function['types'])})"
        return StatementError(
            "E_SHELL", f"function {called} does not exist; a CAST may help", sqlstate="42883"
        )
    return StatementError("E_SHELL", _UNFIT)


def failed(error: duckdb.Error) -> Error:
    """The error for a query that failed on a value; all values are released or public.

    >>> print(failed(duckdb.ConversionException("Could not convert string 'day' to INT32")))
    E_SHELL over the released rows: a value cannot be converted to the type asked for; TRY_CAST gives NULL instead
    """
    words = str(error)
    match error:
        case duckdb.InterruptException():
            return PostProcessingStopped("57014", "it took too long" + _STILL)
        case duckdb.OutOfMemoryException():
            return PostProcessingStopped("53200", "there is too little memory" + _STILL)
        case duckdb.OutOfRangeException() if "square root" in words:
            return PostProcessingFailed(
                "2201F",
                "there is no square root of a negative number; SQRT(GREATEST(x, 0)) has a value",
            )
        case duckdb.OutOfRangeException() if "logarithm" in words:
            reason = "there is no logarithm of 0 or of a negative number; CASE WHEN x > 0 THEN LN(x) END is NULL there"
            return PostProcessingFailed("2201E", reason)
        case duckdb.OutOfRangeException():
            return PostProcessingFailed(
                "22003", "a number is out of the range of its type; CAST it to DOUBLE"
            )
        case duckdb.ConversionException() | duckdb.InvalidInputException() if (
            "out of range" in words
        ):
            return PostProcessingFailed(
                "22003",
                "a value is out of range of the type asked for; TRY_CAST gives NULL instead",
            )
        case duckdb.ConversionException():
            return PostProcessingFailed(
                "22P02",
                "a value cannot be converted to the type asked for; TRY_CAST gives NULL instead",
            )
        case duckdb.InvalidInputException() if "Division by zero" in words:
            return PostProcessingFailed(
                "22012", "something is divided by zero; NULLIF(…, 0) gives NULL instead"
            )
        case duckdb.InvalidInputException() if "More than one row" in words:
            return PostProcessingFailed(
                "21000", "a subquery that stands for one value gives several rows"
            )
        case duckdb.InvalidInputException():
            return PostProcessingFailed(
                "22023", "a function was given a value that it does not take"
            )
        case _:
            return PostProcessingFailed("22000", "the statement does not fit their values")


def _types(listed: str) -> str:
    return listed.replace("_LITERAL", "").replace("STRING", "VARCHAR")
