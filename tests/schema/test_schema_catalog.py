"""The schema beside the engine's catalogue: completed, compared, drafted, checked."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from dpsql.engines.duckdb.catalog import read_catalog
from dpsql.errors import SchemaError
from dpsql.schema import Catalog, Schema, SqlType, check, draft, load, loads
from dpsql.session import open_session
from dpsql.session.pricing.expected_errors import count_error

SCHEMAS = Path(__file__).parents[2] / "schemas"

SHOP = """
name = "shop"
source = "shop.duckdb"
[privacy]
unit = "people.id"
epsilon = 3
delta = 0
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
id = { type = "integer" }
name = { type = "text" }
paid = { type = "decimal(9,2)" }
[tables.visits]
references = { person = "people.id" }
max_rows_per_unit = 2000
[tables.visits.columns]
person = { type = "integer" }
[tables.shops]
public = true
"""

BUILD = """
CREATE TABLE People (ID BIGINT PRIMARY KEY, name VARCHAR, paid DECIMAL(9, 2) DEFAULT 3, secret BLOB);
CREATE TABLE visits (person BIGINT REFERENCES People (ID), shop INTEGER);
CREATE TABLE shops (id INTEGER NOT NULL, "Name" VARCHAR, place STRUCT(x INTEGER), "a b" INTEGER, UNIQUE (id));
INSERT INTO People VALUES (424242, 'Zebedee', 7171.17, NULL);
"""


def _database(folder: Path, *more: str) -> Path:
    path = folder / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(BUILD)
        for statement in more:
            connection.execute(statement)
    return path


def _source(schema: Schema) -> Catalog:
    return read_catalog(schema.source_path)


@pytest.mark.parametrize("name", ["nafld", "tpch"])
def test_the_schemas_of_the_repository_are_those_of_their_data(
    name: str, request: pytest.FixtureRequest
) -> None:
    schema = load(SCHEMAS / f"{name}.toml")
    catalog = read_catalog(request.getfixturevalue(f"{name}_folder"))
    assert schema.with_catalog(catalog) == schema
    assert {table.name for table in catalog.tables} == set(schema.tables)
    for table in catalog.tables:
        assert [column.name for column in table.columns] == list(schema.tables[table.name].columns)


def test_public_tables_are_completed_with_what_can_be_read(tmp_path: Path) -> None:
    schema = loads(SHOP).with_catalog(read_catalog(_database(tmp_path)))
    shops = schema.tables["shops"].columns
    assert list(shops) == ["id", "name"]
    assert (shops["id"].type, shops["id"].nullable) == (SqlType("integer"), False)
    assert (shops["name"].type, shops["name"].nullable) == (SqlType("text"), True)
    assert schema.owner("visits") == loads(SHOP).owner("visits")
    assert list(schema.tables["people"].columns) == ["id", "name", "paid"]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DROP TABLE visits; CREATE VIEW visits AS SELECT 1 AS person", "table visits: is a view"),
        ("DROP TABLE visits", "table visits: the source has no such table"),
        (
            "CREATE MACRO twice(x) AS x + x",
            "defines the macro twice, which could stand in for a function; DROP MACRO",
        ),
        ("CREATE MACRO listed(x) AS TABLE SELECT x", "defines the macro listed"),
        (
            "DROP TABLE visits; ALTER TABLE People DROP name",
            "table people, column name: the source has no such column",
        ),
        (
            "DROP TABLE visits; ALTER TABLE People ALTER paid TYPE DECIMAL(9, 1)",
            'the source has DECIMAL(9,1); write type = "decimal(9,1)"',
        ),
        (
            "DROP TABLE visits; ALTER TABLE People ALTER paid TYPE DOUBLE",
            "is declared decimal(9,2), but the source has DOUBLE",
        ),
        (
            "DROP TABLE visits; CREATE TABLE visits (person HUGEINT)",
            "two could become one; store it as BIGINT",
        ),
        (
            "DROP TABLE visits; CREATE TABLE visits (a INTEGER DEFAULT 1, person INTEGER AS (1 // a))",
            "is computed by",
        ),
        (
            "DROP TABLE visits; CREATE TABLE visits (person INTEGER, x VARCHAR COLLATE NOCASE)",
            "without COLLATE",
        ),
    ],
)
def test_a_source_that_differs_is_refused_with_the_mend(
    tmp_path: Path, statement: str, message: str
) -> None:
    catalog = read_catalog(_database(tmp_path, *statement.split("; ")))
    with pytest.raises(SchemaError) as caught:
        loads(SHOP, Path("shop.toml")).with_catalog(catalog)
    assert message in str(caught.value)
    assert str(caught.value).startswith("shop.toml: ")


def test_a_column_of_a_public_table_that_nobody_declares_may_be_gone(tmp_path: Path) -> None:
    catalog = read_catalog(_database(tmp_path, 'ALTER TABLE shops DROP "Name"'))
    assert list(loads(SHOP).with_catalog(catalog).tables["shops"].columns) == ["id"]


def test_a_reference_to_a_column_that_the_public_table_lacks_is_refused(tmp_path: Path) -> None:
    text = SHOP.replace('person = "people.id" }', 'person = "people.id", shop = "shops.nr" }')
    text = text.replace("[tables.shops]", 'shop = { type = "integer" }\n[tables.shops]')
    with pytest.raises(SchemaError, match=r"shops\.nr is not declared"):
        loads(text).with_catalog(read_catalog(_database(tmp_path)))
    loads(text.replace("shops.nr", "shops.id")).with_catalog(read_catalog(tmp_path / "shop.duckdb"))


def test_a_default_is_told_from_a_generated_column(tmp_path: Path) -> None:
    table = "CREATE TABLE t (a INTEGER DEFAULT 1, b INTEGER AS (a + 1), \"GENERATED ALWAYS AS\" VARCHAR DEFAULT 'x')"
    catalog = read_catalog(_database(tmp_path, table))
    columns = next(table.columns for table in catalog.tables if table.name == "t")
    assert [column.computed for column in columns] == [False, True, False]


WIDE = """
name = "wide"
source = "wide"
[privacy]
unit = "labs.id"
epsilon = 1000
delta = 1e-6
query_epsilon = 30
[tables.labs]
max_rows_per_unit = 1
[tables.labs.columns]
id = { type = "integer" }
lab_0 = { type = "integer", bounds = [0, 1] }
[tables.labs.patterns]
"lab_1?" = { type = "double", bounds = [0, 50], nullable = false }
"lab_*" = { type = "double", bounds = [0, 100], nullable = true }
"""


def test_patterns_declare_the_columns_of_a_wide_table(tmp_path: Path) -> None:
    (tmp_path / "wide").mkdir()
    columns = ", ".join(f'{number}::DOUBLE AS "Lab {number}"' for number in range(1, 79))
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT i AS id, 1 AS lab_0, {columns} FROM range(200) r(i)) "
            f"TO '{tmp_path}/wide/labs.parquet'"
        )
    (tmp_path / "wide.toml").write_text(WIDE)
    with closing(open_session(tmp_path / "wide.toml")) as session:
        labs = session.schema.tables["labs"].columns
        assert [labs[name].bounds for name in ("lab_0", "lab_12", "lab_5")] == [
            (0, 1),
            (0, 50),
            (0, 100),
        ]
        assert labs["lab_5"].column == ("Lab 5",) and len(labs) == 80
        averages = ", ".join(f"AVG(lab_{number})" for number in range(1, 79))
        (row,) = session.execute(f"SELECT {averages} FROM labs").rows
    expected = [min(number, 50) if 10 <= number < 20 else number for number in range(1, 79)]
    assert all(
        abs(float(str(found)) - value) < 5 for found, value in zip(row, expected, strict=True)
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"lab_1?"', '"test_*"', "pattern test_*: the source has no such column"),
        ('"lab_1?"', '"lab_1"', "patterns: `lab_1` is none"),
        ('"lab_1?" = {', '"lab_1?" = { column = "x",', "stands for many"),
        (
            '"lab_1?" = { type = "double"',
            '"lab_1?" = { type = "text"',
            "pattern lab_1?: bounds: a text column has no",
        ),
        (
            '{ type = "double", bounds = [0, 100]',
            '{ type = "date", bounds = [2020-01-01, 2021-01-01]',
            "is declared date",
        ),
    ],
)
def test_a_pattern_that_does_not_fit_is_refused(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    (tmp_path / "wide").mkdir()
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT 1 AS id, 1 AS lab_0, 1.5::DOUBLE AS lab_10, 2.5::DOUBLE AS lab_2) "
            f"TO '{tmp_path}/wide/labs.parquet'"
        )
    with pytest.raises(SchemaError) as caught:
        loads(WIDE.replace(old, new)).with_catalog(read_catalog(tmp_path / "wide"))
    assert message in str(caught.value)


def test_tables_of_other_schemas_do_not_exist(tmp_path: Path) -> None:
    more = (
        "CREATE SCHEMA other",
        "CREATE TABLE other.people (id VARCHAR)",
        "CREATE TABLE other.more (id VARCHAR)",
    )
    catalog = read_catalog(_database(tmp_path, *more))
    assert [table.name for table in catalog.tables] == ["People", "shops", "visits"]


def test_the_catalogue_is_the_same_whatever_the_rows_say(tmp_path: Path) -> None:
    full = read_catalog(_database(tmp_path))
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute("DELETE FROM People")
    assert read_catalog(tmp_path / "shop.duckdb") == full
    assert not re.search("424242|Zebedee|7171", str(full) + draft(full))


def test_a_source_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.duckdb").write_text("not a database, but long enough to look at" * 500)
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "t.parquet").write_bytes(b"PAR1")
    (tmp_path / "many[ab]").mkdir()
    (tmp_path / "many[ab]" / "t.parquet").write_bytes(b"PAR1")
    for name, message in [
        ("text.duckdb", "neither a DuckDB nor an SQLite file"),
        ("none", "no such file or folder"),
        ("empty", "holds no file that ends in"),
        ("broken", "cannot be read as Parquet"),
        ("broken/t.parquet", "cannot be read as Parquet"),
        ("many[ab]", "stand for many files"),
    ]:
        with pytest.raises(SchemaError) as caught:
            read_catalog(tmp_path / name)
        assert message in str(caught.value)


def _filled(text: str, unit: str, public: set[str]) -> str:
    """A draft with each line marked FILL IN taken or left, as its owner would."""
    lines, table = [], ""
    for line in text.splitlines():
        table = (
            line.removeprefix("[tables.").removesuffix("]")
            if line.startswith("[tables.")
            else table
        )
        if "FILL IN" in line and re.match(r"# \w+ = ", line):
            wanted = ("# public" if table in public else "# max_rows") if table else "# "
            line = line[2:] if line.startswith(wanted) else line
            line = f'unit = "{unit}"' if line.startswith("unit =") else line
        lines.append(line)
    return "\n".join(lines)


def test_a_draft_of_a_database_loads_once_it_is_filled_in(tmp_path: Path) -> None:
    catalog = read_catalog(_database(tmp_path, "CREATE VIEW seen AS FROM visits"))
    text = draft(catalog)
    with pytest.raises(SchemaError, match="unit: is missing"):
        loads(text)
    schema = loads(_filled(text, "people.id", {"shops"}))
    assert schema.name == "shop" and schema.tables["people"].key == ("id",)
    assert schema.tables["visits"].references == {"person": "people.id"}
    open_places = text.count('# references = { column = "table.key" }')
    assert open_places == text.count("[tables.") // 2 - text.count("\nreferences = ") > 0
    assert (
        'Left out: view "seen"' in text
        and 'a_b = { type = "integer", nullable = true, column = "a b" }' in text
        and '"secret": type `BLOB`' in text
    )
    assert schema.with_catalog(read_catalog(tmp_path / "shop.duckdb")) == schema


def test_a_draft_of_parquet_guesses_references_from_names(
    nafld_folder: Path, tpch_folder: Path
) -> None:
    nafld = loads(_filled(draft(read_catalog(nafld_folder)), "patients.patient_id", {"conditions"}))
    assert nafld.owner("labs") == load(SCHEMAS / "nafld.toml").owner("labs")
    text = draft(read_catalog(tpch_folder))
    assert text.count("a guess from the names") == 6
    public = {"nation", "region", "part", "supplier", "partsupp"}
    tpch, declared = loads(_filled(text, "customer.c_custkey", public)), load(SCHEMAS / "tpch.toml")
    for name, table in declared.tables.items():
        assert tpch.tables[name].references == table.references
        assert {column: each.type for column, each in tpch.tables[name].columns.items()} == {
            column: each.type for column, each in table.columns.items()
        }


def test_a_draft_writes_strange_names_as_data(tmp_path: Path) -> None:
    strange = 'x"\n[privacy]\nepsilon = 1e9 # \x7f é'
    folder = tmp_path / 'a"b\\c\nd'
    folder.mkdir()
    quoted = strange.replace('"', '""')
    duckdb.connect().execute(
        f"COPY (SELECT 1 AS \"{quoted}\", 1 AS id) TO '{tmp_path}/t.parquet'"
    ).close()
    (tmp_path / "t.parquet").rename(folder / "t.parquet")
    schema = loads(_filled(draft(read_catalog(folder)), "t.id", set()))
    assert schema.source == str(folder) and list(schema.tables["t"].columns) == ["id"]


def test_check_says_what_is_missing_and_what_is_loose(tmp_path: Path) -> None:
    _database(tmp_path)
    file = tmp_path / "shop.toml"
    file.write_text(SHOP.replace("epsilon = 3", "epsilon = 30"))
    said = "\n".join(map(str, check(file, _source)))
    for expected in (
        "loose: privacy, epsilon: more than 10",
        "note: privacy, delta: 0 is pure",
        "note: ledger: not set",
        "loose: table people, column paid: has no bounds",
        "note: table people, column name: has no values, so its keys are refused, since delta is 0",
        "loose: table visits, max_rows_per_unit: 2000 is large",
    ):
        assert expected in said
    assert "column id:" not in said and "column person:" not in said
    assert "note: table shops: public" in "\n".join(map(str, check(file)))


def test_check_and_draft_say_what_a_limit_costs(tmp_path: Path) -> None:
    _database(tmp_path)
    file = tmp_path / "shop.toml"
    file.write_text(SHOP.replace("delta = 0", "delta = 1e-6").replace("2000", "20"))
    said = "\n".join(map(str, check(file, _source, error_of=count_error)))
    assert (
        "table visits, max_rows_per_unit: with 20 rows per people.id a count is ± 392, with 5 ± 98"
        in said
    )
    assert "table people, max_rows_per_unit: with 1 row per people.id a count is ± 20" in said
    text = draft(read_catalog(tmp_path / "shop.duckdb"), error_of=count_error)
    assert (
        "answers = 40" in text and "# With epsilon = 1 a count is ± 56 with 1, ± 282 with 5" in text
    )


def test_check_says_which_keys_the_source_does_not_enforce(tpch_folder: Path) -> None:
    found = [
        str(each) for each in check(SCHEMAS / "tpch.toml", lambda _: read_catalog(tpch_folder))
    ]
    assert sum("does not enforce that it is unique" in each for each in found) == 1
    assert any(each.startswith("loose: table orders, column o_orderkey") for each in found)


def test_check_reports_a_file_that_does_not_load(tmp_path: Path) -> None:
    file = tmp_path / "shop.toml"
    file.write_text(SHOP.replace("delta = 0", "").replace('"people.id" }', '"person.id" }'))
    assert [each.level for each in check(file)] == ["error"]
    file.write_text(SHOP.replace("shop.duckdb", "gone.duckdb"))
    assert [each.level for each in check(file, _source)] == ["error"]
