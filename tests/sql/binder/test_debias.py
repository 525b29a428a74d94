"""A SELECT over collected columns becomes arithmetic over counts of reports,
with the ends of intervals.
"""

from __future__ import annotations

from statistics import NormalDist

import pytest

from dpsql.errors import Refused, StatementError
from dpsql.schema import Schema, loads
from dpsql.sql.binder.collected.debias import HIGH, LOW, debiased
from dpsql.sql.parser.parse import parse

SCHEMA = """
name = "survey"
source = "survey.duckdb"
[privacy]
unit = "people.person"
epsilon = 1
delta = 0
confidence = {confidence}
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
person = {{ type = "integer" }}
says = {{ type = "boolean", collected = {{ mechanism = "randomized_response", truth = 0.75 }} }}
[tables.reports]
public = true
[tables.reports.columns]
kind = {{ type = "text", values = ["a", "b"], collected = {{ mechanism = "randomized_response", truth = 0.75 }} }}
"""


def survey(confidence: float = 0.95) -> Schema:
    return loads(SCHEMA.format(confidence=confidence))


@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_the_outermost_columns_have_ends_at_the_confidence_of_the_schema(confidence: float) -> None:
    found = debiased(
        parse("SELECT COUNT(*) AS n FROM reports WHERE kind = 'a'").tree, survey(confidence)
    )
    assert found.rewritten and not found.private and not found.notices
    count, low, high = found.tree.selects
    assert (count.alias, low.alias, high.alias) == ("n", f"{LOW}0", f"{HIGH}0")
    assert all(
        str(NormalDist().inv_cdf((1 + confidence) / 2))[:9] in end.sql("duckdb")
        for end in (low, high)
    )


def test_other_statements_stay_as_they_are() -> None:
    tree = parse("SELECT COUNT(*) FROM people").tree
    assert not debiased(tree, survey()).rewritten and debiased(tree, survey()).tree == tree


def test_grouping_sets_are_refused() -> None:
    with pytest.raises(Refused, match="E_GROUPING"):
        debiased(parse("SELECT kind, COUNT(*) FROM reports GROUP BY ROLLUP (kind)").tree, survey())


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM (SELECT person, COUNT(*) AS n FROM people WHERE says GROUP BY person) AS p WHERE n > 0",
        "WITH p AS (SELECT q.person AS who, COUNT_IF(says) AS n FROM people AS q GROUP BY 1) SELECT AVG(n) FROM p",
    ],
)
def test_reports_are_not_grouped_by_the_unit(text: str) -> None:
    with pytest.raises(Refused, match="E_SUBQ"):
        debiased(parse(text).tree, survey())


SHARE = "COUNT(*) FILTER (WHERE kind = 'b')"


@pytest.mark.parametrize(
    "item",
    [
        "COUNT(*)",
        "COUNT(kind)",
        "2 * COUNT(*) + 1",
        "-(COUNT(*))",
        "3 - COUNT(*)",
        "COUNT(*) / 2",
        "ROUND(COUNT(*) / 3.0, 1)",
        "CAST(COUNT(*) AS DOUBLE)",
        f"{SHARE} / COUNT(*)",
        f"100 * {SHARE} / NULLIF(COUNT(*), 0)",
        f"({SHARE}) * 1.0 / (COUNT(*))",
        f"({SHARE} * 2) / CAST(COUNT(*) AS DOUBLE)",
        "SUM(CASE WHEN kind = 'a' THEN 1 ELSE 0 END) / COUNT(*)",
    ],
)
def test_an_aggregate_with_constants_and_a_part_of_all_rows_have_ends(item: str) -> None:
    found = debiased(
        parse(f"SELECT 1 AS one, {item} AS x FROM reports WHERE kind = 'a'").tree, survey()
    )
    assert [each.alias for each in found.tree.selects] == [
        "one",
        "x",
        f"{LOW}1",
        f"{HIGH}1",
    ] and not found.notices


@pytest.mark.parametrize(
    "item",
    [
        "COUNT(*) * COUNT(*)",
        "1 / COUNT(*)",
        "COUNT(*) + COUNT(kind)",
        "SQRT(COUNT(*))",
        "ABS(COUNT(*))",
        "COUNT(*) / COUNT(kind)",
        "AVG(CASE WHEN kind = 'a' THEN 1 ELSE 0 END) / COUNT(*)",
        "CASE WHEN COUNT(*) > 3 THEN 1 END",
        "COUNT(*) > 3",
        "COUNT(*) + ?",
        "ROUND(COUNT(*), COUNT(kind)::INT)",
    ],
)
def test_what_else_is_computed_of_debiased_numbers_has_none_and_that_is_said(item: str) -> None:
    found = debiased(parse(f"SELECT {item} AS x FROM reports WHERE kind = 'a'").tree, survey())
    assert [each.alias for each in found.tree.selects] == ["x"]
    (said,) = found.notices
    assert said.startswith(
        "no interval in any row of x: it is computed of debiased numbers; an aggregate alone has one"
    )


