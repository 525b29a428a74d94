"""Sources that are files, whatever their names: one file, a folder, a glob, partitions;
and what is refused of them.
"""

from __future__ import annotations

import resource
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner
from one_table import HEAD, copy, rows_of, schema_of

from dpsql.cli import commands
from dpsql.engines.duckdb import opening
from dpsql.engines.duckdb.catalog import declared_catalog, read_catalog
from dpsql.errors import SchemaError
from dpsql.schema import loads
from dpsql.session import open_session


def names_of(source: Path | str) -> list[str]:
    return [table.name for table in read_catalog(source).tables]


def test_a_folder_has_a_table_for_each_file_and_each_subfolder(tmp_path: Path) -> None:
    copy("SELECT 1 AS id", tmp_path / "Visits.parquet")
    copy("SELECT 2 AS id", tmp_path / "calls" / "a.parquet")
    copy("SELECT 3 AS id, 2020 AS year", tmp_path / "tests", ", PARTITION_BY (year)")
    (tmp_path / "people.csv").write_text("id\n1\n")
    (tmp_path / "notes.md").write_text("no table")
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / "figures").mkdir()
    assert sorted(names_of(tmp_path)) == ["Visits", "calls", "people", "tests"]
    assert names_of(tmp_path / "tests") == ["tests"]
    assert names_of(f"{tmp_path}/*/a.parquet") == [tmp_path.name]
    assert names_of(f"{tmp_path}/Vis*.parquet") == ["Vis"]
    assert names_of(tmp_path / "people.csv") == ["people"]


def test_the_ledger_of_a_glob_is_beside_the_files(tmp_path: Path) -> None:
    copy("SELECT i AS id FROM range(300) r(i)", tmp_path / "d" / "2020" / "day.parquet")
    copy("SELECT i AS id FROM range(300, 500) r(i)", tmp_path / "d" / "2021" / "day.parquet")
    declared = (
        HEAD.format(source=tmp_path / "d" / "*" / "day.parquet", ledger="")
        + '[tables.t.columns]\nid = { type = "integer" }'
    )
    session = open_session(loads(declared.replace('ledger = ""', "")))
    assert abs(int(session.execute("SELECT COUNT(*) FROM t").rows[0][0]) - 500) < 5
    session.close()
    assert (tmp_path / "d" / "dpsql.ledger").exists()


def test_parts_of_one_table_are_one_table(tmp_path: Path) -> None:
    for number in range(3):
        copy(f"SELECT {number} AS id", tmp_path / "visits" / f"part-{number:05}.parquet")
    assert names_of(tmp_path / "visits") == ["visits"]
    declared = schema_of(tmp_path / "visits", '[tables.t.columns]\nid = { type = "integer" }')
    assert rows_of(declared) == [(0,), (1,), (2,)]


def test_folders_hold_the_values_of_columns(tmp_path: Path) -> None:
    for place, number in (
        ("town=St%20Ives/year=2020", 1),
        ("town=Hayle/year=2021", 2),
        ("town=__HIVE_DEFAULT_PARTITION__/year=2021", 3),
    ):
        copy(f"SELECT {number} AS id, 'other' AS town", tmp_path / "visits" / place / "a.parquet")
    columns = (
        '[tables.t.columns]\nid = { type = "integer" }\ntown = { type = "text" }\n'
        'jahr = { type = "integer", column = "year" }'
    )
    found = [(1, "St Ives", 2020), (2, "Hayle", 2021), (3, None, 2021)]
    assert rows_of(schema_of(tmp_path / "visits", columns)) == found
    assert rows_of(schema_of(tmp_path, f'table = "visits"\n{columns}')) == found
    assert rows_of(schema_of(tmp_path, f'table = "visits/*/year=2021"\n{columns}')) == found[1:]
    assert (
        rows_of(schema_of(tmp_path, f'table = "visits/*/year=2021/*.parquet"\n{columns}'))
        == found[1:]
    )


def test_the_process_holds_more_files_than_a_shell_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "OWN_PROCESS", True)
    (tmp_path / "t").mkdir()
    for number in range(400):
        (tmp_path / "t" / f"{number}.csv").write_text(f"id\n{number}\n")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    declared = (
        HEAD.format(source=tmp_path, ledger=tmp_path / "l")
        + 'table = "t"\n[tables.t.columns]\nid = { type = "integer" }'
    )
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 300), hard))
    try:
        session = open_session(loads(declared))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert abs(int(session.execute("SELECT COUNT(*) FROM t").rows[0][0]) - 400) < 5
    session.close()


