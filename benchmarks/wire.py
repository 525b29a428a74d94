"""The server on the loopback: connecting, statements, rows and memory, as a client sees them.

Run ``python benchmarks/wire.py``; it takes about a minute and needs psycopg. The server is a
process of its own on the NAFLD schema with a made-up budget and a ledger that is thrown away.
Goals: connecting under 20 ms and a small answer that was paid for under 5 ms (medians), 200
statements a second from 8 clients, 50,000 rows a second in text and binary.
"""

from __future__ import annotations

import argparse
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median

import duckdb
import psycopg

from dpsql.cli.demo import SCHEMA as NAFLD

SMALL = "SELECT male, COUNT(*) AS n, AVG(bmi) AS bmi FROM patients GROUP BY male"
ROWS = 20_000
MANY = "SELECT x, y, z, s, even FROM many"
_TABLE = """
[tables.many]
public = true
[tables.many.columns]
x = { type = "integer" }
y = { type = "integer" }
z = { type = "double" }
s = { type = "text" }
even = { type = "boolean" }
"""


@contextmanager
def served() -> Iterator[tuple[int, int]]:
    """The port and the process number of a server."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-c",
            "from dpsql.cli import main; main()",
            "serve",
            str(schema_in(Path(folder))),
            "--port",
            "0",
        ]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            found = re.search(r"port (\d+)", process.stderr.readline())
            assert found, "the server did not start"
            threading.Thread(target=process.stderr.read, daemon=True).start()
            try:
                yield int(found[1]), process.pid
            finally:
                process.send_signal(signal.SIGTERM)
                process.wait(30)


def schema_in(folder: Path) -> Path:
    """The NAFLD schema with a public table of many rows and a budget that is never spent."""
    packaged = Path(NAFLD)
    data = folder / "nafld"
    data.mkdir()
    for file in (packaged.parent / "nafld").glob("*.parquet"):
        (data / file.name).symlink_to(file)
    duckdb.sql(
        f"SELECT x, x * 2 AS y, x / 7.0 AS z, 'row ' || x AS s, x % 2 = 0 AS even FROM range({ROWS}) AS many(x)"
    ).write_parquet(str(data / "many.parquet"))
    text = re.sub(
        r"^epsilon = .*$", "epsilon = 1000000", packaged.read_text(), count=1, flags=re.MULTILINE
    )
    schema = folder / "nafld.toml"
    schema.write_text(text + _TABLE)
    return schema


def milliseconds(action: Callable[[], object], times: int) -> float:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        taken.append(time.perf_counter() - start)
    return median(taken) * 1000


def kilobytes(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+)", status)
    assert found
    return int(found[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=50)
    times = parser.parse_args().times
    with served() as (port, process):

        def connect() -> psycopg.Connection[tuple[object, ...]]:
            return psycopg.connect(host="127.0.0.1", port=port, user="benchmark", autocommit=True)

        connect().close()
        show("connect and leave", milliseconds(lambda: connect().close(), times), "ms", 20)
        with connect() as one:
            asked = "SELECT COUNT(*) FROM patients WHERE age > %s"
            fresh = iter(range(10_000))
            for name, goal, action in (
                ("small answer, paid for, simple", 5, lambda: one.execute(SMALL)),
                ("small answer, paid for, extended", 5, lambda: one.execute(asked, [50])),
                (
                    "small answer, charged",
                    None,
                    lambda: one.execute(f"{asked.replace('%s', str(next(fresh)))}.5"),
                ),
            ):
                action()
                show(name, milliseconds(action, times), "ms", goal)
            for name, binary in (("text", False), ("binary", True)):
                cursor = one.cursor(binary=binary)
                cursor.execute(MANY)
                took = milliseconds(partial(cursor.execute, MANY), 5)
                show(f"rows, {name}", ROWS / took * 1000, "a second", 50_000)

        def ask(_: int) -> int:
            with connect() as mine:
                for _ in range(times):
                    mine.execute(SMALL).fetchall()
            return times

        with ThreadPoolExecutor(8) as pool:
            start = time.perf_counter()
            count = sum(pool.map(ask, range(8)))
            show("statements, 8 clients", count / (time.perf_counter() - start), "a second", 200)
        before = kilobytes(process)
        held = [connect() for _ in range(50)]
        show("memory of an idle connection", (kilobytes(process) - before) / 50, "KiB", None)
        for each in held:
            each.execute(SMALL)
        show("memory of one that has asked", (kilobytes(process) - before) / 50, "KiB", None)
        for each in held:
            each.close()


def show(name: str, figure: float, unit: str, goal: int | None) -> None:
    """One line of the table."""
    print(f"{name:34} {figure:12,.1f} {unit:9}" + (f" (goal {goal:,})" if goal else ""))


if __name__ == "__main__":
    main()
