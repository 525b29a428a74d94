"""Which files are one table's, and which tables a folder, a glob or a file has."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsql.engines.files.guessed_types import _type_of_texts, _wider, sqlite_type
from dpsql.engines.files.table_files import (
    files_of,
    folder_of,
    found_tables,
    is_glob,
    kind_of,
    partition_of,
    root_of,
    with_journal,
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Files of every kind in folders of every kind."""
    for file in (
        "shop/people.csv",
        "shop/orders.PARQUET",
        "shop/_SUCCESS",
        "shop/.hidden.csv",
        "shop/notes.md",
        "shop/visits/b.csv",
        "shop/visits/a.csv",
        "shop/visits/deep/c.csv",
        "shop/visits/_temporary.csv",
        "shop/empty/readme.md",
        "parts/part-0001.parquet",
        "parts/part-0002.parquet",
        "one/part-0001.parquet",
        "years/year=2020/town=St%20Ives/x.parquet",
        "years/year=__HIVE_DEFAULT_PARTITION__/y.parquet",
        "log-2020.csv",
        "log-2021.csv",
        "base.duckdb",
        "base.duckdb.wal",
        "base.duckdb-journal",
    ):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("place", "files"),
    [
        ("shop/people.csv", ["shop/people.csv"]),
        ("shop/visits", ["shop/visits/a.csv", "shop/visits/b.csv", "shop/visits/deep/c.csv"]),
        ("shop/*.csv", ["shop/people.csv"]),
        ("shop/v*", ["shop/visits/a.csv", "shop/visits/b.csv", "shop/visits/deep/c.csv"]),
        ("log-202?.csv", ["log-2020.csv", "log-2021.csv"]),
        ("log-202[1-9].csv", ["log-2021.csv"]),
        ("shop/empty", []),
    ],
)
def test_the_files_of_a_table_are_those_of_data_in_the_order_of_their_names(
    tree: Path, place: str, files: list[str]
) -> None:
    assert files_of(tree / place) == [tree / each for each in files]
    assert is_glob(tree / place) is any(sign in place for sign in "*?[")


@pytest.mark.parametrize(
    ("source", "tables"),
    [
        ("shop", {"people": "people.csv", "orders": "orders.PARQUET", "visits": "visits"}),
        ("shop/people.csv", {"people": ""}),
        ("parts", {"parts": ""}),
        ("one", {"part-0001": "part-0001.parquet"}),
        ("years", {"years": ""}),
        ("log-*.csv", {"log": ""}),
        ("*.csv", {"ROOT": ""}),
    ],
)
def test_a_source_has_the_tables_of_its_files_and_folders(
    tree: Path, source: str, tables: dict[str, str]
) -> None:
    wanted = {
        name.replace("ROOT", tree.name): tree / source / place for name, place in tables.items()
    }
    assert dict(found_tables(tree / source)) == wanted


def test_the_folder_of_a_source_holds_all_its_tables(tree: Path) -> None:
    for source, folder in (
        ("shop", "shop"),
        ("shop/people.csv", "shop"),
        ("shop/*/a.csv", "shop"),
        ("log*.csv", ""),
    ):
        assert folder_of(tree / source) == tree / folder
    assert root_of(tree / "shop") == tree / "shop" and root_of(tree / "a*/b?") == tree


def test_names_of_folders_are_columns_of_the_table(tree: Path) -> None:
    found = {file.name: partition_of(tree / "years", file) for file in files_of(tree / "years")}
    assert found == {"x.parquet": {"year": "2020", "town": "St Ives"}, "y.parquet": {"year": None}}
    assert partition_of(tree / "log-2020.csv", tree / "log-2020.csv") == {}


def test_a_database_has_the_journals_beside_it(tree: Path) -> None:
    names = [each.name for each in with_journal(tree / "base.duckdb")]
    assert names == ["base.duckdb", "base.duckdb.wal", "base.duckdb-journal"]
    assert with_journal(tree / "log-2020.csv") == [tree / "log-2020.csv"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.parquet", "parquet"),
        ("a.CSV", "csv"),
        (".a.csv", None),
        ("_a.csv", None),
        ("a.csv.gz", "csv"),
        ("csv", None),
    ],
)
def test_a_file_is_of_the_kind_of_its_name(name: str, kind: str | None) -> None:
    assert kind_of(Path("x", name)) == kind


@pytest.mark.parametrize(
    ("declared", "duckdb"),
    [
        ("INTEGER", "BIGINT"),
        ("tinyint(1)", "BIGINT"),
        ("BOOLEAN", "BOOLEAN"),
        ("decimal(7)", "DECIMAL(7,0)"),
        ("NUMERIC( 9 , 2 )", "DECIMAL(9,2)"),
        ("NUMERIC", "DOUBLE"),
        ("nvarchar(9)", "VARCHAR"),
        ("CLOB", "VARCHAR"),
        ("BLOB", "BLOB"),
        ("FLOAT", "DOUBLE"),
        ("DATE", "DATE"),
        ("DATETIME", "TIMESTAMP"),
        ("timestamp", "TIMESTAMP"),
        ("TIME", "TIME"),
        ("", "VARCHAR"),
    ],
)
def test_what_sqlite_declares_is_read_by_its_own_rules(declared: str, duckdb: str) -> None:
    assert sqlite_type(declared) == duckdb


@pytest.mark.parametrize(
    ("texts", "narrowest"),
    [
        (["1", "-20", "+3"], "BIGINT"),
        (["9" * 18], "BIGINT"),
        (["9" * 19], "VARCHAR"),
        (["2020-01-01"], "DATE"),
        (["2020-01-01", "1"], "VARCHAR"),
        (["1", ""], "VARCHAR"),
        ([], "VARCHAR"),
    ],
)
def test_names_of_folders_have_the_narrowest_type_of_all(texts: list[str], narrowest: str) -> None:
    assert _type_of_texts(texts) == narrowest


def test_columns_of_several_files_have_the_type_that_holds_both() -> None:
    assert [
        _wider(*each) for each in (("DATE", "DATE"), ("BIGINT", "DOUBLE"), ("DOUBLE", "BIGINT"))
    ] == [
        "DATE",
        "DOUBLE",
        "DOUBLE",
    ]
    assert _wider("DATE", "TIMESTAMP") == _wider("BOOLEAN", "BIGINT") == "VARCHAR"
