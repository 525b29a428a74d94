"""What bounding each user's contribution costs in the engine, and how exact the answers are,
on the events data.

Run ``python benchmarks/bounding.py``; it generates a million events, prints one table and takes
about a minute. *plain* and *engine SQL* run by turns on the same Parquet in the same DuckDB with
two threads; their times are processor time. Errors are those of whole answers at ε = 1 (δ = 1e-6
where keys are undeclared) against the plain statement.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
from events import generate, write_schema

from dpsql.engines.duckdb.in_memory import CAREFUL
from dpsql.session import Session, open_session

#: How many groups of an answer a user is held to.
GROUPS = 20


@dataclass(frozen=True)
class Case:
    """A statement by its name; ``keys`` is how many of its columns are group keys."""

    name: str
    text: str
    keys: int


CASES = (
    Case("SUM by 20 countries", "SELECT country, SUM(amount) FROM events GROUP BY country", 1),
    Case("SUM of all", "SELECT SUM(amount) FROM events", 0),
    Case("COUNT by 20 countries", "SELECT country, COUNT(*) FROM events GROUP BY country", 1),
    Case("COUNT(DISTINCT user)", "SELECT COUNT(DISTINCT user_id) FROM events", 0),
    Case(
        "AVG, COUNT by 1,000 undeclared keys",
        "SELECT category, AVG(amount), COUNT(*) FROM events GROUP BY category",
        1,
    ),
    Case(
        "MEDIAN by 20 countries", "SELECT country, MEDIAN(amount) FROM events GROUP BY country", 1
    ),
    Case(
        "SUM over the join, by 4 segments",
        "SELECT segment, SUM(amount) FROM events JOIN users USING (user_id) GROUP BY segment",
        1,
    ),
)


def processor_seconds(
    connection: duckdb.DuckDBPyConnection, sql: str, settings: Mapping[str, Any]
) -> float:
    """User and system time of this process while the engine runs a statement,
    with or without the engine's settings.
    """
    for name in CAREFUL:
        connection.execute(f"SET {name} = '{settings.get(name, '')}'")
    before = resource.getrusage(resource.RUSAGE_SELF)
    connection.execute(sql).fetchall()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def errors(
    session: Session, case: Case, truth: dict[object, tuple[float, ...]]
) -> list[tuple[int, list[float]]]:
    """How many groups came out, and each column's median relative error over them,
    for three answers.
    """
    found = []
    for place in range(3):
        session.epsilon = Fraction(
            10**6 + place, 10**6
        )  # at the same price an answer would be given again
        rows = session.execute(case.text).rows
        relative = [
            [
                1.0 if mine is None else abs(float(mine) / float(true) - 1)
                for mine, true in zip(row[case.keys :], truth[row[: case.keys]], strict=True)
            ]
            for row in rows
            if row[: case.keys] in truth
        ]
        found.append((len(rows), [median(column) for column in zip(*relative, strict=True)]))
    return found


def measure(folder: Path, repetitions: int) -> None:
    """Print the table for the data in a folder."""
    connection = duckdb.connect(config={"threads": 2})
    connection.execute("ATTACH ':memory:' AS source; USE source")
    for table in ("users", "events"):
        connection.execute(
            f"CREATE VIEW {table} AS SELECT * FROM '{folder / 'data' / table}.parquet'"
        )
    numbers = f"{'plain ms':>9} {'engine ms':>9} {'ratio':>6} {'groups':>6}"
    print(f"{'statement':36} {'noise':9} {numbers}  median error by column")
    for case in CASES:
        answers = connection.execute(case.text).fetchall()
        truth = {row[: case.keys]: row[case.keys :] for row in answers}
        for mechanism in ("laplace", "gaussian"):
            path = write_schema(folder, mechanism, GROUPS)
            session = open_session(path, ledger=folder / f"{mechanism}.ledger")
            sql = [core.sql for core in session.plan(case.text).cores]
            plain, private = [], []
            for _ in range(repetitions):
                plain.append(processor_seconds(connection, case.text, {}))
                private.append(sum(processor_seconds(connection, each, CAREFUL) for each in sql))
            runs = errors(session, case, truth)
            session.close()
            shown = "  ".join(
                f"{median(column):.2%}" for column in zip(*(each for _, each in runs), strict=True)
            )
            before, after = median(plain) * 1e3, median(private) * 1e3
            numbers = (
                f"{before:9.1f} {after:9.1f} {after / before:6.1f} {median(n for n, _ in runs):6}"
            )
            print(f"{case.name:36} {mechanism:9} {numbers}  {shown}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument(
        "--folder", type=Path, help="where the data lie or shall lie; by default a temporary folder"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        if not (folder / "data" / "events.parquet").exists():
            generate(folder, arguments.events)
        measure(folder, arguments.repetitions)


if __name__ == "__main__":
    main()
