"""What is answered at no price: probes of single rows, declared ranges, lists of keys; and names of columns."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from databases import clinic

from dpsql.errors import Refused
from dpsql.session.database import PEOPLE, TOOLS, Database, FrontendOptions, open_database


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    schema = clinic(tmp_path_factory.mktemp("clinic"))
    opened = open_database(schema)
    yield opened
    opened.close()


def entries(database: Database) -> int:
    return len(list(database.accountant.ledger.history()))


LISTS = (
    ("SELECT DISTINCT sex FROM patients", "SELECT sex, COUNT(*) FROM patients GROUP BY sex", "auto"),
    ("SELECT sex FROM patients GROUP BY sex", "SELECT sex, COUNT(*) FROM patients GROUP BY sex", "auto"),
    ("SELECT DISTINCT ward FROM patients WHERE ward IN (3, 4)",
     "SELECT ward, COUNT(*) FROM patients WHERE ward IN (3, 4) GROUP BY ward", "auto"),
    ("SELECT DISTINCT sex, ward FROM patients", "SELECT sex, ward, COUNT(*) FROM patients GROUP BY sex, ward", "show"),
    ("SELECT DISTINCT ward + 1 FROM patients", "SELECT ward + 1, COUNT(*) FROM patients GROUP BY 1", "show"),
    ("SELECT DISTINCT ward FROM patients WHERE ward > 2",
     "SELECT ward, COUNT(*) FROM patients WHERE ward > 2 GROUP BY ward", "show"),
    ("SELECT DISTINCT region FROM visits JOIN places USING (place)",
     "SELECT region, COUNT(*) FROM visits JOIN places USING (place) GROUP BY region", "show"),
    ("SELECT DISTINCT weight > 3 FROM patients", "SELECT weight > 3, COUNT(*) FROM patients GROUP BY 1", "show"),
)  # fmt: skip


@pytest.mark.parametrize(("listed", "counted", "shown"), LISTS)
def test_a_list_of_keys_that_are_all_shown_is_free_and_has_the_keys_that_counts_have(
    database: Database, listed: str, counted: str, shown: str
) -> None:
    session = database.session("ada", TOOLS)
    session.set("dpsql.empty_groups", shown)
    before = entries(database)
    found = session.execute(listed)
    assert entries(database) == before and found.price.charged == 0
    wanted = session.execute(counted)
    width = len(found.columns)
    assert found.rows == [row[:width] for row in wanted.rows]
    assert [column.type for column in found.columns] == [column.type for column in wanted.columns[:width]]


@pytest.mark.parametrize("listed", [listed for listed, _, shown in LISTS if shown == "show"])
def test_a_list_of_the_keys_that_have_rows_is_bought(database: Database, listed: str) -> None:
    before = entries(database)
    session = database.session("ada", TOOLS)
    session.set("dpsql.reuse", "off")
    session.execute(listed)
    assert entries(database) == before + 1


def test_a_filter_list_is_ordered_and_cut(database: Database) -> None:
    found = database.session("ada").execute("SELECT DISTINCT sex FROM patients ORDER BY 1 DESC NULLS LAST LIMIT 1")
    assert found.rows == [("m",)]


def test_keys_of_the_data_are_bought(database: Database) -> None:
    before = entries(database)
    database.session("ada").execute("SELECT DISTINCT name FROM patients")
    assert entries(database) == before + 1


RANGES = (
    ("SELECT MIN(ward), MAX(ward) FROM patients", [(0, 4)]),
    ("SELECT MIN(weight) AS low FROM (SELECT * FROM patients) AS virtual_table", [(-10.0,)]),
    ("SELECT MAX(cost) FROM visits LIMIT 1", [(500,)]),
    ("SELECT MIN(sex), MAX(sex) FROM patients", [("f", "m")]),
)


@pytest.mark.parametrize(("text", "rows"), RANGES)
def test_tools_get_declared_ranges(database: Database, text: str, rows: list[object]) -> None:
    before = entries(database)
    found = database.session("ada", TOOLS).execute(text)
    assert found.rows == rows and found.notices and entries(database) == before
    kinds = [column.type for column in database.session("ada", TOOLS).plan(text).columns]
    assert kinds == [column.type for column in database.session("ada", TOOLS).execute(text).columns]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT MIN(ward) FROM patients WHERE sex = 'f'",
        "SELECT sex, MIN(ward) FROM patients GROUP BY sex",
        "SELECT MIN(ward), COUNT(*) FROM patients",
        "SELECT MIN(ward + 1) FROM patients",
        "SELECT MAX(ward) FROM (SELECT ward FROM patients WHERE ward < 2) t",
        "WITH t AS (SELECT ward FROM patients WHERE ward < 3) SELECT MAX(ward) FROM t",
        "SELECT MAX(ward) FROM patients SEMI JOIN visits ON visits.patient = patients.patient",
    ],
)
def test_other_ranges_are_released(database: Database, text: str) -> None:
    before = entries(database)
    assert not database.session("ada", TOOLS).execute(text).notices
    assert entries(database) == before + 1


def test_people_get_released_ranges(database: Database) -> None:
    before = entries(database)
    database.session("ada", PEOPLE).execute("SELECT MIN(ward), MAX(ward) FROM patients")
    assert entries(database) == before + 1


PROBES = (
    ("SELECT * FROM patients LIMIT 1", ["patient", "name", "sex", "weight", "ward"]),
    ("SELECT ward, cost * 2 AS twice, 1 FROM patients JOIN visits USING (patient) WHERE sex = 'f' LIMIT 1",
     ["ward", "twice", "?column?"]),
    ("SELECT virtual.ward FROM (SELECT ward FROM patients) AS virtual ORDER BY 1 LIMIT 1", ["ward"]),
)  # fmt: skip


@pytest.mark.parametrize(("text", "names"), PROBES)
def test_a_probe_of_one_row_has_columns_and_no_rows(database: Database, text: str, names: list[str]) -> None:
    before = entries(database)
    found = database.session("ada", TOOLS).execute(text)
    assert [column.name for column in found.columns] == names
    assert found.rows == [] and found.notices and entries(database) == before
    with pytest.raises(Refused, match="E_RAW"):
        database.session("ada", PEOPLE).execute(text)


def test_more_rows_than_one_are_refused_unless_none_are_wanted(database: Database) -> None:
    text = "SELECT ward FROM patients LIMIT 1000"
    with pytest.raises(Refused, match="E_RAW"):
        database.session("ada", TOOLS).execute(text)
    assert database.session("ada", FrontendOptions(raw_select="empty")).execute(text).rows == []


@pytest.mark.parametrize("frontend_options", [TOOLS, FrontendOptions(raw_select="empty")])
def test_that_there_are_no_rows_is_said_of_whole_statements_only(
    database: Database, frontend_options: FrontendOptions
) -> None:
    for text in (
        "SELECT EXISTS (SELECT 1 FROM patients LIMIT 1)",
        "SELECT COUNT(*), (SELECT ward FROM patients LIMIT 1) FROM patients",
        "SELECT ward FROM patients LIMIT 1 UNION ALL SELECT 5",
        "SELECT COUNT(*) FROM (SELECT ward FROM patients LIMIT 1)",
    ):
        with pytest.raises(Refused):
            database.session("ada", frontend_options).execute(text)


def test_no_rows_of_several_queries_cost_nothing(database: Database) -> None:
    session = database.session("ada", TOOLS)
    found = session.execute("SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex UNION ALL SELECT 'x', 1 LIMIT 0")
    assert (found.rows, found.price.charged) == ([], 0)
    assert [column.name for column in found.columns] == ["sex", "n"]


NAMES = (
    ("COUNT(*)", "count"), ("COUNT(*) + 1", "?column?"), ("AVG(weight)::int", "avg"), ("1::bigint", "int8"),
    ("CASE WHEN COUNT(*) > 1 THEN 1 END", "case"), ("CASE WHEN TRUE THEN 1 ELSE COUNT(*) END", "count"),
    ("COALESCE(AVG(weight), 0)", "coalesce"), ("'x'", "?column?"), ("TRUE", "bool"), ("DATE '2020-01-01'", "date"),
    ("date_trunc('month', DATE '2020-01-01')", "date_trunc"), ("SUM(ward) FILTER (WHERE sex = 'f')", "sum"),
    ("EXTRACT(year FROM DATE '2020-01-01')", "extract"), ("-COUNT(*)", "?column?"), ("NULLIF(COUNT(*), 0)", "nullif"),
    ("(SELECT 1 AS one)", "one"), ('COUNT(*) AS "COUNT(*)"', "COUNT(*)"), ("GREATEST(COUNT(*), 1)", "greatest"),
    ("trim('x')", "btrim"), ("COUNT(*) IS NULL", "?column?"), ("COUNT(*) OVER ()", "count"),
)  # fmt: skip


@pytest.mark.parametrize(("item", "name"), NAMES)
def test_columns_without_an_alias_are_named_as_postgresql_does(database: Database, item: str, name: str) -> None:
    plan = database.session("ada").plan(f"SELECT {item}, COUNT(ward) AS n FROM patients")
    assert [column.name for column in plan.columns] == [name, "n"]
