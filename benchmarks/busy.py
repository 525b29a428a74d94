"""Opens, tunings and kills of the engine's process on a machine that is kept busy:
what is lost, and what is charged.

``python benchmarks/busy.py --opens 200 --tunes 20 --kills 20 --clients 12 --load 5`` keeps one core
busy with five loops, to which this process is bound as well (Linux).
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from dpsql.engines.duckdb import reading
from dpsql.errors import DatabaseError, ExecutionFailed
from dpsql.schema import load
from dpsql.schema.authoring.missing_limits import missing_limits
from dpsql.session import open_accountant, open_session
from dpsql.session.database import open_database

#: Seconds between kills.
PAUSE = 4.0

SCHEMA = """
name = "busy"
source = "busy.duckdb"
[privacy]
unit = "people.id"
epsilon = 100000
delta = 1e-6
query_epsilon = 0.1
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
id = {{ type = "integer" }}
age = {{ type = "integer", bounds = [0, 100] }}
[tables.visits]
references = {{ person = "people.id" }}
{limit}
[tables.visits.columns]
person = {{ type = "integer" }}
cost = {{ type = "double", bounds = [0, 100] }}
"""


def build(folder: Path, others: int) -> Path:
    """The schema of a DuckDB file that holds other tables of 40 columns beside those that it
    names.
    """
    columns = ", ".join(
        f"c{number} {('INTEGER', 'DOUBLE', 'VARCHAR', 'DATE')[number % 4]}" for number in range(40)
    )
    with duckdb.connect(str(folder / "busy.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT range AS id, range % 90 AS age FROM range(3000)"
        )
        connection.execute(
            "CREATE TABLE visits AS SELECT person, (n % 97 + 0.5)::DOUBLE AS cost "
            "FROM range(3000) p(person), range(300) r(n) WHERE n * (person % 50 + 1) < 300"
        )
        connection.execute("BEGIN")
        for number in range(others):
            connection.execute(f"CREATE TABLE other_{number} ({columns})")
        connection.execute("COMMIT")
    schema = folder / "busy.toml"
    schema.write_text(SCHEMA.format(limit="max_rows_per_unit = 40"))
    return schema


@contextmanager
def load_of(loops: int) -> Iterator[None]:
    """Bind this process to one core, which so many loops keep busy."""
    core = min(os.sched_getaffinity(0))
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for each in busy:
            each.kill()
            each.wait()
        os.sched_setaffinity(0, before)


def opens(schema: Path, count: int) -> str:
    failed, seconds = Counter[str](), []
    for _ in range(count):
        began = time.monotonic()
        try:
            open_session(schema).close()
        except Exception as error:
            failed[f"{type(error).__name__}: {error}"] += 1
        seconds.append(time.monotonic() - began)
    middle, longest = sorted(seconds)[len(seconds) // 2], max(seconds)
    opened = count - failed.total()
    return (
        f"opens: {opened} of {count}, median {middle:.2f} s, longest {longest:.2f} s {dict(failed)}"
    )


def tunes(folder: Path, count: int) -> str:
    """Each by the command, on a schema without a limit and a ledger of its own."""
    failed = Counter[str]()
    for number in range(count):
        schema = folder / "tuned.toml"
        text = SCHEMA.format(limit="").replace("epsilon = 100000", "epsilon = 3")
        source = f'source = "busy.duckdb"\nledger = "{number}.ledger"'
        text = text.replace('source = "busy.duckdb"', source).replace(
            'name = "busy"', f'name = "busy{number}"'
        )
        schema.write_text(text)
        command = [sys.executable, "-m", "dpsql", "schema", "tune", str(schema), "--yes"]
        run = subprocess.run(command, capture_output=True, text=True)
        entries = list(open_accountant(missing_limits(schema).schema).ledger.history())
        if run.returncode or len(entries) != 1:
            failed[f"{run.returncode}, {len(entries)} entries: {run.stderr[-300:]}"] += 1
    return f"tunes: {count - failed.total()} of {count} {dict(failed)}"


def kills(schema: Path, count: int, clients: int) -> str:
    """Kill the engine's process so often while clients ask,
    at times at which a second reading has an end.
    """
    outcomes, again_read, end = Counter[str](), list[int](), threading.Event()
    again = reading.DuckDBReading._begin_again

    def noted(self: reading.DuckDBReading, *values: object) -> None:
        again(self, *values)  # type: ignore[arg-type]
        again_read.append(1)

    reading.DuckDBReading._begin_again = noted  # type: ignore[method-assign]
    database = open_database(schema)

    def ask(client: int) -> None:
        session, number = database.session(f"client{client}"), 0
        while not end.is_set():
            number += 1
            try:
                session.execute(
                    f"SELECT COUNT(*), SUM(cost) FROM visits WHERE cost > {client}.{number:06}"
                )
                outcomes["answered"] += 1
            except ExecutionFailed:
                outcomes["E_EXEC"] += 1
            except DatabaseError as error:
                outcomes[f"{type(error).__name__}: {error}"] += 1

    threads = [threading.Thread(target=ask, args=(client,)) for client in range(clients)]
    for thread in threads:
        thread.start()
    killed = 0
    while killed < count:
        time.sleep(PAUSE)
        newest = database._engine._data.newest  # type: ignore[attr-defined]
        if newest.alive:
            os.kill(newest.process.pid, signal.SIGKILL)
            killed += 1
    time.sleep(2)
    end.set()
    for thread in threads:
        thread.join(120)
    charges = sum(1 for _ in database.accountant.ledger.history())
    database.close()
    lost = charges - outcomes["answered"]
    return (
        f"kills: {killed} under {clients} clients: {charges} charges, {lost} lost, "
        f"{len(again_read)} read again, {dict(outcomes)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, usual in (
        ("opens", 200),
        ("tunes", 20),
        ("kills", 20),
        ("clients", 12),
        ("load", 5),
        ("others", 1500),
    ):
        parser.add_argument(f"--{name}", type=int, default=usual)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, load_of(asked.load):
        os.environ["DPSQL_STATE"] = str(Path(folder) / "state")
        schema = build(Path(folder), asked.others)
        load(schema)
        if asked.opens:
            print(opens(schema, asked.opens), flush=True)
        if asked.tunes:
            print(tunes(Path(folder), asked.tunes), flush=True)
        if asked.kills:
            print(kills(schema, asked.kills, asked.clients), flush=True)


if __name__ == "__main__":
    main()
