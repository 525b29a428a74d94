"""What becomes of statements while an ordinary job replaces the data under them.

Run ``python benchmarks/versions.py``; it takes a few minutes. A writer puts two versions of a table
in each other's place, 20 times a second; in the second one a unit has 200,000 rows more, of which
its limit leaves three. A statement reads the table four times, a workload has a part for each side
on which a person may be. A statement is *wrong* where its answer is neither version's; *refused*
ones charge nothing, *failed* ones keep their charge.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import duckdb

from dpsql.errors import ExecutionFailed, OperationalError
from dpsql.session.database import Database, open_database

SCHEMA = """
name = "town"
source = "data"
[privacy]
unit = "people.pid"
epsilon = 1e12
delta = 0
query_epsilon = 1e6
keep_answers = false
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
max_rows_per_unit = 3
[tables.visits.columns]
pid = {{ type = "integer" }}
kind = {{ type = "integer", values = [0, 1, 2, 3] }}
"""
STATEMENT = "SELECT kind, COUNT(*) FROM visits GROUP BY kind"
SIDES = [f"SELECT COUNT(*) FROM people WHERE side = '{side}'" for side in ("left", "right")]


def made(folder: Path, process: bool) -> Path:
    """The schema file; its data are the first version, and both lie beside them."""
    for version in (1, 2):
        (folder / str(version)).mkdir()
        right = f"pid >= 25000 OR {version} = 2 AND pid = 17"
        more = f"UNION ALL SELECT 17, i % 4 FROM range({200_000 if version == 2 else 0}) AS more(i)"
        for name, rows in {
            "people": f"SELECT pid, CASE WHEN {right} THEN 'right' ELSE 'left' END AS side FROM range(50000) AS t(pid)",
            "visits": f"SELECT i // 2 AS pid, i % 4 AS kind FROM range(100000) AS visits(i) {more}",
        }.items():
            duckdb.execute(
                f"COPY ({rows}) TO '{folder / str(version) / name}.parquet' (FORMAT parquet)"
            )
    shutil.copytree(folder / "1", folder / "data")
    (folder / "town.toml").write_text(SCHEMA.format(process=str(process).lower()), encoding="utf-8")
    return folder / "town.toml"


def write(folder: Path, a_second: float, in_place: bool) -> None:
    """Put the two versions in each other's place until this process is ended."""
    version = 1
    while True:
        version = 3 - version
        for file in (folder / str(version)).iterdir():
            if in_place:
                shutil.copyfile(file, folder / "data" / file.name)
            else:
                shutil.copyfile(file, folder / "new")
                os.replace(folder / "new", folder / "data" / file.name)  # noqa: PTH105
        time.sleep(1 / a_second)


def asked(database: Database, count: int, said: Counter[str]) -> None:
    """Ask statements and workloads by turns, and count what becomes of them."""
    session = database.session()
    for turn in range(count):
        try:
            if turn % 2:
                shown = [
                    round(result.rows[0][0])
                    for result in session.run(session.workload(SIDES), "parallel")
                ]
                good = shown in ([25_000, 25_000], [24_999, 25_001])
            else:
                shown = [round(row[1]) for row in session.execute(STATEMENT).rows]
                good = abs(sum(shown) - 100_000) <= 4
            said["answered" if good else f"wrong: {shown}"] += 1
        except ExecutionFailed:
            said["failed, and charged"] += 1
        except OperationalError:
            said["refused, and not charged"] += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--statements", type=int, default=320)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--a-second", type=float, default=20.0)
    parser.add_argument("--in-place", action="store_true", help="write into the files, as cp does")
    parser.add_argument("--here", action="store_true", help="process = false")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.write is not None:
        write(given.write, given.a_second, given.in_place)
    with tempfile.TemporaryDirectory() as name:
        folder, said = Path(name), Counter[str]()
        database = open_database(made(folder, not given.here))
        options = ["--in-place"] if given.in_place else []
        options += ["--write", str(folder), "--a-second", str(given.a_second)]
        writer = subprocess.Popen([sys.executable, __file__, *options])
        work: Callable[[], None] = lambda: asked(database, given.statements // given.clients, said)  # noqa: E731
        threads, begun = (
            [threading.Thread(target=work) for _ in range(given.clients)],
            time.monotonic(),
        )
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        writer.kill()
        writer.wait()
        database.close()
        for what, count in said.most_common():
            print(f"{what:40}{count:6}")
        print(f"{'seconds':40}{time.monotonic() - begun:6.0f}")


if __name__ == "__main__":
    main()
