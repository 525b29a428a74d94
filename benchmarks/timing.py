"""What time tells of a person, with and without time buckets, and what the buckets cost.

Run ``python benchmarks/timing.py``; it takes a few minutes. Two databases differ by one person, who
has ``--share`` of all rows; the same statements are asked of both by turns, by one client. *p* is
that of the two-sided Mann–Whitney test that the times come from one distribution: near 0, the times
tell the databases apart. Then clients ask for ``--seconds``, and the statements that they get
answered in a second are counted.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

import duckdb

from dpsql.session.database import Database, open_database

SCHEMA = """
name = "events"
source = "events.duckdb"
[privacy]
unit = "users.user"
epsilon = 1000000
delta = 1e-6
query_epsilon = 0.01
keep_answers = false
time_bucket = {bucket}
[tables.users]
max_rows_per_unit = 1
key = "user"
[tables.users.columns]
user = {{ type = "integer" }}
[tables.events]
max_rows_per_unit = 10
references = {{ user = "users.user" }}
[tables.events.columns]
user = {{ type = "integer" }}
value = {{ type = "double", bounds = [0, 100] }}
"""
STATEMENT = "SELECT COUNT(*), AVG(value) FROM events WHERE value > {}"


def database(folder: Path, rows: int, others: int, bucket: float) -> Database:
    """A database in which the person has that many rows, and others have theirs."""
    folder.mkdir()
    with duckdb.connect(str(folder / "events.duckdb")) as connection:
        connection.execute("CREATE TABLE users AS SELECT range AS user FROM range(1000)")
        connection.execute(
            "CREATE TABLE events AS SELECT 1 + i % 999 AS user, (i % 977) / 10.0 AS value FROM range(?) t(i) "
            "UNION ALL SELECT 0, (i % 977) / 10.0 FROM range(?) t(i)",
            [others, rows],
        )
    (folder / "events.toml").write_text(SCHEMA.format(bucket=bucket))
    return open_database(folder / "events.toml")


def times(databases: Sequence[Database], runs: int) -> list[list[float]]:
    """The seconds of each answer, of each database, by turns."""
    sessions = [each.session("ada") for each in databases]
    found: list[list[float]] = [[] for _ in sessions]
    for run in range(runs):
        for place, session in enumerate(sessions):
            plan = session.plan(STATEMENT.format(run / 100))
            before = perf_counter()
            session.answer(plan)
            found[place].append(perf_counter() - before)
    return found


def mann_whitney(one: Sequence[float], other: Sequence[float]) -> float:
    """The two-sided p-value of the normal approximation,
    with the correction for ties (Mann and Whitney 1947).
    """
    values = sorted([*one, *other])
    ranks: dict[float, float] = {}
    ties = 0
    for value in set(values):
        count = values.count(value)
        ranks[value] = values.index(value) + (count + 1) / 2
        ties += count**3 - count
    n, m = len(one), len(other)
    u = sum(ranks[value] for value in one) - n * (n + 1) / 2
    variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)))
    return 1.0 if not variance else math.erfc(abs(u - n * m / 2) / math.sqrt(2 * variance))


def throughput(opened: Database, clients: int, seconds: float) -> float:
    """How many answers all the clients together get in a second."""
    answered = [0] * clients
    end = perf_counter() + seconds

    def ask(place: int) -> None:
        session = opened.session(f"analyst{place}")
        while perf_counter() < end:
            session.execute(STATEMENT.format(place + answered[place] / 1e4))
            answered[place] += 1

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(answered) / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--share", type=float, default=0.3)
    parser.add_argument("--bucket", type=float, default=0.25)
    parser.add_argument("--seconds", type=float, default=10)
    given = parser.parse_args()
    own = int(given.rows * given.share)
    print(
        f"{'bucket':>8} {'with, ms':>10} {'without':>10} {'p of times':>11} {'p of buckets':>13} {'outside':>8}"
    )
    with tempfile.TemporaryDirectory() as folder:
        for bucket in (0.0, given.bucket):
            pair = [
                database(Path(folder) / f"{bucket} {rows}", rows, given.rows - own, bucket)
                for rows in (own, 0)
            ]
            found = times(pair, given.runs)
            told = mann_whitney(*found)
            counted = [
                [math.floor(each / bucket) if bucket else 0 for each in seconds]
                for seconds in found
            ]
            outside = sum(each != 1 for seconds in counted for each in seconds) if bucket else 0
            whole, lacking = (median(seconds) * 1e3 for seconds in found)
            buckets = f"{mann_whitney(*counted):13.3g}" if bucket else f"{'':13}"
            print(
                f"{bucket:8} {whole:10.1f} {lacking:10.1f} {told:11.3g} {buckets} {outside:8}",
                flush=True,
            )
            for each in pair:
                each.close()
        print(f"{'bucket':>8} {'clients':>10} {'answers/s':>10}")
        for bucket in (0.0, given.bucket):
            opened = database(Path(folder) / f"through {bucket}", 0, given.rows // 10, bucket)
            for clients in (1, 8):
                print(
                    f"{bucket:8} {clients:10} {throughput(opened, clients, given.seconds):10.1f}",
                    flush=True,
                )
            opened.close()


if __name__ == "__main__":
    main()
