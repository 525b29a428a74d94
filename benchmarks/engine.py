"""What it costs that the engine has a process of its own: connecting, statements,
and large results.

Run ``python benchmarks/engine.py``; it takes about a minute. Times are milliseconds on the clock,
medians of runs in this process and in one of its own by turns. A statement is the engine's part of
one: the charge, the noise and the sandbox are the same for both.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import duckdb

from dpsql.engines.data import Data
from dpsql.engines.duckdb.catalog import read_catalog
from dpsql.engines.duckdb.engine import data_source_of
from dpsql.engines.duckdb.in_process_data import LocalData
from dpsql.engines.duckdb.process.data import ProcessData
from dpsql.engines.source import CoreSql, DataSource
from dpsql.schema import loads

SCHEMA = """
name = "events"
source = "events.duckdb"
[privacy]
unit = "events.user"
epsilon = 1
delta = 1e-6
[tables.events]
max_rows_per_unit = 10
[tables.events.columns]
user = {{ type = "integer" }}
key = {{ type = "integer" }}
value = {{ type = "double", bounds = [0, 100] }}
[engine]
threads = {threads}
"""
STATEMENTS = {
    "1 group": 'SELECT count(*), sum(CAST("t0"."value" * 1000 AS BIGINT)) FROM "source"."main"."events" AS "t0"',
    "100,000 groups": 'SELECT "t0"."key", count(*), sum(CAST("t0"."value" * 1000 AS BIGINT)), min("t0"."user") '
    'FROM "source"."main"."events" AS "t0" GROUP BY "t0"."key"',
    "100,000 texts": 'SELECT \'key \' || CAST("t0"."key" AS VARCHAR), sum(CAST("t0"."value" AS DECIMAL(12, 2))) '
    'FROM "source"."main"."events" AS "t0" GROUP BY "t0"."key"',
}


def seconds(work: Callable[[], object]) -> float:
    """How long the work takes on the clock."""
    before = perf_counter()
    work()
    return perf_counter() - before


def connected(opens: Callable[[DataSource], Data], source: DataSource, repetitions: int) -> float:
    """The median seconds until a source is open."""
    times = []
    for _ in range(repetitions):
        made: list[Data] = []
        times.append(seconds(lambda: made.append(opens(source))))  # noqa: B023
        made[0].close()
    return median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=30)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute(
                "CREATE TABLE events AS SELECT i % 50000 AS user, i % 100000 AS key, (i % 977) / 10.0 AS value "
                "FROM range(300000) t(i)"
            )
        schema = loads(SCHEMA.format(threads=given.threads), Path(folder) / "events.toml")
        source = data_source_of(schema.with_catalog(read_catalog(path)))
        kinds: dict[str, Callable[[DataSource], Data]] = {
            "here": LocalData,
            "own process": ProcessData,
        }
        print(f"{'':16}", *(f"{kind:>12}" for kind in kinds), f"{'more':>8}")
        few = max(3, given.repetitions // 5)
        line("connect", [connected(opens, source, few) for opens in kinds.values()])
        opened = [opens(source) for opens in kinds.values()]
        for name, sql in STATEMENTS.items():
            core = CoreSql(sql, frozenset({"events"}), frozenset())
            times: list[list[float]] = [[], []]
            for _ in range(given.repetitions):
                for place, data in enumerate(opened):
                    cursor = data.hold().cursor()
                    times[place].append(seconds(lambda: cursor.rows([], [core])))  # noqa: B023
                    cursor.close([])
            line(name, list(map(median, times)))
        for data in opened:
            data.close()


def line(name: str, times: list[float]) -> None:
    """Print one line, in milliseconds."""
    here, own = (each * 1e3 for each in times)
    print(f"{name:16} {here:12.2f} {own:12.2f} {own - here:8.2f}", flush=True)


if __name__ == "__main__":
    main()
