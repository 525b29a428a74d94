"""Where each gap is that the parser would close with a guess, and what is said of it;
^ stands before the place.
"""

from __future__ import annotations

import pytest

from dpsql.errors import Refused, StatementError
from dpsql.sql.parser.parse import parse
from dpsql.sql.parser.syntax_checks import MAX_DEPTH

REFUSED = {
    "this bracket is not closed": (
        "SELECT a FROM t WHERE b IN ^(1, 2",
        "SELECT ^(a, [1] FROM t",
        "SELECT ^[(1) FROM t",
    ),
    "this bracket closes none": (
        "SELECT a^) FROM t",
        "SELECT [1, 2^) FROM t",
        "SELECT (a^] FROM t",
        "SELECT (a)^) FROM t",
    ),
    "nothing stands before this comma": (
        "SELECT ^, a FROM t",
        "SELECT a, ^, b FROM t",
        "SELECT (^, a) FROM t",
        "SELECT [^, 1] FROM t",
        "SELECT DISTINCT ^, a FROM t",
        "SELECT ALL ^, a FROM t",
        "SELECT a FROM t GROUP BY ^, a",
        "SELECT a FROM t ORDER BY ^, a",
        "SELECT SUM(a) OVER (PARTITION BY ^, b) FROM t",
    ),
    "no name stands behind this AS": (
        "SELECT a AS^, b FROM t",
        "SELECT a ^AS",
        "SELECT (a ^AS) FROM t",
        "SELECT a ^AS;",
    ),
    "nothing stands before this AS": (
        "SELECT ^AS x FROM t",
        "SELECT (^AS x) FROM t",
        "SELECT STRUCT(^AS x) FROM t",
    ),
    "USING takes the names of columns": ("SELECT a FROM t JOIN u USING (^)",),
    "nothing stands between the comma and this JOIN": ("SELECT a FROM t, ^JOIN u ON t.x = u.x",),
    "DISTINCT ON takes its expressions in parentheses": ("SELECT DISTINCT ^ON a FROM t",),
    "NOT stands before this IS; write NOT before the whole, or IS NOT": (
        "SELECT a FROM t WHERE b NOT ^IS NULL",
    ),
    "> > is no operator; write >> or one of them": ("SELECT a > ^> b FROM t",),
    "< < is no operator; write << or one of them": ("SELECT a <\n^< b FROM t",),
    "no name stands before this dot": (
        "SELECT a FROM ^.t",
        "SELECT a FROM t JOIN ^.u ON 1 = 1",
        "SELECT a, ^.b FROM t",
        "SELECT (^.b) FROM t",
        "SELECT a FROM t GROUP BY ^.b",
    ),
    "no comma stands before this row of VALUES": (
        "VALUES (1) ^(2)",
        "VALUES (1), (2) ^(3)",
        "SELECT * FROM (VALUES (1), (2) ^(3)) AS v",
    ),
    'TABLE is a reserved word and no name; write "table" for one, in double quotes': (
        "SELECT a FROM ^table",
    ),
    'ALL is a reserved word and no name; write "all" for one, in double quotes': (
        "SELECT ^all.x FROM t",
    ),
    'LIMIT is a reserved word and no name; write "limit" for one, in double quotes': (
        "SELECT a ^limit FROM t",
    ),
    "a type's size is one number": ("SELECT CAST(a AS DECIMAL(^3 x)) FROM t",),
    "a side of a set operation has no name": ("SELECT a FROM t UNION (SELECT b FROM t) AS ^x",),
    "this JOIN has no condition; write ON … or USING (…), or CROSS JOIN for all pairs": (
        "SELECT a FROM t ^JOIN u",
        "SELECT a FROM t ^JOIN u JOIN v ON 1 = 1",
        "SELECT a FROM t ^JOIN u WHERE a > 1",
        "SELECT a FROM (t ^JOIN u) WHERE a > 1",
        "SELECT a FROM t ^JOIN u, v",
        "SELECT a FROM t LEFT ^JOIN u",
    ),
    "nothing stands behind this ON": (
        "SELECT a FROM t LEFT JOIN u ^ON",
        "SELECT a FROM t LEFT JOIN u ^ON WHERE a > 1",
        "SELECT a FROM (t JOIN u ^ON)",
    ),
    "USING takes the names of columns in parentheses": (
        "SELECT a FROM t LEFT JOIN u ^USING x",
        "SELECT a FROM t LEFT JOIN u ^USING",
    ),
    "nothing stands behind this GROUP BY": (
        "SELECT a FROM t ^GROUP BY",
        "SELECT a FROM t ^GROUP BY ORDER BY a",
        "SELECT a FROM t ^GROUP BY;",
        "SELECT a FROM (SELECT b FROM t ^GROUP BY) AS q",
    ),
    "a condition has no comma; join conditions with AND": (
        "SELECT a FROM t WHERE a^, b",
        "SELECT a FROM t HAVING a > 1^, b",
        "SELECT a FROM t QUALIFY a^, b",
        "SELECT a FROM t WHERE CASE WHEN a THEN b END^, c",
    ),
    "LIMIT takes one number; write LIMIT 5 OFFSET 10 for LIMIT 10, 5": (
        "SELECT a FROM t LIMIT 10^, 5",
    ),
    "a WHEN has no THEN": (
        "SELECT CASE WHEN a ^END FROM t",
        "SELECT CASE WHEN a ^ELSE 2 END FROM t",
        "SELECT CASE WHEN a ^WHEN b THEN 1 END FROM t",
    ),
    "this THEN has no WHEN": (
        "SELECT CASE a ^THEN 2 END FROM t",
        "SELECT CASE WHEN a THEN 1 ^THEN 2 END FROM t",
    ),
    "nothing stands behind this WHEN": ("SELECT CASE ^WHEN THEN 1 END FROM t",),
    "nothing stands behind this THEN": ("SELECT CASE WHEN a ^THEN END FROM t",),
    "nothing stands behind this ELSE": ("SELECT CASE WHEN a THEN 1 ^ELSE END FROM t",),
    "two values stand side by side; put a comma between them": (
        "SELECT a FROM t WHERE b IN (1 ^2)",
        "SELECT (1 ^NULL) FROM t",
        "SELECT [TRUE ^FALSE]",
    ),
    "no name stands before this AS": (
        "WITH ^AS (SELECT 1) SELECT 1",
        "WITH x AS (SELECT 1), ^AS (SELECT 2) SELECT 1",
        "WITH RECURSIVE ^AS (SELECT 1) SELECT 1",
    ),
    "AS stands between the name of a WITH and its query": (
        "WITH x ^(SELECT 1) SELECT 1",
        "WITH x AS (SELECT 1), y ^(SELECT 2) SELECT 1",
        "WITH ^x",
        "^WITH",
        "WITH x AS NOT MATERIALIZED (SELECT 1), y ^(SELECT 2) SELECT 1",
        "SELECT a FROM (WITH x ^(SELECT 1) SELECT 1)",
    ),
    "AS stands between the name of a window and its brackets": (
        "SELECT SUM(a) OVER w FROM t ^WINDOW w (ORDER BY a)",
    ),
    "FETCH with TIES or PERCENT is not answered; write LIMIT and a number": (
        "SELECT a FROM t FETCH FIRST ^3 ROWS WITH TIES",
        "SELECT a FROM t FETCH FIRST ^3 PERCENT ROWS ONLY",
    ),
    "send one statement at a time": ("SELECT 1; SELECT ^2",),
    f"the statement is nested more than {MAX_DEPTH} levels deep": (
        f"SELECT {'(' * MAX_DEPTH}^(1{')' * (MAX_DEPTH + 1)}",
    ),
}


