"""What is answered at no price: probes of single rows, declared ranges, lists of keys;
and names of columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from databases import clinic
from sqlglot import parse_one

from dpsql.errors import Refused
from dpsql.schema import Schema, SqlType, load
from dpsql.session.database import PEOPLE, TOOLS, Database, FrontendOptions, open_database
from dpsql.sql.binder.free_answers import NULL_LEFT_OUT, _scalar, is_probe, is_raw_probe, previewed
from dpsql.sql.ir.expression import ColumnRef


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    schema = clinic(tmp_path_factory.mktemp("clinic"))
    opened = open_database(schema)
    yield opened
    opened.close()


def entries(database: Database) -> int:
    return len(list(database.accountant.ledger.history()))


LISTS = (
    (
        "SELECT DISTINCT sex FROM patients",
        "SELECT sex, COUNT(*) FROM patients GROUP BY sex",
        "auto",
    ),
    (
        "SELECT sex FROM patients GROUP BY sex",
        "SELECT sex, COUNT(*) FROM patients GROUP BY sex",
        "auto",
    ),
    (
        "SELECT DISTINCT ward FROM patients WHERE ward IN (3, 4)",
        "SELECT ward, COUNT(*) FROM patients WHERE ward IN (3, 4) GROUP BY ward",
        "auto",
    ),
    (
        "SELECT DISTINCT sex, ward FROM patients",
        "SELECT sex, ward, COUNT(*) FROM patients GROUP BY sex, ward",
        "show",
    ),
    (
        "SELECT DISTINCT ward + 1 FROM patients",
        "SELECT ward + 1, COUNT(*) FROM patients GROUP BY 1",
        "show",
    ),
    (
        "SELECT DISTINCT ward FROM patients WHERE ward > 2",
        "SELECT ward, COUNT(*) FROM patients WHERE ward > 2 GROUP BY ward",
        "show",
    ),
    (
        "SELECT DISTINCT region FROM visits JOIN places USING (place)",
        "SELECT region, COUNT(*) FROM visits JOIN places USING (place) GROUP BY region",
        "show",
    ),
    (
        "SELECT DISTINCT weight > 3 FROM patients",
        "SELECT weight > 3, COUNT(*) FROM patients GROUP BY 1",
        "show",
    ),
)


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
    assert [column.type for column in found.columns] == [
        column.type for column in wanted.columns[:width]
    ]


@pytest.mark.parametrize("listed", [listed for listed, _, shown in LISTS if shown == "show"])
def test_a_list_of_the_keys_that_have_rows_is_bought(database: Database, listed: str) -> None:
    before = entries(database)
    session = database.session("ada", TOOLS)
    session.set("dpsql.reuse", "off")
    session.execute(listed)
    assert entries(database) == before + 1


def test_null_is_in_no_list_unless_the_owner_lists_it(tmp_path: Path) -> None:
    declared = clinic(tmp_path).read_text(encoding="utf-8")
    (tmp_path / "unlisted.toml").write_text(
        declared.replace(", null_group = true", ""), encoding="utf-8"
    )
    with closing(open_database(tmp_path / "unlisted.toml")) as opened:
        found = opened.session("ada", TOOLS).execute("SELECT DISTINCT sex FROM patients")
        listed = opened.session("ada", TOOLS).execute(
            "SELECT DISTINCT sex FROM patients WHERE sex = 'f'"
        )
    assert (
        found.rows == [("f",), ("m",)]
        and found.price.charged == 0
        and NULL_LEFT_OUT in found.notices
    )
    assert listed.rows == [("f",)] and NULL_LEFT_OUT not in listed.notices


def test_a_filter_list_is_ordered_and_cut(database: Database) -> None:
    found = database.session("ada").execute(
        "SELECT DISTINCT sex FROM patients ORDER BY 1 DESC NULLS LAST LIMIT 1"
    )
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
    assert "the ends of a column" not in str(database.session("ada", TOOLS).execute(text).notices)
    assert entries(database) == before + 1


def test_people_get_released_ranges(database: Database) -> None:
    before = entries(database)
    database.session("ada", PEOPLE).execute("SELECT MIN(ward), MAX(ward) FROM patients")
    assert entries(database) == before + 1


PROBES = (
    ("SELECT * FROM patients LIMIT 1", ["patient", "name", "sex", "weight", "ward"]),
    (
        "SELECT ward, cost * 2 AS twice, 1 FROM patients JOIN visits USING (patient) WHERE sex = 'f' LIMIT 1",
        ["ward", "twice", "?column?"],
    ),
    (
        "SELECT virtual.ward FROM (SELECT ward FROM patients) AS virtual ORDER BY 1 LIMIT 1",
        ["ward"],
    ),
)


@pytest.mark.parametrize(("text", "names"), PROBES)
def test_a_probe_of_one_row_has_columns_and_no_rows(
    database: Database, text: str, names: list[str]
) -> None:
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
    found = session.execute(
        "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex UNION ALL SELECT 'x', 1 LIMIT 0"
    )
    assert (found.rows, found.price.charged) == ([], 0)
    assert [column.name for column in found.columns] == ["sex", "n"]


NAMES = (
    ("COUNT(*)", "count"),
    ("COUNT(*) + 1", "?column?"),
    ("AVG(weight)::int", "avg"),
    ("1::bigint", "int8"),
    ("CASE WHEN COUNT(*) > 1 THEN 1 END", "case"),
    ("CASE WHEN TRUE THEN 1 ELSE COUNT(*) END", "count"),
    ("COALESCE(AVG(weight), 0)", "coalesce"),
    ("'x'", "?column?"),
    ("TRUE", "bool"),
    ("DATE '2020-01-01'", "date"),
    ("date_trunc('month', DATE '2020-01-01')", "date_trunc"),
    ("SUM(ward) FILTER (WHERE sex = 'f')", "sum"),
    ("EXTRACT(year FROM DATE '2020-01-01')", "extract"),
    ("-COUNT(*)", "?column?"),
    ("NULLIF(COUNT(*), 0)", "nullif"),
    ("(SELECT 1 AS one)", "one"),
    ('COUNT(*) AS "COUNT(*)"', "COUNT(*)"),
    ("GREATEST(COUNT(*), 1)", "greatest"),
    ("trim('x')", "btrim"),
    ("COUNT(*) IS NULL", "?column?"),
    ("COUNT(*) OVER ()", "count"),
)


@pytest.mark.parametrize(("item", "name"), NAMES)
def test_columns_without_an_alias_are_named_as_postgresql_does(
    database: Database, item: str, name: str
) -> None:
    plan = database.session("ada").plan(f"SELECT {item}, COUNT(ward) AS n FROM patients")
    assert [column.name for column in plan.columns] == [name, "n"]


@pytest.mark.parametrize(
    ("end", "found"),
    [
        ("a FROM t LIMIT 0", True),
        ("a FROM t UNION SELECT b FROM t LIMIT 0", True),
        ("a FROM t WHERE 1 = 0", True),
        ("a FROM t WHERE b AND (FALSE AND c)", True),
        ("a FROM t WHERE (2 = 3)", True),
        ("a, SUM(b) OVER () FROM t WHERE FALSE", True),
        ("a FROM t LIMIT 10", False),
        ("a FROM t LIMIT 0 PERCENT", False),
        ("a FROM t LIMIT 1 - 1", False),
        ("a FROM t", False),
        ("a FROM t WHERE 1 = 1", False),
        ("a FROM t WHERE TRUE", False),
        ("a FROM t WHERE FALSE OR b", False),
        ("a FROM t WHERE b = 0", False),
        ("a FROM t WHERE '1' = '0'", True),
        ("a FROM t WHERE 1 = '0'", True),
        ("a FROM t WHERE 1.5 = 2", True),
        ("a FROM t WHERE 1 > 2", True),
        ("a FROM t WHERE NULL", True),
        ("a FROM t WHERE NOT (1 = 1)", True),
        ("a FROM t WHERE 'a' > 'b'", False),
        ("a FROM t WHERE 2 > 1", False),
        ("a FROM t WHERE 1", False),
        ("a FROM t WHERE (SELECT FALSE)", False),
        ("a FROM t WHERE ? = 1", False),
        ("COUNT(*) FROM t WHERE FALSE", False),
        ("a FROM t WHERE FALSE GROUP BY a", False),
        ("a FROM t UNION SELECT b FROM t WHERE FALSE", False),
    ],
)
def test_a_probe_is_empty_as_it_is_written(end: str, found: bool) -> None:
    assert is_probe(parse_one(f"SELECT {end}", dialect="duckdb")) is found  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("raw", "end", "found"),
    [
        ("probe", "a FROM t LIMIT 1", True),
        ("probe", "a FROM t LIMIT 2", False),
        ("probe", "a FROM t", False),
        ("error", "a FROM t LIMIT 1", False),
        ("empty", "a FROM t LIMIT 2", True),
        ("empty", "a FROM t", True),
        ("empty", "DISTINCT a FROM t", False),
        ("probe", "DISTINCT a FROM t LIMIT 1", False),
    ],
)
def test_single_rows_are_none_where_the_front_end_wants_it(raw: str, end: str, found: bool) -> None:
    assert is_raw_probe(parse_one(f"SELECT {end}"), FrontendOptions(raw)) is found  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sql_type", "bound", "low", "high"),
    [
        ("integer", Fraction(5, 2), 3, 2),
        ("integer", Fraction(-5, 2), -2, -3),
        ("integer", Fraction(7), 7, 7),
        ("double", Fraction(5, 2), 2.5, 2.5),
        ("decimal(9,2)", Fraction(1, 3), Decimal("0.34"), Decimal("0.33")),
        ("decimal(9,2)", Fraction(3, 2), Decimal("1.50"), Decimal("1.50")),
        ("decimal(9,0)", Fraction(3, 2), 2, 1),
        ("date", date(2024, 2, 29), date(2024, 2, 29), date(2024, 2, 29)),
    ],
)
def test_a_declared_end_is_a_value_within_the_bounds(
    sql_type: str, bound: object, low: object, high: object
) -> None:
    column = ColumnRef("t", "x", SqlType.parse(sql_type))
    for lowest, wanted in ((True, low), (False, high)):
        found = _scalar(bound, column, lowest)  # type: ignore[arg-type]
        assert (found, type(found)) == (wanted, type(wanted))


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    """The clinic with two synthetic tables of its patients,
    the younger of which has fewer columns.
    """
    declared = load(Path(clinic(tmp_path_factory.mktemp("twins"))))
    patients = declared.tables["patients"]
    few = {name: column for name, column in patients.columns.items() if name in ("sex", "ward")}
    younger = patients.model_copy(update={"columns": few, "public": True}).synthetic_of("patients")
    return declared.model_copy(
        update={
            "tables": {
                **declared.tables,
                "older": patients.model_copy(update={"public": True}).synthetic_of("patients"),
                "younger": younger,
            }
        }
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("SELECT sex FROM patients LIMIT 3", 'SELECT sex FROM "younger" AS patients LIMIT 3'),
        (
            "SELECT P.Sex FROM Patients AS p WHERE ward > 1",
            'SELECT P.Sex FROM "younger" AS p WHERE ward > 1',
        ),
        ("SELECT weight FROM patients", 'SELECT weight FROM "older" AS patients'),
        (
            "SELECT sex FROM patients ORDER BY weight",
            'SELECT sex FROM "older" AS patients ORDER BY weight',
        ),
        *(
            (text, None)
            for text in (
                "SELECT height FROM patients",
                "SELECT cost FROM visits",
                "SELECT region FROM places",
                "SELECT x FROM nowhere",
                "SELECT sex FROM patients, places",
                "SELECT sex FROM patients JOIN places ON TRUE",
                "SELECT COUNT(sex) FROM patients",
                "SELECT sex FROM patients GROUP BY sex",
                "SELECT sex FROM patients LIMIT 0",
                "SELECT 1",
                "SELECT sex FROM older",
                "WITH t AS (SELECT 1) SELECT sex FROM patients",
                "SELECT sex FROM patients WHERE ward > (SELECT 1)",
                "SELECT sex FROM (SELECT sex FROM patients) AS t",
                "SELECT sex FROM patients UNION SELECT 'x'",
                "SELECT sex FROM UNNEST([1]) AS t(sex)",
            )
        ),
    ],
)
def test_single_rows_are_shown_of_the_newest_synthetic_table_that_has_them(
    twins: Schema, text: str, shown: str | None
) -> None:
    tree = parse_one(text, dialect="duckdb")
    found, name = previewed(tree, twins)
    if shown is None:
        assert found is tree and name is None
    else:
        assert (found.sql("duckdb"), name) == (shown, shown.split('"')[1])