REFUSED = {
    ("E_AGG", "says nothing of the values"): (
        "SELECT COUNT(DISTINCT kind) FROM reports",
        "SELECT MAX(kind) FROM reports",
        "SELECT STRING_AGG(kind, ',') FROM reports",
    ),
    ("E_AGG", "COUNT takes one argument"): ("SELECT COUNT(kind, 3) FROM reports",),
    ("E_AGG", "stands inside of another aggregate or a key"): (
        "SELECT COUNT(*) FROM reports WHERE SUM(kind) > 3",
    ),
    ("E_AGG", "would be biased; count, group or average it"): (
        "SELECT COUNT(*) FROM (SELECT kind FROM reports) AS t",
        "SELECT kind, RANK() OVER (ORDER BY kind) FROM reports",
        "SELECT COUNT(*) FROM (SELECT * FROM reports) AS t",
        "SELECT COUNT(*) FROM (SELECT reports FROM reports) AS t",
        "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM reports WHERE kind = 'a')",
        "SELECT kind FROM reports UNION SELECT 'x'",
        "SELECT (SELECT kind FROM reports LIMIT 1)",
        "SELECT 1 FROM (SELECT 1) AS t, LATERAL (SELECT kind FROM reports) AS u",
    ),
    ("E_KEY", "is not a place in the SELECT list"): (
        "SELECT kind, COUNT(*) FROM reports GROUP BY 3",
        "SELECT kind FROM reports GROUP BY 0",
        "SELECT kind FROM reports GROUP BY 1.5",
    ),
    ("E_KEY", 'column "kind" must stand in GROUP BY'): (
        "SELECT COUNT(*) FROM reports HAVING kind = 'a'",
        "SELECT kind, COUNT(*) FROM reports",
    ),
    ("E_SUBQ", "a subquery beside a collected column"): (
        "SELECT COUNT(*) FROM reports WHERE kind = (SELECT 'a')",
    ),
    ("E_SUBQ", "one unit's reports is mostly noise"): (
        "SELECT COUNT(*) FROM people WHERE says GROUP BY person",
        "SELECT kind, person FROM reports, people GROUP BY ALL",
    ),
    ("E_JOIN", "matches what is not equal"): (
        "SELECT COUNT(*) FROM reports r JOIN reports q USING (kind)",
        "SELECT COUNT(*) FROM reports NATURAL JOIN people",
        "SELECT COUNT(*) FROM reports r JOIN people p ON says",
        "SELECT COUNT(*) FROM reports r JOIN people p ON 'a' = r.KIND",
    ),
    ("E_TABLE", "give the common table expression another name"): (
        "WITH Reports AS (SELECT 1) SELECT COUNT(*) FROM reports",
    ),
    ("E_PIVOT", "beside collected columns"): (
        "SELECT * FROM reports PIVOT (COUNT(*) FOR kind IN ('a'))",
    ),
    ("E_FUNC", "the interval of a debiased number"): (
        "SELECT DP_INTERVAL_LOW(2 * COUNT(*)) FROM reports WHERE kind = 'a'",
        "SELECT DP_INTERVAL_HIGH(COUNT(*)) FROM people WHERE says",
        "SELECT DP_INTERVAL_HIGH(COUNT(*)) FROM reports JOIN (VALUES (1)) AS t(x) ON x > 0 WHERE kind = 'a'",
    ),
}


@pytest.mark.parametrize(
    ("code", "said", "text"),
    [(code, said, text) for (code, said), texts in REFUSED.items() for text in texts],
)
def test_what_no_weight_makes_right_is_refused(code: str, said: str, text: str) -> None:
    with pytest.raises((Refused, StatementError)) as caught:
        debiased(parse(text).tree, survey())
    assert caught.value.code == code and said in caught.value.reason


@pytest.mark.parametrize(
    "text",
    [
        "SELECT kind FROM reports",
        "SELECT * FROM reports",
        "SELECT r.* FROM reports r",
        "SELECT reports FROM reports",
        "SELECT DISTINCT kind FROM reports ORDER BY kind LIMIT 3",
    ],
)
def test_reports_of_a_public_table_are_shown_with_a_word(text: str) -> None:
    found = debiased(parse(text).tree, survey())
    assert (
        not found.rewritten
        and len(found.notices) == 1
        and "reports, not values" in found.notices[0]
    )


@pytest.mark.parametrize(
    ("text", "private"),
    [
        ("SELECT COUNT(*) FROM people WHERE says", True),
        ("SELECT COUNT(*) FROM reports WHERE kind = 'a'", False),
        (
            "SELECT COUNT(*) FROM reports r, (SELECT COUNT(*) FROM people) AS t WHERE kind = 'a'",
            True,
        ),
        (
            "WITH p AS (SELECT 1 FROM people), q AS (FROM p) SELECT COUNT(*) FROM reports, q WHERE kind = 'a'",
            True,
        ),
        ("WITH p AS (SELECT 1 AS n) SELECT COUNT(*) FROM reports, p WHERE kind = 'a'", False),
        ("SELECT n FROM (SELECT COUNT(*) AS n FROM reports WHERE kind = 'a') AS t", False),
    ],
)
def test_whether_private_rows_are_counted_is_known(text: str, private: bool) -> None:
    found = debiased(parse(text).tree, survey())
    assert found.rewritten and found.private is private


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM people",
        "SELECT kind FROM (VALUES ('a')) AS reports(kind)",
        "SELECT COUNT(*) FROM reports",
        "SELECT COUNT(*) FROM people, (SELECT 1 AS kind) AS t WHERE kind = 1",
        "SELECT 1",
    ],
)
def test_statements_that_read_no_report_stay_as_they_are(text: str) -> None:
    tree = parse(text).tree
    found = debiased(tree, survey())
    assert (found.rewritten, found.private, found.notices) == (
        False,
        False,
        (),
    ) and found.tree == tree