@pytest.mark.parametrize(
    ("text", "said"), [(text, said) for said, texts in REFUSED.items() for text in texts]
)
def test_a_gap_is_named_where_it_is(text: str, said: str) -> None:
    with pytest.raises((StatementError, Refused)) as caught:
        parse(text.replace("^", ""))
    before = text[: text.index("^")].split("\n")
    assert caught.value.reason == said
    assert caught.value.position is not None
    assert (caught.value.position.line, caught.value.position.column) == (
        len(before),
        len(before[-1]) + 1,
    )


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a >> b FROM t",
        "SELECT a, .5 FROM t",
        "SELECT a AS from FROM t",
        "SELECT a FROM t AS where",
        "SELECT t.all FROM t",
        'SELECT "all" FROM "table"',
        "SELECT a FROM t GROUP BY ALL",
        "SELECT a FROM t LIMIT ALL",
        "SELECT a FROM t POSITIONAL JOIN u",
        "SELECT a FROM t CROSS JOIN u JOIN v ON 1 = 1",
        "SELECT 1;",
        "SELECT 1 -1",
        "SELECT a FROM t WHERE f(a, b) > 0",
        "SELECT a FROM t WHERE (b BETWEEN 1 AND 2) AND c",
        "SELECT CASE WHEN CASE WHEN a THEN b END THEN 1 ELSE CASE WHEN c THEN 2 END END FROM t",
        "SELECT a FROM t WHERE CASE WHEN f(a, b) THEN COALESCE(b, c) END",
        "SELECT AS STRUCT a FROM t",
        "WITH RECURSIVE x(n) AS (SELECT 1) SELECT n FROM x",
        "SELECT SUM(a) OVER w FROM t WINDOW w AS (ORDER BY a)",
        "WITH x(n) AS NOT MATERIALIZED (SELECT 1), y AS MATERIALIZED (SELECT 2) SELECT n FROM x, y",
        "WITH RECURSIVE x(n) USING KEY (n) AS (SELECT 1) SELECT n FROM x",
        "SELECT a FROM t FETCH FIRST 1 ROW ONLY",
        "SELECT (CASE WHEN a THEN 1 END, 2) FROM t",
        "SELECT a FROM t ORDER BY a LIMIT 3 OFFSET 2",
        f"SELECT {'(' * MAX_DEPTH}1{')' * MAX_DEPTH}",
        "SELECT a FROM t JOIN u USING (x), v JOIN w ON v.y = w.y",
        "SELECT a FROM t JOIN (u JOIN v ON u.x = v.x) ON t.x = u.x",
        "VALUES (1), (f(2)), ((3))",
    ],
)
def test_what_has_no_gap_is_read(text: str) -> None:
    assert parse(text).text == text
