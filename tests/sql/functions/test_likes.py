"""LIKE and ILIKE are those of the engine, and no row makes them slow."""

from __future__ import annotations

import re
from itertools import product

import duckdb
import pytest
from hand_world import hand_world
from neighbours import planned

from dpsql.errors import StatementError
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.emit.scalar import native
from dpsql.sql.functions.like_patterns import liked, matched
from dpsql.sql.ir.expression import TEXT, ColumnRef, Literal

TEXTS = (
    "",
    "a",
    "ab",
    "aXb",
    "a.b",
    "a%b",
    "Ab\nB",
    "\u00e4b",
    "aab\u00e4ab",
    "[a](b)",
    "a\\b",
    "x" + "ab" * 20,
)
PATTERNS = (
    "%a%_b",
    "_%b%",
    "%a%b%",
    "a%b",
    "%%_%%",
    "_%_",
    "%\u00e4%_b",
    "%.%_",
    "%[a]%(_)",
    "%\\%_",
    "%_%_%_%",
    "",
)


@pytest.mark.parametrize("function", ["like", "ilike"])
def test_every_form_of_a_pattern_is_that_of_the_engine(function: str) -> None:
    value = ColumnRef("t", "s", TEXT, nullable=False)
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT unnest(?::VARCHAR[]) AS s", [list(TEXTS)])
        connection.execute("CREATE TABLE p AS SELECT unnest(?::VARCHAR[]) AS p", [list(PATTERNS)])
        for pattern in PATTERNS:
            tokens = [(each in "%_", each) for each in pattern]
            for form in (
                liked(function, value, Literal(pattern, TEXT)),
                matched(function, value, tokens),
            ):
                sql = native(DUCKDB, form).sql(dialect="duckdb")
                found = connection.execute(
                    f"SELECT s, {sql}, s {function} ? FROM t", [pattern]
                ).fetchall()
                assert [row for row in found if row[1] != row[2]] == [], (pattern, sql)
        column = native(
            DUCKDB, liked(function, value, ColumnRef("p", "p", TEXT, nullable=False))
        ).sql(dialect="duckdb")
        found = connection.execute(f"SELECT p, {column}, s {function} p FROM t, p").fetchall()
    assert all(mine == theirs for pattern, mine, theirs in found if pattern.count("%") < 3)
    assert all(mine is None for pattern, mine, _ in found if pattern.count("%") > 2)


def test_no_row_makes_a_pattern_slow() -> None:
    """What is emitted for LIKE has one %, or a constant without _,
    or a pattern that is NULL if it has more.
    """
    slow = [
        "'%a%a%a%a%_b'",
        "word || '%a%a%a%a%b'",
        "'%a!%%a%a%_b' ESCAPE '!'",
        "'%a%a%' || '_%'",
        "LOWER('%A%A%_')",
    ]
    for operator, pattern in product(("LIKE", "ILIKE", "NOT LIKE"), slow):
        (core,) = planned(
            hand_world(), f"SELECT COUNT(*) FROM visits WHERE word || 'aaaa' {operator} {pattern}"
        )
        guarded = (
            re.search(r"LIKE \(*(?:LOWER\(|LIST_EXTRACT\(LIST_VALUE\()*CASE WHEN ", core.sql)
            is not None
        )
        assert ("REGEXP_FULL_MATCH" in core.sql and "LIKE" not in core.sql) or guarded, core.sql


def test_a_long_text_is_compared_with_what_it_begins_with_alone() -> None:
    value, pattern = (
        ColumnRef("t", "s", TEXT, nullable=False),
        ColumnRef("t", "p", TEXT, nullable=False),
    )
    sql = native(DUCKDB, liked("like", value, pattern)).sql(dialect="duckdb")
    patterns = {"a%": True, "a_%": True, "%a": None, "a%a": None, "%": True, "b": False}
    with duckdb.connect() as connection:
        rows = "SELECT repeat('a', 1001) AS s, unnest(?::VARCHAR[]) AS p"
        assert (
            dict(
                connection.execute(
                    f"SELECT p, {sql} FROM ({rows}) AS t", [list(patterns)]
                ).fetchall()
            )
            == patterns
        )


def test_a_character_that_fails_on_some_rows_is_refused() -> None:
    for character in ("\u00e9", "%", "_"):
        with pytest.raises(StatementError, match="ESCAPE"):
            planned(
                hand_world(),
                f"SELECT COUNT(*) FROM visits WHERE word LIKE 'a' ESCAPE '{character}'",
            )
