"""Rows without a unit: with ``orphans = "each"`` each has one of its own,
whatever kind of source the tables lie in.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.engines.duckdb.engine import data_source_of
from dpsql.engines.duckdb.tables.views import attach
from dpsql.schema.load import loads

TABLES = {
    "people": ("id INTEGER, age INTEGER", [(1, 30), (2, 40), (None, 50), (None, 50), (None, None)]),
    "orders": (
        "nr INTEGER, person INTEGER",
        [(10, 1), (11, 1), (12, 7), (13, None), (14, None), (None, 2), (None, None)],
    ),
    "items": (
        "nr INTEGER, price INTEGER",
        [
            (10, 1),
            (10, 1),
            (12, 2),
            (13, 3),
            (13, 4),
            (14, 5),
            (99, 6),
            (99, 6),
            (98, 7),
            (None, 8),
            (None, 8),
        ],
    ),
}
SCHEMA = """
name = "shop"
source = "{source}"
ledger = "shop.ledger"
[privacy]
unit = "people.id"
epsilon = 1e8
delta = 1e-6
query_epsilon = 1e6
orphans = "{orphans}"
[tables.people]
max_rows_per_unit = 5
[tables.people.columns]
id = {{ type = "integer", nullable = true }}
age = {{ type = "integer", bounds = [0, 100], nullable = true }}
[tables.orders]
references = {{ person = "people.id" }}
max_rows_per_unit = 5
[tables.orders.columns]
nr = {{ type = "integer", nullable = true }}
person = {{ type = "integer", nullable = true }}
[tables.items]
references = {{ nr = "orders.nr" }}
max_rows_per_unit = 5
[tables.items.columns]
nr = {{ type = "integer", nullable = true }}
price = {{ type = "integer", bounds = [0, 10] }}
"""
#: The rows of each unit in the tables, as the numbers of their places.
UNITS = {
    "people": [[0], [1], [2], [3], [4]],
    "orders": [[0, 1], [2], [3], [4], [5], [6]],
    "items": [[0, 1], [2], [3, 4], [5], [6, 7], [8], [9], [10]],
}


def _database(folder: Path) -> str:
    with duckdb.connect(folder / "shop.duckdb") as connection:
        for name, (columns, rows) in TABLES.items():
            connection.execute(f"CREATE TABLE {name} ({columns})")
            connection.executemany(f"INSERT INTO {name} VALUES (?, ?)", rows)
    return "shop.duckdb"


def _files(folder: Path, kind: str) -> str:
    (folder / "shop").mkdir()
    with duckdb.connect(folder / _database(folder)) as connection:
        for name in TABLES:
            connection.execute(f"COPY {name} TO '{folder / 'shop' / name}.{kind}'")
    return "shop"


def _sqlite(folder: Path) -> str:
    connection = sqlite3.connect(folder / "shop.sqlite")
    for name, (columns, rows) in TABLES.items():
        connection.execute(f"CREATE TABLE {name} ({columns})")
        connection.executemany(f"INSERT INTO {name} VALUES (?, ?)", rows)
    connection.commit()
    connection.close()
    return "shop.sqlite"


SOURCES = {
    "database": _database,
    "parquet": lambda folder: _files(folder, "parquet"),
    "csv": lambda folder: _files(folder, "csv"),
    "sqlite": _sqlite,
}


def written(folder: Path, source: str, orphans: str = "each") -> Path:
    path = folder / f"{orphans}.toml"
    path.write_text(SCHEMA.format(source=source, orphans=orphans), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", SOURCES)
def test_each_row_has_the_unit_that_its_references_end_at(kind: str, tmp_path: Path) -> None:
    schema = loads(SCHEMA.format(source=tmp_path / SOURCES[kind](tmp_path), orphans="each"))
    with duckdb.connect(":memory:") as connection:
        attach(connection, data_source_of(schema), "source")
        for table, units in UNITS.items():
            rows = connection.execute(f'SELECT * FROM source.main."{table}"').fetchall()
            groups: dict[str, list[object]] = {}
            for *values, unit in rows:
                groups.setdefault(repr(unit), []).append(tuple(values))
            expected = [
                sorted((TABLES[table][1][place] for place in places), key=repr) for places in units
            ]
            assert sorted(
                (sorted(group, key=repr) for group in groups.values()), key=repr
            ) == sorted(expected, key=repr)


def test_rows_of_one_unit_have_it_in_every_table(tmp_path: Path) -> None:
    schema = loads(SCHEMA.format(source=tmp_path / _database(tmp_path), orphans="each"))
    with duckdb.connect(":memory:") as connection:
        attach(connection, data_source_of(schema), "source")
        shared = connection.execute(
            'SELECT o.nr, count(*) FROM source.main.items i JOIN source.main.orders o USING ("its unit") '
            "GROUP BY 1 ORDER BY 1"
        ).fetchall()
        apart = connection.execute(
            'SELECT count(*) FROM source.main.people p JOIN source.main.orders o USING ("its unit") WHERE p.id IS NULL'
        ).fetchone()
    assert apart == (0,), "a row of one table is no row of another, be they equal"
    assert shared == [(10, 2), (11, 2), (12, 1), (13, 2), (14, 1)]


#: What SQL answers, and what is answered where rows without a unit are left out.
ANSWERS = {
    "SELECT COUNT(*) FROM people": (5, 2),
    "SELECT COUNT(*) FROM orders": (7, 4),
    "SELECT COUNT(*) FROM items": (11, 3),
    "SELECT SUM(price) FROM items": (51, 4),
    "SELECT COUNT(*) FROM items WHERE nr IS NULL": (2, 0),
    "SELECT COUNT(*) FROM orders o JOIN items i ON o.nr = i.nr": (6, 3),
    "SELECT COUNT(*) FROM orders o LEFT JOIN people p ON p.id = o.person": (7, 4),
    "SELECT COUNT(*) FROM items i LEFT JOIN orders o ON o.nr = i.nr WHERE o.nr IS NULL": (5, 0),
    "SELECT COUNT(DISTINCT person) FROM orders": (3, 3),
    "SELECT COUNT(*) FROM (SELECT nr, SUM(price) AS s FROM items GROUP BY nr) t WHERE nr IS NOT NULL": (
        6,
        2,
    ),
    "SELECT COUNT(*) FROM (SELECT price FROM items UNION ALL SELECT person FROM orders) t": (18, 7),
}


def test_counts_are_those_of_sql(tmp_path: Path) -> None:
    source = _database(tmp_path)
    for orphans in ("each", "drop"):
        (tmp_path / "shop.ledger").unlink(missing_ok=True)
        folder = tmp_path / orphans
        folder.mkdir()
        (folder / source).write_bytes((tmp_path / source).read_bytes())
        with dpsql.connect(written(folder, source, orphans)) as connection:
            cursor = connection.cursor()
            for text, (each, drop) in ANSWERS.items():
                cursor.execute(text)
                ((answer,),) = cursor.fetchall()
                assert round(answer) == (each if orphans == "each" else drop), text


def test_groups_by_the_unit_lack_that_of_rows_without_one(tmp_path: Path) -> None:
    groups = {
        "SELECT nr FROM items GROUP BY nr": 6,
        "SELECT DISTINCT person FROM orders": 3,
        "SELECT person, nr FROM orders GROUP BY 1, 2": 6,
    }
    with dpsql.connect(written(tmp_path, _database(tmp_path))) as connection:
        cursor = connection.cursor()
        for text, count in groups.items():
            cursor.execute(f"SELECT COUNT(*) FROM ({text}) t")
            assert [round(answer) for (answer,) in cursor.fetchall()] == [count], text


def test_the_answers_are_those_of_duckdb(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / _database(tmp_path)) as connection:
        for text, (each, _) in ANSWERS.items():
            assert connection.execute(text).fetchall() == [(each,)], text


def test_explain_says_which_rows_are_left_out(tmp_path: Path) -> None:
    for orphans, said in (("drop", True), ("each", False)):
        folder = tmp_path / orphans
        folder.mkdir()
        with dpsql.connect(written(folder, _database(folder), orphans)) as connection:
            text = str(connection.explain("SELECT COUNT(*) FROM items"))
            assert ("rows whose items.nr is NULL" in text) is said
            assert ("rows whose orders.person is NULL" in text) is said
            joined = str(
                connection.explain("SELECT COUNT(*) FROM items i JOIN orders o ON i.nr = o.nr")
            )
            assert (
                "items.nr" not in joined and ("rows whose orders.person is NULL" in joined) is said
            )
