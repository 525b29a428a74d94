"""Errors of the catalogue: PostgreSQL's message for the client,
and the statement without constants for the log.
"""

from __future__ import annotations

import re

import duckdb
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import SqlglotError

from dpsql.errors import Error, OperationalError, ProgrammingError, StatementError
from dpsql.server.catalogue.store.function_macros import NO_SETTING

#: The code, what DuckDB says with the name in it, and what PostgreSQL says.
_NAMED = (
    (
        "E_COLUMN",
        re.compile(r'Column "([^"]+)" referenced that exists in the SELECT'),
        'column "{}" does not exist',
    ),
    (
        "E_COLUMN",
        re.compile(r'Referenced column "([^"]+)" not found'),
        'column "{}" does not exist',
    ),
    (
        "E_COLUMN",
        re.compile(r'does not have a column named "([^"]+)"'),
        'column "{}" does not exist',
    ),
    (
        "E_TABLE",
        re.compile(r'Referenced table "([^"]+)" not found'),
        'missing FROM-clause entry for table "{}"',
    ),
    (
        "E_COLUMN",
        re.compile(r'Ambiguous reference to column name "([^"]+)"'),
        'column reference "{}" is ambiguous',
    ),
)


_SETTING = re.compile(rf"{NO_SETTING}([^\n]{{1,63}})\Z")


class UnknownSetting(ProgrammingError):
    """The session has no setting of that name."""

    sqlstate = "42704"

    def __init__(self, name: str) -> None:
        super().__init__(f'unrecognized configuration parameter "{name}"')


class CatalogueTimeout(OperationalError):
    """A statement over the catalogue was stopped at its time limit."""

    sqlstate = "57014"


def fault(error: duckdb.Error) -> Error:
    """PostgreSQL's error for one of DuckDB's.

    >>> print(fault(duckdb.BinderException('Binder Error: Referenced column "x" not found in FROM clause!')))
    E_COLUMN column "x" does not exist
    """
    if isinstance(error, duckdb.InterruptException):
        return CatalogueTimeout("the statement over the catalogue took too long")
    setting = _SETTING.search(str(error))
    if setting is not None:
        return UnknownSetting(setting[1])
    for code, pattern, says in _NAMED:
        match = pattern.search(str(error))
        if match is not None:
            return StatementError(code, says.format(match[1]))
    return StatementError(
        "E_STMT", "this statement over the catalogue is not answered; the server's log has it"
    )


def absent(kind: str, name: str) -> StatementError:
    """The error for a missing object of a type such as ``regclass``.

    >>> absent("regclass", "nosuch").sqlstate
    '42P01'
    """
    match kind:
        case "regclass":
            return StatementError("E_TABLE", f'relation "{name}" does not exist')
        case "regproc":
            return StatementError("E_FUNC", f'function "{name}" does not exist')
    noun = {"regtype": "type", "regnamespace": "schema", "regrole": "role"}[kind]
    return StatementError("E_TYPE", f'{noun} "{name}" does not exist')


#: How many characters of an outline are kept.
LONGEST = 2_000


def outline(text: str) -> str:
    """The statement in one line, without comments and with ``?`` for each constant.

    >>> outline("SELECT pg_x(1) -- mine\\n FROM t WHERE name = 'ada'")
    'SELECT pg_x ( ? ) FROM t WHERE name = ?'
    """
    try:
        tokens = Postgres().tokenize(text[:LONGEST])
    except SqlglotError:
        return "a statement whose quotes or comments do not end"
    words = (text[token.start : token.end + 1] for token in tokens)
    return " ".join(
        "?" if "'" in word or "$" in word or word[:1].isdigit() else word for word in words
    )
