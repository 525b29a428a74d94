"""Two versions of a database whose mixture gives away a unit,
and what puts the one in the place of the other.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb

from dpsql.engines.source import CoreSql

#: Who has many rows in the second version, and is in another part there.
UNIT = 7
SCHEMA = """
name = "town"
source = "data"
[privacy]
unit = "people.pid"
epsilon = 1e12
delta = 0
query_epsilon = 1e6
[engine]
process = {process}
[tables.people]
key = "pid"
max_rows_per_unit = 1
[tables.people.columns]
pid = {{ type = "integer" }}
side = {{ type = "text", values = ["left", "right"] }}
[tables.visits]
references = {{ pid = "people.pid" }}
max_rows_per_unit = 4
[tables.visits.columns]
pid = {{ type = "integer" }}
kind = {{ type = "integer", values = [0, 1] }}
"""
#: A core that counts the visits, and what it finds in each version.
ROWS = CoreSql(
    'SELECT count(*) FROM "source"."main"."visits" AS "t0"', frozenset({"visits"}), frozenset()
)
FIRST, SECOND = [[(200,)]], [[(20_220,)]]
#: What the limit of four visits leaves of each version, and how many people are on each side.
VISITS, SIDES = {1: 200, 2: 222}, {1: [50, 50], 2: [49, 51]}
LEFT, RIGHT = (f"SELECT COUNT(*) FROM people WHERE side = '{side}'" for side in ("left", "right"))
#: Reads the visits several times: whose rows are too many, how many they are, and all of them.
COUNTED = "SELECT kind, COUNT(*) FROM visits GROUP BY kind"


def town(folder: Path, process: bool = False, database: bool = False) -> Path:
    """The schema of the database at its first version; both lie beside it,
    in the folders ``1`` and ``2``.
    """
    for version in (1, 2):
        _write(folder / str(version), version, database)
    (folder / "data").mkdir()
    schema = SCHEMA.format(process=str(process).lower())
    if database:
        schema = schema.replace('source = "data"', 'source = "data/town.duckdb"')
    put(folder, 1)
    (folder / "town.toml").write_text(schema)
    return folder / "town.toml"


def put(folder: Path, version: int, replace: Callable[[Path, Path], object] = os.replace) -> None:
    """Put the version in the place of what is there, as an ordinary job does, file by file."""
    for file in sorted((folder / str(version)).iterdir()):
        shutil.copy2(file, folder / "new")
        replace(folder / "new", folder / "data" / file.name)


def write_over(new: Path, file: Path) -> None:
    """Write what is new into the very file, as ``cp`` does."""
    file.write_bytes(new.read_bytes())


def write_over_unseen(new: Path, file: Path) -> None:
    """Write into the very file, and set its time back."""
    facts = file.stat()
    write_over(new, file)
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def move_aside(new: Path, file: Path) -> None:
    """Take the file away before the new one comes."""
    file.replace(file.with_name("before"))
    new.replace(file)


def _write(folder: Path, version: int, database: bool) -> None:
    folder.mkdir()
    right = f"pid >= 50 OR {version} = 2 AND pid = {UNIT}"
    people = f"SELECT pid, CASE WHEN {right} THEN 'right' ELSE 'left' END AS side FROM range(100) AS people(pid)"
    visits = f"""SELECT i // 2 AS pid, i % 2 AS kind FROM range(200) AS visits(i)
        UNION ALL SELECT 50 + i, i % 2 FROM range({0 if version == 1 else 20}) AS more(i)
        UNION ALL SELECT {UNIT}, i % 2 FROM range({0 if version == 1 else 20_000}) AS many(i)"""
    with duckdb.connect(str(folder / "town.duckdb") if database else ":memory:") as connection:
        for name, rows in (("people", people), ("visits", visits)):
            if database:
                connection.execute(f"CREATE TABLE {name} AS {rows}")
            else:
                connection.execute(f"COPY ({rows}) TO '{folder / name}.parquet' (FORMAT parquet)")
