"""Constant patterns: what is read the engine takes, and what is not read is refused."""

from __future__ import annotations

from datetime import date
from random import Random

import duckdb
import pytest
from sqlglot import exp

from dpsql.errors import StatementError
from dpsql.sql.binder.expressions.constant_arguments import (
    require_format,
    require_pattern,
    template_format,
)
from dpsql.sql.ir.expression import TEXT, Literal

READ = (
    "",
    "abc",
    "^a.c$",
    "(a|b)+?c{2,5}",
    "[a-z0-9_-]+@[^@]+",
    r"\d{3}-\d{4}",
    "a||b",
    "(?:x|y)*",
    "[[:alpha:]]+",
    "[]a]",
    "()",
    "a{0}",
    "(a{2}){3}",
    r"[\d.]+",
)
NOT_READ = (
    "(",
    ")",
    "a)",
    "[",
    "[]",
    "*a",
    "a**",
    "a{2",
    "{2}",
    "a{3,2}",
    "(?=a)",
    "(?i)a",
    "\\",
    r"\1",
    r"\Q",
    "a{1000}",
    "((a{50}){50})",
    "[z-a]",
    "[[:nothing:]]",
    "é",
    "a" * 201,
    "(" * 12 + ")" * 12,
    r"\pL",
    "(?P<n>a)",
    "]",
)


def _pattern(text: str) -> str:
    return str(require_pattern(Literal(text, TEXT), exp.Null()).value)


def _accepted(connection: duckdb.DuckDBPyConnection, pattern: str) -> None:
    """Every use of the pattern has a value on every text."""
    rows = connection.execute(
        "SELECT regexp_matches(x, $1), regexp_extract(x, $1), regexp_replace(x, $1, '', 'g') "
        "FROM (VALUES ('abc'), ('')) AS t(x)",
        [pattern],
    ).fetchall()
    assert len(rows) == 2 and all(value is not None for row in rows for value in row), pattern


@pytest.mark.parametrize("text", READ)
def test_the_engine_takes_what_is_read(text: str) -> None:
    with duckdb.connect() as connection:
        _accepted(connection, _pattern(text))


@pytest.mark.parametrize("text", NOT_READ)
def test_what_is_not_read_is_refused(text: str) -> None:
    with pytest.raises(StatementError, match="E_FUNC"):
        _pattern(text)


def test_the_engine_takes_every_pattern_that_is_read() -> None:
    random, read = Random(7), 0
    alphabet = [*"ab(|)[]{}*+?.^$-,12\\dwS:", "(?:", "[:alpha:]", "{2,3}"]
    with duckdb.connect() as connection:
        for _ in range(6_000):
            text = "".join(random.choices(alphabet, k=random.randint(1, 9)))
            try:
                pattern = _pattern(text)
            except StatementError:
                continue
            _accepted(connection, pattern)
            read += 1
    assert read > 500


@pytest.mark.parametrize("text", ["%Y-%m", "%d.%m.%y %H:%M:%S", "week %V of %G"])
def test_formats_are_taken(text: str) -> None:
    with duckdb.connect() as connection:
        wanted = require_format(Literal(text, TEXT), exp.Null()).value
        row = connection.execute(
            "SELECT strftime(DATE '2020-02-29', $1), try_strptime('2020', $1)", [wanted]
        ).fetchone()
    assert row == (date(2020, 2, 29).strftime(text), None)


@pytest.mark.parametrize("text", ["", "%", "%q", "%Y%", "%n", "é", "%-Y" * 100])
def test_other_formats_are_refused(text: str) -> None:
    with pytest.raises(StatementError, match="E_FUNC"):
        require_format(Literal(text, TEXT), exp.Null())


def test_templates_become_formats() -> None:
    assert (
        template_format(Literal("YYYY-MM-DD HH24:MI", TEXT), exp.Null()).value == "%Y-%m-%d %H:%M"
    )
    with pytest.raises(StatementError, match="E_FUNC"):
        template_format(Literal("Quarter", TEXT), exp.Null())
