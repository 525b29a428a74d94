"""People and their visits: a small database whose noise vanishes,
and comparison with what DuckDB says.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from pathlib import Path

import duckdb

from dpsql.session import Session
from dpsql.session.database import Database, open_database

SCHEMA = """
name = "people"
source = "data"
[privacy]
unit = "people.id"
epsilon = 1e20
delta = 1e-6
mechanism = "gaussian"
query_epsilon = 1e8
[tables.people]
key = "id"
max_rows_per_unit = 1
[tables.people.columns]
id = { type = "integer" }
kind = { type = "text", values = ["a", "b", "c"], nullable = true }
flag = { type = "boolean" }
y = { type = "integer", bounds = [0, 9], nullable = true }
z = { type = "integer", bounds = [0, 9] }
w = { type = "decimal(5,1)", bounds = [-50, 100], nullable = true }
day = { type = "date", bounds = [2024-01-01, 2024-03-31] }
free = { type = "text" }
[tables.visits]
max_rows_per_unit = 6
references = { id = "people.id" }
[tables.visits.columns]
id = { type = "integer" }
place = { type = "text", values = ["p", "q", "r"] }
cost = { type = "integer", bounds = [-5, 10] }
"""
TABLES = {
    "people": """SELECT i AS id, ['a', 'b', NULL][1 + i % 3] AS kind, i % 5 < 2 AS flag,
        CASE WHEN i % 7 > 1 THEN (i * i) % 10 END::BIGINT AS y, (i * i) % 10 AS z,
        CASE WHEN i % 4 > 0 THEN i % 60 - 30.5 END::DECIMAL(5,1) AS w, DATE '2024-01-01' + (i % 91)::INTEGER AS day,
        ['u', 'v'][1 + i % 2] AS free FROM range(400) t(i)""",
    "visits": "SELECT i // 3 AS id, ['p', 'q'][1 + i * i % 2] AS place, (i * 7) % 16 - 5 AS cost FROM range(1200) t(i)",
}
#: What is answered where SQL says NULL of no values: sums are 0, averages the middles of the bounds
#: of y and of w, and the variance of y half of what it can be.
OF_NOTHING = (None, 0, 4, 25, 12)


def written(folder: Path, where: str = "true") -> Path:
    """The tables as Parquet files in the folder's data;
    of people those of whom the condition on ``i`` holds.
    """
    (folder / "data").mkdir()
    with duckdb.connect() as connection:
        for table, rows in TABLES.items():
            some = f"{rows} WHERE {where}" if table == "people" else rows
            connection.execute(f"COPY ({some}) TO '{folder}/data/{table}.parquet'")
    return folder


def opened(data: Path, folder: Path, schema: str = SCHEMA) -> Database:
    """The people, with data and a ledger of their own."""
    if not (folder / "data").exists():
        shutil.copytree(data / "data", folder / "data")
    if not (folder / "people.toml").exists():
        (folder / "people.toml").write_text(schema)
    return open_database(folder / "people.toml")


def session_of(database: Database, analyst: str = "ada") -> Session:
    session = database.session(analyst)
    session.set("dpsql.empty_groups", "hide")  # so that the groups are those of SQL
    return session


def same(found: object, wanted: object) -> bool:
    if isinstance(wanted, float) or isinstance(found, float):
        return (
            found is not None
            and wanted is not None
            and math.isclose(float(found), float(wanted), abs_tol=1e-4)
        )  # type: ignore[arg-type]
    return found == wanted


def require_same(
    found: Sequence[tuple[object, ...]], expected: Sequence[tuple[object, ...]]
) -> None:
    """The same rows in any order, where sums of nothing are 0 and means the middles of their
    bounds.
    """
    rows, missing = sorted(found, key=repr), list[tuple[object, ...]]()
    assert len(rows) == len(expected), (rows, expected)
    for wanted in sorted(
        expected, key=repr
    ):  # of which several may have the same keys, as a total and a NULL
        place = next((place for place, row in enumerate(rows) if _alike(row, wanted)), None)
        if place is None:
            missing.append(wanted)
        else:
            del rows[place]
    assert not missing, (rows, missing)


def _alike(found: tuple[object, ...], wanted: tuple[object, ...]) -> bool:
    return all(
        same(a, b) or (a in OF_NOTHING and b is None) for a, b in zip(found, wanted, strict=True)
    )
