"""A statement that is parsed and written again says to DuckDB what its text says."""

from __future__ import annotations

import duckdb
import pytest

from dpsql.sql.emit.syntax import STATEMENT
from dpsql.sql.parser.parse import parse

ROWS = "(VALUES (1, 'a', 2.5), (2, 'b', NULL), (3, 'a', 7), (4, NULL, 1)) AS t(x, y, z)"
OTHER = "(VALUES (1, 'one'), (3, 'three'), (3, 'drei')) AS u(x, w)"
TEXTS = (
    "SELECT INTERVAL '2 days 3:00', INTERVAL '-1 month 2:30:01.5', INTERVAL '3:00', INTERVAL 3 DAY",
    (
        "SELECT INTERVAL '2 days', INTERVAL '1 day -2 hours', INTERVAL ' 2 days ', INTERVAL '2' DAY, DATE "
        "'2024-02-29' + INTERVAL '1 year 4:00'"
    ),
    f"FROM {ROWS} SELECT y, x ORDER BY x DESC",
    f"SELECT x FROM {ROWS} ORDER BY x LIMIT ALL OFFSET 0",
    "SELECT 'it''s', '?'",
    f"SELECT x FROM {ROWS} ORDER BY z DESC NULLS LAST FETCH FIRST 1 ROW ONLY",
    f"SELECT x FROM {ROWS} ORDER BY x LIMIT 2 OFFSET 1",
    f"SELECT x FROM {ROWS} SEMI JOIN {OTHER} USING (x) ORDER BY x",
    f"SELECT t.x FROM {ROWS} ANTI JOIN {OTHER} ON t.x = u.x ORDER BY ALL",
    f"SELECT y, COUNT(*) FILTER (WHERE x > 1), MAX(z) FROM {ROWS} GROUP BY ALL ORDER BY y NULLS FIRST",
    f"SELECT * EXCLUDE (z) REPLACE (x * 10 AS x) FROM {ROWS} ORDER BY x",
    f"SELECT DISTINCT ON (y) y, x FROM {ROWS} ORDER BY y, x",
    f"SELECT x FROM {ROWS} QUALIFY ROW_NUMBER() OVER (PARTITION BY y ORDER BY x DESC) = 1 ORDER BY x",
    f"SELECT STRING_AGG(y, '-' ORDER BY x DESC), STRING_AGG(DISTINCT y, ',' ORDER BY y) FROM {ROWS}",
    f"SELECT y, GROUPING(y), SUM(x) FROM {ROWS} GROUP BY ROLLUP (y) ORDER BY 2, 1",
    "SELECT 7 // 2, 7 % 2, -7 // 2, 2 ** 3, 7 / 2",
    f"SELECT CASE y WHEN 'a' THEN 1 ELSE CASE WHEN x > 2 THEN 2 END END FROM {ROWS} ORDER BY x",
    "SELECT 1 + 2 * 3, (1 + 2) * 3, NOT TRUE OR TRUE",
    (
        f"WITH a AS (SELECT x FROM {ROWS}), b(k) AS (SELECT x + 1 FROM a) SELECT k FROM b WHERE k IN (SELECT "
        f"x FROM a) ORDER BY k"
    ),
    f"SELECT x FROM {ROWS} EXCEPT SELECT x FROM {OTHER} ORDER BY x",
    f"(SELECT x FROM {ROWS} LIMIT 1) UNION ALL SELECT 9 ORDER BY 1",
    (
        f"SELECT SUM(x) OVER w, LAG(x) OVER w FROM {ROWS} WINDOW w AS (ORDER BY x ROWS BETWEEN 1 PRECEDING "
        f"AND CURRENT ROW) ORDER BY x"
    ),
    f"SELECT x, w FROM {ROWS} LEFT JOIN {OTHER} USING (x) ORDER BY x, w",
    "SELECT '2024-02-29'::DATE, CAST('7' AS INTEGER), 1::BOOLEAN",
    f"SELECT COUNT(*) FROM {ROWS} WHERE y LIKE 'a%' ESCAPE '!' OR z IS NOT DISTINCT FROM NULL OR x BETWEEN 3 AND 4",
    f"SELECT x FROM {ROWS} WHERE x > ALL (SELECT 2) AND EXISTS (SELECT 1 FROM {OTHER} WHERE u.x < t.x) ORDER BY x",
    "VALUES (1, 'a'), (2, 'b')",
)


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_parsed_says_what_the_text_says(text: str) -> None:
    with duckdb.connect() as connection:
        written = connection.execute(STATEMENT.write(parse(text).tree)).fetchall()
        assert written == connection.execute(text).fetchall() and written
