"""The group of NULL is shown where a released count tells that it has rows,
or where the owner lists NULL.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from dpsql.errors import SchemaError
from dpsql.schema import loads
from dpsql.session import Session, open_session

SCHEMA = """
name = "people"
source = "{source}"
[privacy]
unit = "people.id"
epsilon = 1e7
delta = 1e-6
query_epsilon = {price}
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
id = {{ type = "integer" }}
sex = {{ type = "text", values = ["f", "m"], nullable = true }}
kind = {{ type = "text", values = ["a", "b"], nullable = true }}
listed = {{ type = "text", values = ["x", "y"], nullable = true, null_group = true }}
flag = {{ type = "boolean", nullable = true }}
x = {{ type = "double", bounds = [0, 100] }}
[tables.visits]
references = {{ id = "people.id" }}
max_rows_per_unit = 2
[tables.visits.columns]
id = {{ type = "integer" }}
ward = {{ type = "text", values = ["p", "q", "r"] }}
"""

#: A third of all have no kind, and nobody lacks a sex, the listed value,
#: a flag or a visit. Few are #: of sex f.
ROWS = """
CREATE TABLE people AS SELECT i AS id, CASE WHEN i < 3 THEN 'f' ELSE 'm' END AS sex,
    [NULL, 'a', 'b'][1 + i % 3] AS kind, ['x', 'y'][1 + i % 2] AS listed, i % 5 = 0 AS flag, (i % 90)::DOUBLE AS x
    FROM range(3000) t(i);
CREATE TABLE visits AS SELECT i % 3000 AS id, ['p', 'q'][1 + i % 2] AS ward FROM range(4000) t(i);
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """At a price at which noise vanishes."""
    home = tmp_path_factory.mktemp("people")
    source = Path(home) / "people.duckdb"
    with duckdb.connect(str(source)) as connection:
        connection.execute(ROWS)
    text = SCHEMA.format(source=source.as_posix(), price="1e4")
    opened = open_session(loads(text), ledger=home / "ledger")
    yield opened
    opened.close()


def keys(session: Session, text: str, width: int = 1) -> list[tuple[object, ...]]:
    return sorted((row[:width] for row in session.execute(text).rows), key=repr)


AGGREGATES = (
    "COUNT(*)",
    "AVG(x)",
    "SUM(x)",
    "MEDIAN(x)",
    "COUNT(DISTINCT id)",
    "COUNT(*) FILTER (WHERE flag)",
)
VALUES = (
    ("sex", [("f",), ("m",)]),
    ("kind", [("a",), ("b",), (None,)]),
    ("listed", [("x",), ("y",), (None,)]),
    ("flag", [(False,), (True,)]),
    ("CAST(flag AS INTEGER)", [(0,), (1,)]),
)


@pytest.mark.parametrize("aggregate", AGGREGATES)
@pytest.mark.parametrize(("key", "groups"), VALUES)
def test_null_is_shown_by_evidence_and_values_always(
    session: Session, aggregate: str, key: str, groups: list[tuple[object, ...]]
) -> None:
    assert keys(session, f"SELECT {key}, {aggregate} FROM people GROUP BY 1") == sorted(
        groups, key=repr
    )


def test_values_are_shown_however_few_rows_they_have(session: Session) -> None:
    """Only NULL needs evidence: no row has the condition."""
    text = "SELECT sex, COUNT(*) FROM people WHERE id < 0 GROUP BY sex"
    assert keys(session, text) == [("f",), ("m",)]


def test_null_is_shown_where_all_groups_are(session: Session) -> None:
    session.set("dpsql.empty_groups", "show")
    assert (None,) in keys(session, "SELECT sex, COUNT(*) FROM people GROUP BY sex")
    session.set("dpsql.empty_groups", "auto")


