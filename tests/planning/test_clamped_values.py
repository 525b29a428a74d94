"""An answer says which values are clamped to their bounds: where its number is not SQL's,
and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import duckdb
import pytest

from dpsql.session import Session, open_session

SCHEMA = """
name = "shop"
source = "{folder}/shop.duckdb"
[privacy]
unit = "people.id"
epsilon = 100000000
delta = 1e-6
query_epsilon = 100000
[tables.people]
key = "id"
max_rows_per_unit = 1
[tables.people.columns]
id = {{ type = "integer" }}
born = {{ type = "date", bounds = [1950-01-01, 2000-12-31] }}
member = {{ type = "boolean" }}
[tables.orders]
references = {{ person = "people.id" }}
max_rows_per_unit = 8
[tables.orders.columns]
person = {{ type = "integer" }}
kind = {{ type = "integer", values = [0, 1] }}
amount = {{ type = "integer", bounds = [0, 12000] }}
items = {{ type = "decimal(2,0)", bounds = [-99, 99] }}
weight = {{ type = "double", bounds = [0.5, 2.5], nullable = false }}
stars = {{ type = "integer", values = [1, 2, 3, 4, 5] }}
"""
#: Some amounts lie beyond both bounds, some stars are none,
#: and person 0 has more orders than #: count.
ORDERS = """
    SELECT i % 1000 AS person, i % 2 AS kind, (i * 7919) % 15000 - 1000 AS amount,
        (i % 100)::DECIMAL(2, 0) AS items, (i % 9 / 3)::DOUBLE AS weight, i % 8 AS stars
    FROM range(4000) t(i)
    UNION ALL SELECT 0, 0, 10, 5::DECIMAL(2, 0), 1.0::DOUBLE, 3 FROM range(20)
"""
PEOPLE = "SELECT i AS id, DATE '1940-01-01' + (i * 30)::INTEGER AS born, i % 3 = 0 AS member FROM range(1000) t(i)"
REPORT = "; SET dpsql.clipping = report counts the values beyond"
#: Per person, by its own orders.
OF_UNIT = "(SELECT person, {} AS a FROM orders WHERE person > 0 GROUP BY person) t"

#: Statements of which the number is another than SQL's, with what is said.
CLAMPING = {
    "SELECT SUM(amount) FROM orders WHERE person > 0": "amount to 0 … 12,000" + REPORT,
    "SELECT AVG(weight) FROM orders WHERE person > 0": "weight to 0.5 … 2.5" + REPORT,
    "SELECT AVG(stars) FROM orders WHERE person > 0": "stars to 1 … 5" + REPORT,
    "SELECT MAX(amount) FROM orders WHERE person > 0": "amount to 0 … 12,000" + REPORT,
    "SELECT MIN(born) FROM people": "born to 1950-01-01 … 2000-12-31" + REPORT,
    "SELECT VAR_POP(amount) FROM orders WHERE person > 0": "amount to 0 … 12,000" + REPORT,
    "SELECT AVG(amount) FROM orders WHERE person > 0 AND amount < 9000": "amount to at least 0"
    + REPORT,
    "SELECT SUM(amount) FILTER (WHERE amount > 9) FROM orders WHERE person > 0": "amount to at most 12,000"
    + REPORT,
    "SELECT SUM(amount * items) FROM orders WHERE person > 0": (
        "what is made of amount and items to -1,188,000 … 1,188,000" + REPORT
    ),
    "SELECT SUM(CASE WHEN kind = 1 THEN amount ELSE 0 END) FROM orders WHERE person > 0": (
        "what is made of kind and amount to 0 … 12,000" + REPORT
    ),
    "SELECT SUM(a) FROM (SELECT amount AS a, person FROM orders WHERE person > 0) t": "amount to 0 … 12,000"
    + REPORT,
    f"SELECT AVG(a) FROM {OF_UNIT.format('AVG(amount)')}": "amount to 0 … 12,000",
    f"SELECT COUNT(*) FROM {OF_UNIT.format('SUM(amount)')} WHERE a > 26000": "amount to 0 … 12,000",
    f"SELECT AVG(a) FROM {OF_UNIT.format('MAX(amount)')}": "MAX(amount) of a unit to 0 … 12,000"
    + REPORT,
    "SELECT SUM(n) FROM (SELECT person, COUNT(*) AS n FROM orders GROUP BY person) t": (
        "COUNT(*) of a unit to at most 8" + REPORT
    ),
    "SELECT AVG((SELECT MAX(amount) FROM orders o WHERE o.person = p.id)) FROM people p": (
        "MAX(amount) of a unit to 0 … 12,000" + REPORT
    ),
    "SELECT SUM(x) FROM (SELECT person, amount AS x FROM orders WHERE person > 0 UNION ALL "
    "SELECT person, stars FROM orders WHERE person > 0) t": "amount or stars to 0 … 12,000"
    + REPORT,
}
#: Statements of which nothing is clamped, because a type,
#: a condition or the expression itself #: holds the values.
EXACT = [
    "SELECT COUNT(*), COUNT(amount) FROM orders WHERE person > 0",
    "SELECT SUM(items) FROM orders WHERE person > 0",
    "SELECT SUM(member::INTEGER), AVG(CASE WHEN member THEN 1 ELSE 0 END) FROM people",
    "SELECT SUM(LEAST(GREATEST(amount, 100), 14000)) FROM orders WHERE person > 0 AND amount <= 12000",
    "SELECT SUM(CASE WHEN amount BETWEEN 0 AND 12000 THEN amount END) FROM orders WHERE person > 0",
    "SELECT AVG(amount) FROM orders WHERE person > 0 AND amount BETWEEN 10 AND 9000",
    "SELECT SUM(amount) FILTER (WHERE amount > 9 AND amount < 800) FROM orders WHERE person > 0",
    "SELECT SUM(amount % 10) FROM orders WHERE person > 0 AND amount >= 0",
    "SELECT SUM(LEAST(n, 5)) FROM (SELECT person, COUNT(*) AS n FROM orders GROUP BY person) t",
    "SELECT COUNT(*) FROM (SELECT person, MAX(amount) AS a, SUM(amount) AS s FROM orders GROUP BY 1) t WHERE a > 12500",
    "SELECT SUM(a) FROM (SELECT person, MAX(amount) AS a FROM orders GROUP BY 1) t WHERE a BETWEEN 0 AND 9999",
]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    home = tmp_path_factory.mktemp("shop")
    with duckdb.connect(str(home / "shop.duckdb")) as connection:
        connection.execute(f"CREATE TABLE orders AS {ORDERS}; CREATE TABLE people AS {PEOPLE}")
    (home / "shop.toml").write_text(SCHEMA.format(folder=home), encoding="utf-8")
    opened = open_session(home / "shop.toml", ledger=home / "ledger")
    yield opened
    opened.close()


def clamped(notices: tuple[str, ...]) -> list[str]:
    return [
        notice.removeprefix("clamped: ") for notice in notices if notice.startswith("clamped: ")
    ]


def is_sql(session: Session, text: str) -> bool:
    """Whether the answer is SQL's, but for noise that is next to nothing."""
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE orders AS {ORDERS}; CREATE TABLE people AS {PEOPLE}")
        (truth,) = connection.execute(text).fetchall()
    (answer,) = session.execute(text).rows
    if isinstance(truth[0], int | float):
        return answer == pytest.approx([float(each) for each in truth], rel=1e-3)
    return str(answer[0]) == str(truth[0])


