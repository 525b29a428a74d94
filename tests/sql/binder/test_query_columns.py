"""The columns of a query, and the source of a column, are known from text and schema,
or said to be unknown.
"""

from __future__ import annotations

import pytest
from sqlglot import exp, parse_one

from dpsql.schema import loads
from dpsql.sql.binder.query_columns import output_columns, select_of, source_of, sources

SCHEMA = loads("""
name = "star"
source = "star.duckdb"
[privacy]
unit = "people.person"
epsilon = 1
delta = 0
[tables.days]
public = true
columns = { day = { type = "integer" }, year = { type = "integer" } }
[tables.towns]
public = true
columns = { town = { type = "text" }, year = { type = "integer" } }
[tables.people]
max_rows_per_unit = 1
columns = { person = { type = "integer" } }
""")
DAYS, TOWNS = "public.days", "public.towns"


def _select(text: str) -> exp.Select:
    tree = parse_one(text, dialect="duckdb")
    assert isinstance(tree, exp.Select)
    return tree


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (f"SELECT day, year + 1 AS Next FROM {DAYS}", {"day": "day", "next": "year + 1"}),
        (f"SELECT * FROM {DAYS}", {"day": '"days"."day"', "year": '"days"."year"'}),
        (
            f"SELECT d.* FROM {DAYS} AS d JOIN {TOWNS} AS t ON TRUE",
            {"day": '"d"."day"', "year": '"d"."year"'},
        ),
        (
            f"SELECT * FROM {DAYS} AS d, {TOWNS} AS t",
            {"day": '"d"."day"', "year": None, "town": '"t"."town"'},
        ),
        (
            f"SELECT D.*, town FROM {DAYS} AS d, {TOWNS}",
            {"day": '"d"."day"', "year": '"d"."year"', "town": "town"},
        ),
        (f"SELECT a AS x, b AS x FROM {DAYS}", {"x": None}),
        (
            f"SELECT * FROM (SELECT day AS d, 1 AS one FROM {DAYS}) AS q",
            {"d": '"q"."d"', "one": '"q"."one"'},
        ),
        (f"SELECT * FROM (SELECT * FROM {DAYS}) AS q(d)", {"d": '"q"."d"', "year": '"q"."year"'}),
        (f"SELECT q.* FROM (SELECT * FROM {DAYS}) AS q(a, B)", {"a": '"q"."a"', "b": '"q"."b"'}),
    ],
)
def test_columns_stand_for_what_the_from_clause_has(
    text: str, columns: dict[str, str | None]
) -> None:
    found = output_columns(_select(text), SCHEMA)
    assert found is not None
    assert {
        name: None if node is None else node.sql("duckdb") for name, node in found.items()
    } == columns


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM people",
        f"SELECT * EXCLUDE (day) FROM {DAYS}",
        f"SELECT * FROM (SELECT * FROM {DAYS})",
        f"SELECT * FROM {DAYS} AS d(a, b)",
        f"SELECT * FROM (SELECT * FROM {DAYS}) AS q(a, b, c)",
        "SELECT * FROM UNNEST([1]) AS u",
        f"SELECT * FROM (SELECT * FROM {DAYS}) AS q(year)",
        f"SELECT * FROM (SELECT * FROM {DAYS}, {TOWNS}) AS q",
        f"SELECT * FROM {DAYS} PIVOT (COUNT(*) FOR year IN (1, 2))",
        f"SELECT * FROM {DAYS}, people",
        f"SELECT * FROM (SELECT day FROM {DAYS} UNION SELECT 1) AS q",
    ],
)
def test_other_columns_are_unknown(text: str) -> None:
    assert output_columns(_select(text), SCHEMA) is None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f"SELECT day FROM {DAYS}", 0),
        ("SELECT anything FROM people", 0),
        (f"SELECT d.day FROM {DAYS} AS d, {TOWNS} AS t", 0),
        (f"SELECT T.year FROM {DAYS} AS d, {TOWNS} AS t", 1),
        (f"SELECT town FROM {DAYS} JOIN {TOWNS} ON TRUE", 1),
        (f"SELECT year FROM {DAYS}, {TOWNS}", None),
        (f"SELECT nothing FROM {DAYS}, {TOWNS}", None),
        (f"SELECT x.day FROM {DAYS}", None),
        (f"SELECT day FROM {DAYS}, people", None),
        (f"SELECT a.day FROM {DAYS} AS a, {TOWNS} AS a", None),
        ("SELECT day", None),
        (f"SELECT one FROM {DAYS}, (SELECT 1 AS one) AS q", 1),
    ],
)
def test_the_source_of_a_column_is_known_where_it_is_certain(text: str, place: int | None) -> None:
    select = _select(text)
    (column,) = [item for item in select.expressions if isinstance(item, exp.Column)]
    assert source_of(column, select, SCHEMA) == place


def test_a_source_knows_its_select() -> None:
    select = _select(f"SELECT 1 FROM {DAYS} JOIN (SELECT 2 FROM people) AS q ON TRUE")
    assert [select_of(each) for each in sources(select)] == [select, select]
    assert (
        select_of(select) is None
        and select_of(select.expressions[0]) is None
        and sources(_select("SELECT 1")) == []
    )