def test_totals_are_by_evidence_of_their_nulls(session: Session) -> None:
    by_sex = "SELECT sex, flag, GROUPING(sex) AS a, GROUPING(flag) AS b, COUNT(*) FROM people GROUP BY {} (sex, flag)"
    both = [("f", False), ("f", True), ("m", False), ("m", True)]
    rollup = [
        *((*pair, 0, 0) for pair in both),
        ("f", None, 0, 1),
        ("m", None, 0, 1),
        (None, None, 1, 1),
    ]
    assert keys(session, by_sex.format("ROLLUP"), 4) == sorted(rollup, key=repr)
    cube = [*rollup, (None, False, 1, 0), (None, True, 1, 0)]
    assert keys(session, by_sex.format("CUBE"), 4) == sorted(cube, key=repr)


def test_a_null_key_beside_others_and_its_total(session: Session) -> None:
    text = "SELECT kind, listed, GROUPING(listed) AS g, COUNT(*) FROM people GROUP BY ROLLUP (kind, listed)"
    found = keys(session, text, 3)
    assert (None, None, 1) in found and (None, "x", 0) in found and (None, None, 0) not in found
    assert ("a", "x", 0) in found and (
        "a",
        None,
        0,
    ) in found  # NULL is listed there, with rows or without


def test_rows_without_a_partner_are_by_evidence(session: Session) -> None:
    joined = (
        "SELECT v.ward, COUNT(*) FROM people p LEFT JOIN visits v ON v.id = p.id {} GROUP BY v.ward"
    )
    assert keys(session, joined.format("")) == [("p",), ("q",), ("r",)]
    assert (None,) in keys(session, joined.format("AND v.ward = 'p'"))


def test_a_condition_that_leaves_null_out_needs_no_evidence(session: Session) -> None:
    plan = session.plan("SELECT kind, SUM(x) FROM people WHERE kind IS NOT NULL GROUP BY kind")
    assert all(core.presence is None for core in plan.cores)
    plan = session.plan("SELECT kind, SUM(x) FROM people GROUP BY kind")
    assert all(core.presence is not None and not core.presence.released for core in plan.cores)


def test_a_free_list_of_keys_has_no_null_and_says_so(session: Session) -> None:
    found = session.execute("SELECT DISTINCT kind FROM people")
    assert found.rows == [("a",), ("b",)] and found.price.charged == 0
    assert any("NULL" in notice for notice in found.notices)
    assert keys(session, "SELECT DISTINCT listed FROM people") == [("x",), ("y",), (None,)]


def test_explain_says_that_null_needs_evidence(session: Session) -> None:
    told = str(
        session.execute("EXPLAIN PRIVACY SELECT kind, COUNT(*) FROM people GROUP BY kind").rows
    )
    assert "those of NULL are shown where the noisy count of" in told
    told = str(
        session.execute("EXPLAIN PRIVACY SELECT listed, COUNT(*) FROM people GROUP BY listed").rows
    )
    assert "those of NULL" not in told


@pytest.mark.parametrize(
    "column",
    [
        'sex = { type = "text", values = ["f"], null_group = true }',
        'sex = { type = "text", nullable = true, null_group = true }',
        'sex = { type = "integer", bounds = [0, 9], nullable = true, null_group = true }',
    ],
)
def test_null_is_listed_among_values_alone(column: str, tmp_path: Path) -> None:
    text = SCHEMA.format(source=tmp_path / "no.duckdb", price=1)
    declared = next(line for line in text.splitlines() if line.startswith("sex"))
    with pytest.raises(SchemaError, match="null_group"):
        loads(text.replace(declared, column))


def test_only_the_group_of_null_may_be_missing_beside_declared_values(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
        connection.execute(ROWS)
    text = SCHEMA.format(source=(tmp_path / "people.duckdb").as_posix(), price="0.1")
    with closing(open_session(loads(text), ledger=tmp_path / "ledger")) as noisy:
        notices = noisy.execute("SELECT kind, COUNT(*) FROM people GROUP BY kind").notices
    (missing,) = [notice for notice in notices if "may be missing" in notice]
    assert missing.startswith("a group of NULL of fewer than about ")