@pytest.mark.parametrize("own_process", [False, True])
def test_any_name_of_the_source_is_mapped_to_a_plain_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_process: bool
) -> None:
    monkeypatch.setattr(opening, "OWN_PROCESS", own_process)
    columns = (
        "[tables.t.columns]\n"
        'id = { type = "integer", column = "Kunden.Nr" }\n'
        'level = { type = "text", column = "Loyalty \\"Level\\"", values = ["gold"] }\n'
        'ort = { type = "text", column = ["Adresse", "Größe", "it\'s"], values = ["x"] }\n'
    )
    select = (
        'SELECT i AS "Kunden.Nr", '
        "'gold' AS \"Loyalty \"\"Level\"\"\", {'Größe': {'it''s': 'x'}} AS \"Adresse\" FROM range(500) r(i)"
    )
    copy(select, tmp_path / "data" / "Alle Besuche.parquet")
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute(f'CREATE TABLE "Alle Besuche" AS {select}')
    for source, table in (
        (tmp_path / "data", "Alle Besuche.parquet"),
        (tmp_path / "shop.duckdb", "Alle Besuche"),
    ):
        schema = loads(
            HEAD.format(source=source, ledger=f"{source}.l") + f'table = "{table}"\n{columns}'
        )
        session = open_session(schema)
        try:
            (row,) = session.execute(
                "SELECT level, ort, COUNT(*) AS n FROM t GROUP BY level, ort ORDER BY n DESC LIMIT 1"
            ).rows
        finally:
            session.close()
        assert row[:2] == ("gold", "x") and abs(row[2] - 500) < 5


def test_a_draft_of_strange_names_answers_once_it_is_filled_in(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "Meine Kunden.csv").write_text(
        "Kunden Nr;Größe;Tag\n1;1,5;31.12.2020\n2;2,5;01.01.2021\n"
    )
    drafted = CliRunner().invoke(commands, ["schema", "init", str(tmp_path / "d")])
    assert drafted.exit_code == 0, drafted.output
    for line in (
        'table = "Meine Kunden.csv"',
        'csv = { delimiter = ";", decimal = ",", date_format = "%d.%m.%Y" }',
        'kunden_nr = { type = "integer", nullable = true, column = "Kunden Nr" }',
        'groesse = { type = "double", nullable = true, column = "Größe" }',
    ):
        assert line in drafted.output
    assert "guessed by reading its" in drafted.output and "2020-12-31" not in drafted.output
    filled = drafted.output.replace('# unit = "table.column"', 'unit = "meine_kunden.kunden_nr"')
    for line in ("# epsilon", "# delta", "# max_rows_per_unit"):
        filled = filled.replace(line, line[2:])
    schema = loads(filled)
    schema = schema.with_catalog(declared_catalog(schema))
    assert [row[:2] for row in rows_of(schema, "meine_kunden")] == [(1, 1.5), (2, 2.5)]


def test_a_draft_names_the_fields_of_a_struct_and_says_why_it_leaves_columns_out(
    tmp_path: Path,
) -> None:
    copy(
        "SELECT 1 AS id, {'city': 'x', 'at': {'zip': 1}} AS home, [1] AS l, TIME '10:00' AS t, 'a'::BLOB AS b, "
        "INTERVAL 1 DAY AS i, MAP {'a': 1} AS m",
        tmp_path / "people.parquet",
    )
    text = CliRunner().invoke(commands, ["schema", "init", str(tmp_path / "people.parquet")]).output
    assert 'home_city = { type = "text", nullable = true, column = ["home", "city"] }' in text
    assert (
        'home_at_zip = { type = "integer", nullable = true, column = ["home", "at", "zip"] }'
        in text
    )
    for column, reason in (
        ("l", "a table with a row for each"),
        ("t", "has no date"),
        ("b", "holds bytes"),
        ("i", "a number of days"),
        ("m", "as plain columns"),
    ):
        (line,) = [each for each in text.splitlines() if f'Left out: column "{column}"' in each]
        assert reason in line


