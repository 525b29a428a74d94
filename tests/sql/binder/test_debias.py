"""A SELECT over collected columns becomes arithmetic over counts of reports, with the ends of intervals."""

from __future__ import annotations

from statistics import NormalDist

import pytest

from dpsql.errors import Refused
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
    found = debiased(parse("SELECT COUNT(*) AS n FROM reports WHERE kind = 'a'").tree, survey(confidence))
    assert found.rewritten and not found.private and not found.notices
    count, low, high = found.tree.selects
    assert (count.alias, low.alias, high.alias) == ("n", f"{LOW}0", f"{HIGH}0")
    assert all(str(NormalDist().inv_cdf((1 + confidence) / 2))[:9] in end.sql("duckdb") for end in (low, high))


def test_other_statements_stay_as_they_are() -> None:
    tree = parse("SELECT COUNT(*) FROM people").tree
    assert not debiased(tree, survey()).rewritten and debiased(tree, survey()).tree == tree


def test_grouping_sets_are_refused() -> None:
    with pytest.raises(Refused, match="E_GROUPING"):
        debiased(parse("SELECT kind, COUNT(*) FROM reports GROUP BY ROLLUP (kind)").tree, survey())


@pytest.mark.parametrize("text", [
    "SELECT COUNT(*) FROM (SELECT person, COUNT(*) AS n FROM people WHERE says GROUP BY person) AS p WHERE n > 0",
    "WITH p AS (SELECT q.person AS who, COUNT_IF(says) AS n FROM people AS q GROUP BY 1) SELECT AVG(n) FROM p",
])  # fmt: skip
def test_reports_are_not_grouped_by_the_unit(text: str) -> None:
    with pytest.raises(Refused, match="E_SUBQ"):
        debiased(parse(text).tree, survey())
