"""What the definitions of synopses and of synthetic tables say, and which statements are none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dpsql.errors import Refused, StatementError
from dpsql.sql.parser.release_definitions import (
    SynopsisDefinition,
    SyntheticDefinition,
    synopsis_definition,
    synthetic_definition,
)

CLAUSE = "SELECT WITH DIFFERENTIAL_PRIVACY COUNT(*) FROM t"
COUNT = ("COUNT(*)",)
SYNOPSES = (
    (
        "SELECT a, b + 1 AS c, COUNT(*) AS n, SUM(d) FROM t JOIN u USING (x), v WHERE e > 1",
        SynopsisDefinition(
            ("a", "b + 1"), ("COUNT(*)", "SUM(d)"), "FROM t JOIN u USING (x), v WHERE e > 1", ()
        ),
    ),
    ("SELECT a FROM t GROUP BY a", SynopsisDefinition(("a",), COUNT, "FROM t", ())),
    ("SELECT SUM(a) FROM t", SynopsisDefinition((), ("SUM(a)",), "FROM t", ())),
    (
        "SELECT a FROM t FOR (SELECT 1;; SELECT (2) ; )",
        SynopsisDefinition(("a",), COUNT, "FROM t", ("SELECT 1", "SELECT (2)")),
    ),
    (
        "SELECT a FROM t WHERE b = 'for (x)' for(SELECT ';' AS \")\" FROM t) -- done",
        SynopsisDefinition(
            ("a",), COUNT, "FROM t WHERE b = 'for (x)'", ("SELECT ';' AS \")\" FROM t",)
        ),
    ),
    (
        "SELECT "
        + ", ".join("abcdefghijkl")
        + " FROM t FOR ("
        + "; ".join(["SELECT 1"] * 200)
        + ")",
        SynopsisDefinition(tuple("abcdefghijkl"), COUNT, "FROM t", ("SELECT 1",) * 200),
    ),
)


@pytest.mark.parametrize(("text", "definition"), SYNOPSES)
def test_a_synopsis_has_keys_measures_rows_and_a_workload(
    text: str, definition: SynopsisDefinition
) -> None:
    assert synopsis_definition(text) == definition


@pytest.mark.parametrize(
    ("keys", "measures", "text"),
    [
        ((), (1,), "SELECT SUM(d) AS m0 FROM t"),
        ((1, 0), (0,), "SELECT b AS k0, a AS k1, COUNT(*) AS m0 FROM t GROUP BY 1, 2"),
    ],
)
def test_a_marginal_of_a_synopsis_is_a_statement(
    keys: tuple[int, ...], measures: tuple[int, ...], text: str
) -> None:
    assert (
        synopsis_definition("SELECT a, b, COUNT(*), SUM(d) FROM t").marginal(keys, measures) == text
    )


SYNTHETIC = (
    ('SELECT A, T.b AS "C" FROM T', SyntheticDefinition("t", "t", (("a", "a"), ("c", "b")), "")),
    ("SELECT * FROM t AS Q WHERE a > 1", SyntheticDefinition("t", "q", None, " WHERE a > 1")),
    ("SELECT q.a FROM t AS Q", SyntheticDefinition("t", "q", (("a", "a"),), "")),
)


@pytest.mark.parametrize(("text", "definition"), SYNTHETIC)
def test_a_synthetic_table_has_columns_of_one_table(
    text: str, definition: SyntheticDefinition
) -> None:
    assert synthetic_definition(text) == definition


def test_a_marginal_of_a_synthetic_table_counts_its_rows() -> None:
    found = synthetic_definition("SELECT a, b FROM t AS q WHERE c").marginal(["b", "a"])
    assert found == 'SELECT b AS k0, a AS k1, COUNT(*) AS n FROM "t" AS "q" WHERE c GROUP BY 1, 2'


REFUSED: tuple[tuple[Callable[[str], object], str, str, tuple[str, ...]], ...] = (
    (
        synopsis_definition,
        "E_STMT",
        "leave all else out",
        (
            "SELECT a FROM t LIMIT 3",
            "SELECT a FROM t ORDER BY a",
            "SELECT DISTINCT a FROM t",
            "WITH q AS (SELECT 1) SELECT a FROM q",
            "SELECT a FROM t HAVING COUNT(*) > 1",
        ),
    ),
    (
        synopsis_definition,
        "E_STMT",
        "is made by SELECT keys, measures",
        ("SELECT a FROM t UNION SELECT b FROM t", "SELECT 1", CLAUSE),
    ),
    (
        synopsis_definition,
        "E_STMT",
        "names its keys and measures",
        ("SELECT * FROM t", "SELECT COUNT(*), * FROM t", "SELECT t.* FROM t"),
    ),
    (
        synopsis_definition,
        "E_LIMITS",
        "at most 12 keys, and at most 200 statements",
        (
            "SELECT " + ", ".join("abcdefghijklm") + " FROM t",
            "SELECT a FROM t FOR (" + "; ".join(["SELECT 1"] * 201) + ")",
        ),
    ),
    (
        synopsis_definition,
        "E_STMT",
        "FOR names the statements",
        ("SELECT a FROM t FOR ()", "SELECT a FROM t FOR ( ; )"),
    ),
    (
        synopsis_definition,
        "E_PARSE",
        "",
        (
            "SELECT a FROM (SELECT b FROM t for (x)) AS q",
            "SELECT a FROM t FOR (SELECT (1)) FOR (SELECT 2)",
            "SELECT a FROM t FOR (SELECT 1) + (2)",
            "SELECT a FROM t FOR (SELECT 1",
        ),
    ),
    (
        synthetic_definition,
        "E_STMT",
        "leave all but WHERE out",
        (
            "SELECT a FROM t, u",
            "SELECT a FROM t JOIN u USING (x)",
            "SELECT a FROM t LIMIT 1",
            "SELECT DISTINCT a FROM t",
            "SELECT a FROM t GROUP BY a",
        ),
    ),
    (
        synthetic_definition,
        "E_STMT",
        "is made by SELECT columns",
        ("SELECT a FROM t UNION SELECT a FROM t", CLAUSE),
    ),
    (
        synthetic_definition,
        "E_STMT",
        "of the rows of one table",
        ("SELECT 1", "SELECT a FROM f(1)", "SELECT a FROM (SELECT a FROM t) q"),
    ),
    (
        synthetic_definition,
        "E_STMT",
        "has plain columns",
        (
            "SELECT a + 1 FROM t",
            "SELECT *, a FROM t",
            "SELECT t.* FROM t",
            "SELECT COUNT(*) FROM t",
        ),
    ),
    (
        synthetic_definition,
        "E_STMT",
        "two columns have one name",
        ("SELECT a, a FROM t", "SELECT a, b AS A FROM t"),
    ),
    (
        synthetic_definition,
        "E_COLUMN",
        "there is no table `u` here",
        ("SELECT a AS b, u.c FROM t",),
    ),
    (synthetic_definition, "E_COLUMN", "there is no table `t` here", ("SELECT t.a FROM t AS q",)),
)


@pytest.mark.parametrize(
    ("read", "code", "said", "text"),
    [(read, code, said, text) for read, code, said, texts in REFUSED for text in texts],
    ids=[text[:60] for *_, texts in REFUSED for text in texts],
)
def test_another_statement_defines_nothing(
    read: Callable[[str], object], code: str, said: str, text: str
) -> None:
    with pytest.raises((Refused, StatementError)) as caught:
        read(text)
    assert caught.value.code == code and said in str(caught.value)