def test_sqlite_is_read_by_what_it_declares(tmp_path: Path) -> None:
    place = tmp_path / "s.sqlite"
    with closing(sqlite3.connect(place)) as connection:
        connection.execute(
            'CREATE TABLE "My People" (id INTEGER PRIMARY KEY, w NUMERIC(5,2), born DATE, name VARCHAR(9), b BLOB)'
        )
        connection.execute(
            'CREATE TABLE visits (p INTEGER REFERENCES "My People", at DATETIME, x REAL, ok BOOLEAN)'
        )
        connection.execute(
            "INSERT INTO \"My People\" VALUES (1, 1.5, '2000-01-31', 'Zoë', x'00'), (2, 2, NULL, '7', NULL)"
        )
        connection.execute("INSERT INTO visits VALUES (1, '2020-01-01 10:00:00', 1e-300, 1)")
        connection.commit()
    text = CliRunner().invoke(commands, ["schema", "init", str(place)]).output
    for line in (
        'table = "My People"',
        'w = { type = "decimal(5,2)", nullable = true }',
        'key = "id"',
        "holds bytes",
        'references = { p = "my_people.id" }',
        'ok = { type = "boolean", nullable = true }',
    ):
        assert line in text, text
    columns = (
        'table = "My People"\n[tables.t.columns]\nid = { type = "integer" }\nw = { type = "decimal(5,2)" }\n'
        'name = { type = "text" }'
    )
    assert [tuple(map(str, row)) for row in rows_of(schema_of(place, columns))] == [
        ("1", "1.50", "Zoë"),
        ("2", "2.00", "7"),
    ]
    (tmp_path / "s.sqlite-wal").write_bytes(b"something")
    with pytest.raises(SchemaError, match="a program writes to it"):
        read_catalog(place)


def test_errors_name_the_real_reason(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database, but long enough to look at" * 500)
    (tmp_path / "x.duckdb").write_bytes(b"12345678DUCK" + b"\0" * 5000)
    (tmp_path / "none").mkdir()
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.png").write_bytes(b"")
    (tmp_path / "empty.parquet").write_bytes(b"")
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "mixed").mkdir()
    (tmp_path / "mixed" / "inner").mkdir()
    for name in ("a.csv", "b.parquet"):
        (tmp_path / "mixed" / "inner" / name).write_bytes(b"")
    for source, message in (
        ("notes.txt", "neither a DuckDB nor an SQLite file; a file of rows ends in"),
        ("x.duckdb", "cannot be opened as a DuckDB database"),
        ("gone.csv", "no such file or folder"),
        ("none", "holds no file that ends in .parquet, .csv"),
        ("pictures", "(it holds a.png)"),
        ("*.tsv", "no Parquet or CSV file has such a name"),
        ("empty.parquet", "is empty"),
        ("empty.csv", "is empty"),
        ("mixed", "files of several kinds"),
    ):
        with pytest.raises(SchemaError) as caught:
            read_catalog(f"{tmp_path}/{source}")
        assert message in str(caught.value), source


def test_what_a_schema_says_of_its_files_is_checked(tmp_path: Path) -> None:
    copy('SELECT 1 AS id, 2 AS "ID "', tmp_path / "d" / "t.parquet")
    (tmp_path / "d" / "T.csv").write_text("id\n1\n")
    for rest, message in (
        ('table = "../t.parquet"', "must lie below the source"),
        ('table = "/etc/passwd"', "must lie below the source"),
        ('table = "u.parquet"', "has no such table (it has: t)"),
        ("", 'has it twice (T.csv, t.parquet); say which: table = "T.csv"'),
        ('table = "t.parquet"\ncsv = { delimiter = ";" }', "is no CSV"),
        (
            'table = "t.parquet"\n[tables.t.columns]\nid = { type = "integer", column = "nr" }',
            "mend `column`",
        ),
    ):
        rest += "" if "columns" in rest else '\n[tables.t.columns]\nid = { type = "integer" }'
        with pytest.raises(SchemaError) as caught:
            schema_of(tmp_path / "d", rest)
        assert message in str(caught.value), rest
    for wrong in (
        'delimiter = ";;"',
        'quote = ""',
        'date_format = "d.m.y"',
        'nulls = "NA"',
        'encoding = "ebcdic"',
    ):
        with pytest.raises(SchemaError):
            loads(
                HEAD.format(source="d", ledger="l")
                + f"csv = {{ {wrong} }}\n[tables.t.columns]\nid = {{ type = 'integer' }}"
            )


def test_a_view_is_refused_with_the_way_that_works(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "s.duckdb")) as connection:
        connection.execute("CREATE TABLE u (id INTEGER); CREATE VIEW t AS FROM u")
    with pytest.raises(
        SchemaError, match="store it with the unit's column: CREATE TABLE … AS FROM t, and declare"
    ):
        schema_of(tmp_path / "s.duckdb", '[tables.t.columns]\nid = { type = "integer" }')