@pytest.mark.parametrize("text", CLAMPING)
def test_a_number_that_is_not_that_of_sql_says_what_is_clamped(session: Session, text: str) -> None:
    assert not is_sql(session, text)
    for _ in range(2):  # of an answer that is given again too
        assert clamped(session.execute(text).notices) == [CLAMPING[text]]
    assert f"clamped: {CLAMPING[text]}" in str(session.explain(text))


@pytest.mark.parametrize("text", EXACT)
def test_nothing_is_said_if_nothing_can_be_clamped(session: Session, text: str) -> None:
    assert is_sql(session, text)
    assert clamped(session.execute(text).notices) == []


def test_one_line_names_all_columns(session: Session) -> None:
    text = "SELECT kind, SUM(amount), AVG(amount), AVG(weight), COUNT(*) FROM orders GROUP BY kind"
    assert clamped(session.execute(text).notices) == [
        f"amount to 0 … 12,000, weight to 0.5 … 2.5{REPORT}"
    ]


def test_values_that_the_report_counts_are_said_there_alone(session: Session) -> None:
    session.set("dpsql.clipping", "report")
    notices = session.execute("SELECT SUM(amount) FROM orders WHERE person > 1").notices
    assert clamped(notices) == [] and any(
        re.search("have amount outside of 0 to 12000", each) for each in notices
    )
    inside = session.execute(f"SELECT SUM(a) FROM {OF_UNIT.format('AVG(amount)')}").notices
    session.set("dpsql.clipping", None)
    assert clamped(inside) == ["amount to 0 … 12,000"], (
        "the report counts what is added up, and not what is below"
    )


def test_an_answer_without_rows_says_nothing_of_values(session: Session) -> None:
    assert clamped(session.execute("SELECT SUM(amount) FROM orders WHERE FALSE").notices) == []
    assert (
        clamped(
            session.execute("SELECT kind, SUM(amount) FROM orders GROUP BY kind LIMIT 0").notices
        )
        == []
    )


def test_groups_of_several_units_are_named(session: Session) -> None:
    text = (
        "SELECT SUM(a) FROM (SELECT stars * 2 + person % 2 AS k, MAX(stars) AS a FROM orders "
        "JOIN people ON id = person GROUP BY weight, 1) t"
    )
    assert clamped(session.plan(text).clamped)[0].startswith("MAX(stars) of a group to 1 … 5")
