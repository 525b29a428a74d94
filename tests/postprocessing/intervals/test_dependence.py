"""What noise chooses among released numbers, and what it goes through smoothly,
as the text of a statement tells.
"""

from __future__ import annotations

import pytest
import sqlglot

from dpsql.postprocessing.intervals.dependence import Dependence
from dpsql.postprocessing.intervals.lineage import Lineage

GROUPS = "(SELECT core0.k0 AS k, core0.a0 AS n, core0.a1 AS s, core0.a2 AS m FROM released.core0 AS core0) AS g"
PUBLIC, SMOOTH, CHOSEN = Dependence
COLUMNS = {"core0": {"row": PUBLIC, "k0": PUBLIC, "a0": SMOOTH, "a1": SMOOTH, "a2": CHOSEN}}
#: Statements, with a letter for each of their columns: public,
#: smooth or chosen. ``a2`` is not #: drawn again.
KNOWN = {
    f"SELECT k, n, s + 1, m, n / SUM(s) OVER (), LENGTH(k) FROM {GROUPS}": "psscsp",
    f"SELECT SUM(n), AVG(s / n), STDDEV(n), COUNT(*), SUM(m) FROM {GROUPS}": "sscsc",
    f"SELECT MAX(n), MIN(n), MEDIAN(n), COUNT(n), COUNT(DISTINCT n), ANY_VALUE(n) FROM {GROUPS}": "cccccc",
    f"SELECT LIST(n ORDER BY k), FIRST(n ORDER BY n), ARG_MAX(k, n), GREATEST(1, SUM(n)) FROM {GROUPS}": "cccc",
    f"SELECT RANK() OVER (ORDER BY n), SUM(n) OVER (ORDER BY k), LAG(n) OVER (ORDER BY n) FROM {GROUPS}": "csc",
    f"SELECT SUM(n) OVER (PARTITION BY s > 3), ROW_NUMBER() OVER (ORDER BY k) FROM {GROUPS}": "cs",
    f"SELECT CASE WHEN n > 3 THEN s END, CASE WHEN k > 3 THEN s END, n > 3, ABS(n - s) FROM {GROUPS}": "cscc",
    (
        "SELECT SUM(n) FILTER (WHERE s > 3), SUM(n) FILTER (WHERE k > 3), COUNT(*) FILTER "
        f"(WHERE n > 3) FROM {GROUPS}"
    ): "csc",
    f"SELECT k, SUM(n) FROM {GROUPS} WHERE k > 3 GROUP BY k": "ps",
    f"SELECT k, SUM(n), COUNT(*) FROM {GROUPS} WHERE s > 3 GROUP BY k": "pcc",
    f"SELECT SUM(n) FROM (SELECT k, n FROM {GROUPS} ORDER BY n LIMIT 3) AS h": "c",
    f"SELECT SUM(n) FROM (SELECT k, n FROM {GROUPS} ORDER BY k LIMIT 3) AS h": "s",
    f"SELECT SUM(n) FROM (SELECT k, n FROM {GROUPS} LIMIT 3) AS h": "c",
    f"SELECT COUNT(*) FROM (SELECT k FROM {GROUPS} GROUP BY k HAVING SUM(n) > 3) AS h": "c",
    f"SELECT COUNT(*) FROM (SELECT DISTINCT n FROM {GROUPS}) AS h": "c",
    f"SELECT COUNT(*) FROM (SELECT k, n FROM {GROUPS} QUALIFY n > 3) AS h": "c",
    f"SELECT SUM(g.n) FROM {GROUPS} JOIN {GROUPS[:-1]}h ON g.n > h.n": "c",
    f"SELECT SUM(g.n) FROM {GROUPS} JOIN {GROUPS[:-1]}h USING (k)": "s",
    f"SELECT SUM(g.n) FROM {GROUPS} JOIN {GROUPS[:-1]}h USING (n)": "c",
    f"SELECT n / (SELECT SUM(n) FROM {GROUPS}), n / (SELECT MAX(n) FROM {GROUPS}) FROM {GROUPS}": "sc",
    f"SELECT SUM(n) FROM {GROUPS} WHERE k IN (SELECT k FROM {GROUPS} WHERE n > 3)": "c",
    f"SELECT k, n FROM {GROUPS} UNION ALL SELECT 0, SUM(n) FROM {GROUPS}": "ps",
    f"SELECT k, n FROM {GROUPS} EXCEPT SELECT k, s FROM {GROUPS}": "pc",
    f"SELECT x, y FROM (SELECT n, k FROM {GROUPS}) AS t(x, y)": "sp",
    f"SELECT t + 1 FROM (SELECT n AS t, MAX(n) OVER () AS u FROM {GROUPS}) AS h": "s",
    f"SELECT nobody_knows, something(n), n + 1 AS more, more FROM {GROUPS}": "ccss",
}


@pytest.mark.parametrize("text", KNOWN)
def test_what_noise_chooses_is_seen_in_the_text(text: str) -> None:
    query = sqlglot.parse_one(text, dialect="duckdb")
    found = Lineage(COLUMNS, {}).query(query)
    assert found.columns is not None
    letters = {Dependence.PUBLIC: "p", Dependence.SMOOTH: "s", Dependence.CHOSEN: "c"}
    chosen = [
        CHOSEN if found.chosen_rows and each.dependence else each.dependence
        for each in found.columns
    ]
    assert "".join(letters[each] for each in chosen) == KNOWN[text]


def test_of_a_table_whose_columns_are_not_known_nothing_is_known() -> None:
    query = sqlglot.parse_one("SELECT * FROM unknown", dialect="duckdb")
    assert Lineage({}, {}).query(query).columns is None
    assert Lineage({}, {"unknown": ["x"]}).query(query).columns is not None


def test_a_subquery_is_followed_about_as_often_as_it_stands_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else the time would double with each subquery inside of another."""
    followed: list[int] = []
    query = Lineage.query

    def counted(self: Lineage, tree: sqlglot.exp.Expr, *more: object) -> object:
        followed.append(1)
        return query(self, tree, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(Lineage, "query", counted)
    text = "n"
    for _ in range(10):
        text = f"n + (SELECT SUM({text}) FROM {GROUPS} WHERE k > 2)"
    Lineage(COLUMNS, {}).query(sqlglot.parse_one(f"SELECT {text} FROM {GROUPS}", dialect="duckdb"))
    assert 11 <= len(followed) <= 60
